//! Store and locks together, within one process; processes are in `tests/processes`.

use std::convert::Infallible;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use super::{Cache, CacheStats, GetOrCompileError, Origin};
use crate::{CacheKey, Clock, EntryKind, KeyBuilder, KeyLock, LockOptions, Store};

fn cache(directory: &TempDir) -> Cache {
    let store = Store::open(directory.path().join("neff"), EntryKind::Neff);
    let pauses = LockOptions::default().with_pauses(Duration::from_micros(10), Duration::from_micros(500));
    Cache::new(store, directory.path().join("local")).with_lock_options(pauses)
}

fn key(number: u128) -> CacheKey {
    CacheKey::from_number(number)
}

fn neff() -> Result<Vec<u8>, Infallible> {
    Ok(b"neff".to_vec())
}

#[track_caller]
fn check_origin(cache: &Cache, key: CacheKey, origin: Origin) {
    let outcome = cache.get_or_compile(&key, neff).unwrap();
    assert_eq!((outcome.origin, outcome.bytes.as_slice()), (origin, &b"neff"[..]));
    assert!(outcome.store_error.is_none());
}

#[test]
fn compiles_once_then_hits() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(&directory);
    check_origin(&cache, key(1), Origin::Compiled);
    check_origin(&cache, key(1), Origin::Store);
    check_origin(&cache.clone(), key(1), Origin::Store);
    let expected = CacheStats {
        hits: 2,
        misses: 1,
        compiles: 1,
        bytes_read: 8,
        bytes_written: 4,
        ..CacheStats::default()
    };
    assert_eq!(CacheStats { waited_us: 0, ..cache.stats() }, expected);
}

#[test]
fn get_and_put_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(&directory);
    assert_eq!(cache.get(&key(1)), None);
    cache.put(&key(1), b"neff").unwrap();
    assert_eq!(cache.get(&key(1)).unwrap().bytes, b"neff");
    assert!(cache.put(&key(2), b"").is_err());
    let expected = CacheStats {
        hits: 1,
        misses: 1,
        bytes_read: 4,
        bytes_written: 4,
        put_failures: 1,
        ..CacheStats::default()
    };
    assert_eq!(cache.stats(), expected);
}

#[test]
fn lock_files_written_to_local_cache_dir() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(&directory);
    let lock = directory.path().join("local/locks").join(format!("{}.lock", key(1)));
    let outcome = cache.get_or_compile(&key(1), || Ok::<_, Infallible>(vec![u8::from(lock.exists())]));
    assert_eq!(outcome.unwrap().bytes, [1]);
    assert!(!lock.exists());
}

#[test]
fn file_lock_recovery_after_compilation_failure() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(&directory);
    let error = cache.get_or_compile(&key(1), || Err::<Vec<u8>, _>("out of registers")).unwrap_err();
    assert_eq!(error.to_string(), "compiling failed: out of registers");
    assert!(matches!(error, GetOrCompileError::Compile("out of registers")));
    check_origin(&cache, key(1), Origin::Compiled);
    let stats = cache.stats();
    assert_eq!((stats.compiles, stats.compile_failures, stats.misses), (2, 1, 2));
}

#[test]
fn a_panic_of_the_compiler_releases_the_lock() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(&directory);
    let result = thread::scope(|scope| {
        scope
            .spawn(|| cache.get_or_compile(&key(1), || -> Result<_, Infallible> { panic!("compiler") }))
            .join()
            .is_err()
    });
    assert!(result);
    check_origin(&cache, key(1), Origin::Compiled);
}

#[test]
fn file_lock_prevents_multiple_compilations() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(&directory);
    let n_compiles = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for number in 0..20 {
                    let compile = || {
                        n_compiles.fetch_add(1, Ordering::SeqCst);
                        neff()
                    };
                    assert_eq!(cache.get_or_compile(&key(number), compile).unwrap().bytes, b"neff");
                }
            });
        }
    });
    assert_eq!(n_compiles.into_inner(), 20);
    let stats = cache.stats();
    assert_eq!((stats.compiles, stats.misses, stats.hits, stats.corrupt), (20, 20, 300, 0));
}

/// At its third sleep the other process is done.
#[derive(Debug)]
struct OtherFinishes {
    store: Store,
    lock: std::sync::Mutex<(u32, Option<KeyLock>)>,
}

impl Clock for OtherFinishes {
    fn now(&self) -> Duration {
        Duration::from_secs(u64::from(self.lock.lock().unwrap().0))
    }

    fn sleep(&self, _: Duration) {
        let mut lock = self.lock.lock().unwrap();
        lock.0 += 1;
        if lock.0 == 3 {
            // Stored while the lock is still held: the waiter need not get it any more.
            self.store.put(&key(1), b"neff").unwrap();
        }
        assert!(lock.0 <= 3);
    }
}

#[test]
fn waiters_leave_as_soon_as_the_entry_is_there() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(&directory);
    let lock = cache.locks().try_lock(&key(1)).unwrap();
    let clock = OtherFinishes { store: cache.store().clone(), lock: std::sync::Mutex::new((0, lock)) };
    let cache = cache.with_clock(clock);
    let outcome = cache.get_or_compile(&key(1), || -> Result<_, Infallible> { unreachable!() }).unwrap();
    assert_eq!((outcome.origin, outcome.waited), (Origin::Store, Duration::from_secs(3)));
    assert_eq!((cache.stats().waited_us, cache.stats().waited_seconds()), (3_000_000, 3.0));
}

#[test]
fn a_timeout_is_an_error_and_counted() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(&directory).with_lock_options(LockOptions::new(Duration::ZERO));
    let _lock = cache.locks().try_lock(&key(1)).unwrap();
    let error = cache.get_or_compile(&key(1), neff).unwrap_err();
    assert!(matches!(&error, GetOrCompileError::Cache(error) if error.is_lock_timeout()));
    assert_eq!(
        cache.stats(),
        CacheStats { lock_timeouts: 1, waited_us: cache.stats().waited_us, ..CacheStats::default() }
    );
}

#[test]
fn version_change_invalidates() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(&directory);
    let key = |version| KeyBuilder::new(version).compiler_config(b"trn2").from_hlo(b"module");
    check_origin(&cache, key("1"), Origin::Compiled);
    check_origin(&cache, key("2"), Origin::Compiled);
    check_origin(&cache, key("1"), Origin::Store);
}

#[test]
fn corrupt_entries_are_compiled_again() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(&directory);
    check_origin(&cache, key(1), Origin::Compiled);
    fs::write(cache.store().path_of(&key(1)), b"nef").unwrap();
    check_origin(&cache, key(1), Origin::Compiled);
    check_origin(&cache, key(1), Origin::Store);
    assert_eq!((cache.stats().corrupt, cache.stats().compiles), (1, 2));
}

#[test]
fn disabled_compiles_every_time_and_touches_nothing() {
    let directory = tempfile::tempdir().unwrap();
    cache(&directory).put(&key(1), b"stored").unwrap();
    let cache = cache(&directory).with_enabled(false);
    check_origin(&cache, key(1), Origin::CompiledUncached);
    check_origin(&cache, key(1), Origin::CompiledUncached);
    assert_eq!(cache.get(&key(1)), None);
    cache.put(&key(2), b"x").unwrap();
    assert!(!cache.store().exists(&key(2)) && !directory.path().join("local").exists());
    assert_eq!((cache.stats().compiles, cache.stats().misses), (2, 3));
}

#[test]
fn shared_entries_are_hits() {
    let directory = tempfile::tempdir().unwrap();
    let [local, shared] = ["local", "shared"].map(|name| directory.path().join(name));
    Store::open(&shared, EntryKind::Neff).put(&key(1), b"neff").unwrap();
    let cache = Cache::new(Store::layered(&local, &shared, EntryKind::Neff), directory.path().join("locks"));
    check_origin(&cache, key(1), Origin::SharedStore);
    check_origin(&cache, key(2), Origin::Compiled);
    check_origin(&cache, key(2), Origin::Store);
    assert_eq!((cache.stats().hits, cache.stats().shared_hits), (2, 1));
    assert!(!Store::open(&shared, EntryKind::Neff).exists(&key(2)));
}

#[test]
fn what_cannot_be_stored_is_returned() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("neff"), b"a file").unwrap();
    let cache = cache(&directory);
    let outcome = cache.get_or_compile(&key(1), neff).unwrap();
    assert_eq!((outcome.bytes.as_slice(), outcome.origin), (&b"neff"[..], Origin::Compiled));
    assert!(outcome.store_error.is_some());
    assert_eq!((cache.stats().put_failures, cache.stats().bytes_written), (1, 0));
}

#[test]
fn without_a_directory_for_locks_nothing_is_compiled() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("local"), b"a file").unwrap();
    let result = cache(&directory).get_or_compile(&key(1), || -> Result<_, Infallible> { unreachable!() });
    assert!(matches!(result, Err(GetOrCompileError::Cache(_))));
}

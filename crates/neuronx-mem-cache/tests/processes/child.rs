//! What a child does, by its role. Run as a test without a role, it does nothing.

use std::convert::Infallible;
use std::env;
use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use neuronx_mem_cache::check::{CheckOptions, LockAttempt, Role, check};
use neuronx_mem_cache::{
    Cache, CacheKey, Clock, EntryKind, GcOptions, LockDirectory, Outcome, Store, SystemClock,
};

pub(crate) const ROLE: &str = "CACHE_TEST_ROLE";
pub(crate) const DIRECTORY: &str = "CACHE_TEST_DIRECTORY";

/// Starts every line that is meant for the parent; the test harness prints others.
pub(crate) const MARK: &str = "child: ";

/// Bytes that fit none of the limits that the faults set.
const LARGE_BYTES: usize = 1 << 20;

pub(crate) fn key(number: u128) -> CacheKey {
    CacheKey::from_number(number)
}

#[test]
fn role() {
    let Ok(role) = env::var(ROLE) else { return };
    match role.as_str() {
        "compile" => compile(),
        "hold" => hold(),
        "try_lock" => process::exit(i32::from(LockAttempt::of(&directory()).0.exit_code())),
        "full" => full(),
        "few_files" => few_files(),
        "read_only" => read_only(),
        _ => unreachable!("no such role: {role}"),
    }
}

fn directory() -> PathBuf {
    env::var_os(DIRECTORY).unwrap().into()
}

fn say(text: &str) {
    // Not `println`, which the harness may keep for itself.
    io::stdout().write_all(format!("\n{MARK}{text}\n").as_bytes()).unwrap();
}

fn wait_for_word() {
    let mut word = String::new();
    assert!(io::stdin().lock().read_line(&mut word).unwrap() > 0, "the parent has gone");
}

/// Says once that it waits.
#[derive(Debug)]
struct SayingClock {
    clock: SystemClock,
    has_said: AtomicBool,
}

impl Clock for SayingClock {
    fn now(&self) -> Duration {
        self.clock.now()
    }

    fn sleep(&self, time: Duration) {
        if !self.has_said.swap(true, Ordering::Relaxed) {
            say("waiting");
        }
        self.clock.sleep(time);
    }
}

fn cache() -> Cache {
    Cache::new(Store::open(directory().join("neff"), EntryKind::Neff), directory().join("local"))
}

/// Asks for key 1; compiles when told to go on.
fn compile() {
    let cache =
        cache().with_clock(SayingClock { clock: SystemClock::new(), has_said: AtomicBool::new(false) });
    say("ready");
    wait_for_word();
    let run = || {
        let mut log = OpenOptions::new().create(true).append(true).open(directory().join("log")).unwrap();
        log.write_all(b"x").unwrap();
        say("compiling");
        wait_for_word();
        Ok::<_, Infallible>(vec![42; 100_000])
    };
    let Outcome { bytes, origin, store_error, .. } = cache.get_or_compile(&key(1), run).unwrap();
    assert!(store_error.is_none());
    assert_eq!(bytes, [42; 100_000]);
    say(&format!("{origin:?} {}", cache.stats().locks_taken_over));
}

/// Takes the lock of key 1 and keeps it.
fn hold() {
    let _lock = LockDirectory::new(directory().join("local")).try_lock(&key(1)).unwrap().unwrap();
    say("holding");
    wait_for_word();
}

/// In a directory that has room for small entries only.
fn full() {
    let cache = cache();
    let store = cache.store();
    let large = vec![7; LARGE_BYTES];
    store.put(&key(1), b"old").unwrap();
    let error = store.put(&key(1), &large).unwrap_err();
    assert!(error.is_storage_full(), "{error}");
    assert!(error.to_string().contains("no space left for 1048576 bytes"), "{error}");
    let entry = store.get(&key(1)).unwrap();
    assert_eq!((entry.bytes.as_slice(), entry.is_sealed), (&b"old"[..], true));
    let outcome = cache.get_or_compile(&key(2), || Ok::<_, Infallible>(large.clone())).unwrap();
    assert_eq!(outcome.bytes, large);
    assert!(outcome.store_error.unwrap().is_storage_full());
    assert!(!store.exists(&key(2)));
    // What did not fit has left nothing behind, so that small entries still do.
    store.put(&key(2), b"small").unwrap();
    let report = store.gc(&GcOptions::new(u64::MAX).with_leftover_age(Duration::ZERO)).unwrap();
    assert_eq!((report.scanned_entries, report.removed_leftovers, report.failures), (2, 0, 0));
    if env::var_os("CACHE_TEST_FILL").is_some() {
        fill(store);
    }
    say("done");
}

/// Puts until there is no room for anything.
fn fill(store: &Store) {
    let bytes = [9; 5000];
    let mut n_put = 0;
    let error = loop {
        match store.put(&key(n_put), &bytes) {
            Ok(()) => n_put += 1,
            Err(error) => break error,
        }
    };
    assert!(error.is_storage_full() && n_put > 5, "{error}");
    for number in 0..n_put {
        assert!(store.get(&key(number)).is_some_and(|entry| entry.is_sealed && entry.bytes == bytes));
    }
}

/// In a directory with room for bytes and little for files.
fn few_files() {
    fill(cache().store());
    say("done");
}

/// In a directory with key 1 that cannot be changed; locks are elsewhere.
fn read_only() {
    let local = tempfile::tempdir().unwrap();
    let neff = directory().join("neff");
    let store = Store::open(&neff, EntryKind::Neff);
    let cache = Cache::new(store.clone(), local.path());
    assert!(store.get(&key(1)).is_some_and(|entry| entry.is_sealed && entry.bytes == b"old"));
    let error = store.put(&key(1), b"new").unwrap_err();
    assert!(error.is_not_writable(), "{error}");
    assert!(store.remove(&key(1)).unwrap_err().is_not_writable());
    assert!(store.clear().unwrap_err().is_not_writable());
    let report = store.gc(&GcOptions::new(0)).unwrap();
    assert_eq!((report.removed_entries, report.kept_bytes), (0, 3));
    assert!(report.failures > 0 && report.first_failure.unwrap().is_not_writable());
    let outcome = cache.get_or_compile(&key(2), || Ok::<_, Infallible>(b"two".to_vec())).unwrap();
    assert_eq!(outcome.bytes, b"two");
    assert!(outcome.store_error.unwrap().is_not_writable());
    assert!(LockDirectory::new(&neff).try_lock(&key(1)).unwrap_err().is_not_writable());
    assert!(store.get(&key(1)).is_some_and(|entry| entry.is_sealed && entry.bytes == b"old"));
    let no_process = |_: &std::path::Path| Err::<LockAttempt, _>(io::Error::other("none"));
    let directories =
        [(Role::Neff, neff.clone()), (Role::Local, neff.clone()), (Role::Local, neff.join("x"))];
    let report = check(&CheckOptions::new(directories).with_min_free_bytes(0), &no_process);
    let names: Vec<_> =
        report.findings.iter().map(|finding| (finding.kind.name(), finding.severity().name())).collect();
    for expected in [("not_writable", "note"), ("not_writable", "error"), ("not_creatable", "error")] {
        assert!(names.contains(&expected), "{names:?}");
    }
    say("done");
}

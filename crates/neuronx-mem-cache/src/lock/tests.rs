//! Locks between threads and after deaths; named after the tests of the first system where they ask
//! the same. Processes are in `tests/processes`.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use super::{Clock, Holder, KeyLock, LockDirectory, LockOptions, LockSurvey, Presence};
use crate::{CacheError, CacheKey};

/// Time passes by sleeping only. Lets go of a lock at the given sleep.
#[derive(Debug, Default)]
struct TestClock {
    slept: Mutex<Vec<Duration>>,
    held: Mutex<Option<(usize, KeyLock)>>,
}

/// No time passes; a wait lets other threads run.
#[derive(Debug)]
struct YieldingClock;

impl Clock for YieldingClock {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn sleep(&self, _time: Duration) {
        thread::yield_now();
    }
}

impl Clock for TestClock {
    fn now(&self) -> Duration {
        self.slept.lock().unwrap().iter().sum()
    }

    fn sleep(&self, time: Duration) {
        let mut slept = self.slept.lock().unwrap();
        slept.push(time);
        let mut held = self.held.lock().unwrap();
        if held.as_ref().is_some_and(|(n_sleeps, _)| slept.len() >= *n_sleeps) {
            *held = None;
        }
    }
}

fn key(number: u128) -> CacheKey {
    CacheKey::from_number(number)
}

fn milliseconds(clock: &TestClock) -> Vec<u128> {
    clock.slept.lock().unwrap().iter().map(Duration::as_millis).collect()
}

fn leave_behind(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "process 4194305\nboot 00000000-dead-0000-0000-000000000000\nstarted 17\n").unwrap();
}

#[test]
fn basic_acquire_and_release() {
    let directory = tempfile::tempdir().unwrap();
    let locks = LockDirectory::new(directory.path());
    let lock = locks.try_lock(&key(1)).unwrap().unwrap();
    assert_eq!(lock.path(), directory.path().join("locks/00000000000000000000000000000001.lock"));
    assert_eq!(lock.taken_over(), None);
    assert!(locks.try_lock(&key(1)).unwrap().is_none());
    lock.release();
    assert!(!locks.path_of(&key(1)).exists());
    assert!(locks.try_lock(&key(1)).unwrap().is_some());
}

#[test]
fn acquire_creates_parent_directories() {
    let directory = tempfile::tempdir().unwrap();
    let locks = LockDirectory::new(directory.path().join("a/b/c"));
    assert!(locks.try_lock(&key(1)).unwrap().is_some());
    assert!(locks.path().is_dir());
}

#[test]
fn destructor_releases_lock() {
    let directory = tempfile::tempdir().unwrap();
    let locks = LockDirectory::new(directory.path());
    {
        let _lock = locks.try_lock(&key(1)).unwrap().unwrap();
        assert!(locks.try_lock(&key(1)).unwrap().is_none());
    }
    assert!(locks.try_lock(&key(1)).unwrap().is_some());
}

#[test]
fn different_keys_do_not_wait_for_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let locks = LockDirectory::new(directory.path());
    let held: Vec<_> = (0..50).map(|number| locks.try_lock(&key(number)).unwrap().unwrap()).collect();
    assert_eq!(locks.survey().unwrap(), LockSurvey { n_held: 50, n_stale: 0, n_unreadable: 0 });
    drop(held);
    assert_eq!(locks.survey().unwrap(), LockSurvey::default());
}

#[test]
fn pauses_double_up_to_a_bound() {
    let directory = tempfile::tempdir().unwrap();
    let locks = LockDirectory::new(directory.path());
    let held = locks.try_lock(&key(1)).unwrap().unwrap();
    let clock = TestClock::default();
    let options = LockOptions::new(Duration::from_millis(2000));
    let error = locks.lock(&key(1), &options, &clock).unwrap_err();
    assert_eq!(milliseconds(&clock), [10, 20, 40, 80, 160, 320, 500, 500, 370]);
    let CacheError::LockTimeout { waited, holder, .. } = &error else { panic!("{error}") };
    assert_eq!((waited.as_millis(), holder.as_ref()), (2000, Some(&Holder::current())));
    let path = held.path().display();
    let text = format!("lock {path} is still held after 2.0 s by process {}", std::process::id());
    assert_eq!(error.to_string(), text);
    // Giving up has not broken it.
    assert!(locks.try_lock(&key(1)).unwrap().is_none());
}

#[test]
fn default_timeout_is_twenty_minutes() {
    let directory = tempfile::tempdir().unwrap();
    let locks = LockDirectory::new(directory.path());
    let _held = locks.try_lock(&key(1)).unwrap().unwrap();
    let clock = TestClock::default();
    let error = locks.lock(&key(1), &LockOptions::default(), &clock).unwrap_err();
    assert!(error.is_lock_timeout());
    assert_eq!(clock.now(), Duration::from_secs(1200));
}

#[test]
fn no_timeout_asks_once() {
    let directory = tempfile::tempdir().unwrap();
    let locks = LockDirectory::new(directory.path());
    let _held = locks.try_lock(&key(1)).unwrap().unwrap();
    let clock = TestClock::default();
    assert!(locks.lock(&key(1), &LockOptions::new(Duration::ZERO), &clock).is_err());
    assert_eq!(milliseconds(&clock), [0; 0]);
}

#[test]
fn waiter_acquires_a_released_lock() {
    let directory = tempfile::tempdir().unwrap();
    let locks = LockDirectory::new(directory.path());
    let clock = TestClock::default();
    *clock.held.lock().unwrap() = Some((3, locks.try_lock(&key(1)).unwrap().unwrap()));
    let lock = locks.lock(&key(1), &LockOptions::default(), &clock).unwrap();
    assert_eq!(milliseconds(&clock), [10, 20, 40]);
    assert_eq!(lock.taken_over(), None);
}

#[test]
fn stale_lock_file_does_not_block_new_lock() {
    let directory = tempfile::tempdir().unwrap();
    let locks = LockDirectory::new(directory.path());
    leave_behind(&locks.path_of(&key(1)));
    let clock = TestClock::default();
    let lock = locks.lock(&key(1), &LockOptions::new(Duration::ZERO), &clock).unwrap();
    let holder = lock.taken_over().unwrap();
    assert_eq!((holder.process_id, holder.presence()), (4_194_305, Presence::Elsewhere));
    assert_eq!(holder.to_string(), "process 4194305 of another machine or boot");
    drop(lock);
    assert_eq!(locks.try_lock(&key(1)).unwrap().unwrap().taken_over(), None);
}

#[test]
fn a_lock_file_of_anything_is_taken() {
    let directory = tempfile::tempdir().unwrap();
    let locks = LockDirectory::new(directory.path());
    fs::create_dir_all(locks.path()).unwrap();
    for text in [&b""[..], b"\0\xff\xfe", b"process x\nboot\nstarted", &[b'1'; 5000]] {
        fs::write(locks.path_of(&key(1)), text).unwrap();
        assert_eq!(locks.try_lock(&key(1)).unwrap().unwrap().taken_over(), None);
    }
}

#[test]
fn records_read_back() {
    let holder = Holder::current();
    assert_eq!(Holder::from_record(&holder.to_record()), Some(holder.clone()));
    assert_eq!(holder.presence(), Presence::Running);
    let other = Holder { started_ticks: holder.started_ticks + 1, ..holder.clone() };
    assert_eq!(other.presence(), Presence::NotSeen);
    assert_eq!(other.to_string(), format!("process {}, which is not visible here", holder.process_id));
}

/// The race that unlinking loses when locks are not compared with their names.
#[test]
fn a_lock_whose_file_was_removed_counts_no_more() {
    let directory = tempfile::tempdir().unwrap();
    let locks = LockDirectory::new(directory.path());
    let first = locks.try_lock(&key(1)).unwrap().unwrap();
    fs::remove_file(first.path()).unwrap();
    let second = locks.try_lock(&key(1)).unwrap().unwrap();
    // The release of the first must not take the file of the second away.
    drop(first);
    assert!(second.path().exists());
    assert!(locks.try_lock(&key(1)).unwrap().is_none());
}

#[test]
fn sweep_takes_what_was_left_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let locks = LockDirectory::new(directory.path());
    assert_eq!((locks.sweep().unwrap(), locks.survey().unwrap()), (0, LockSurvey::default()));
    let held = locks.try_lock(&key(1)).unwrap().unwrap();
    leave_behind(&locks.path_of(&key(2)));
    leave_behind(&locks.path_of(&key(3)));
    fs::write(locks.path().join("notes.lock"), b"mine").unwrap();
    assert_eq!(locks.survey().unwrap(), LockSurvey { n_held: 1, n_stale: 2, n_unreadable: 0 });
    assert_eq!(locks.sweep().unwrap(), 2);
    assert_eq!(locks.survey().unwrap(), LockSurvey { n_held: 1, n_stale: 0, n_unreadable: 0 });
    assert!(held.path().exists() && locks.path().join("notes.lock").exists());
}

#[test]
fn only_one_thread_holds_lock_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let locks = LockDirectory::new(directory.path());
    let options = LockOptions::default();
    let inside = AtomicU32::new(0);
    let n_entered = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..100 {
                    let lock = locks.lock(&key(1), &options, &YieldingClock).unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    n_entered.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1);
                    drop(lock);
                }
            });
        }
        // A sweep in between must never let a second one in.
        for _ in 0..200 {
            locks.sweep().unwrap();
        }
    });
    assert_eq!(n_entered.into_inner(), 800);
    assert_eq!(locks.survey().unwrap(), LockSurvey::default());
}

#[test]
fn a_directory_that_cannot_be_made_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, b"").unwrap();
    let error = LockDirectory::new(&file).try_lock(&key(1)).unwrap_err();
    assert!(matches!(error, CacheError::Io { .. }), "{error}");
}

//! Many processes, one key.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use neuronx_mem_cache::check::{CheckOptions, LockAttempt, LockSupport, Role, check};
use neuronx_mem_cache::{Clock, LockDirectory, LockOptions, LockSurvey, Presence};
use tempfile::TempDir;

use crate::child::key;
use crate::children::{Children, command};

/// Ends the test where something waits.
#[derive(Debug)]
struct NoWait;

impl Clock for NoWait {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn sleep(&self, time: Duration) {
        panic!("a wait of {time:?}");
    }
}

const N_PROCESSES: usize = 64;

fn n_compiles(directory: &TempDir) -> u64 {
    fs::metadata(directory.path().join("log")).unwrap().len()
}

/// All have asked: one compiles and the others wait. Returns the one.
fn all_race(directory: &TempDir) -> (Children, usize) {
    let mut children = Children::start(N_PROCESSES, "compile", directory.path());
    assert_eq!(children.who_say(N_PROCESSES, "ready").len(), N_PROCESSES);
    children.tell_all();
    let compiling = children.who_say(N_PROCESSES, "compiling");
    assert_eq!(compiling.len(), 1);
    (children, compiling[0])
}

/// Results of this many children, sorted: where from, and how many locks were taken over.
fn results(children: &Children, n_children: usize) -> Vec<String> {
    let mut results: Vec<_> = (0..n_children).map(|_| children.next().1).collect();
    results.sort();
    results
}

fn expected(compiled: &str, n_found: usize) -> Vec<String> {
    let found = std::iter::repeat_n("Store 0".to_owned(), n_found);
    std::iter::once(compiled.to_owned()).chain(found).collect()
}

fn check_no_lock_is_left(directory: &TempDir) {
    let locks = LockDirectory::new(directory.path().join("local"));
    assert_eq!(locks.survey().unwrap(), LockSurvey::default());
}

#[test]
fn sixty_four_processes_compile_once() {
    let directory = tempfile::tempdir().unwrap();
    let (mut children, compiler) = all_race(&directory);
    assert_eq!(n_compiles(&directory), 1);
    children.tell(compiler);
    assert_eq!(results(&children, N_PROCESSES), expected("Compiled 0", N_PROCESSES - 1));
    assert_eq!(n_compiles(&directory), 1);
    drop(children);
    check_no_lock_is_left(&directory);
}

#[test]
fn a_killed_compiler_blocks_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let (mut children, compiler) = all_race(&directory);
    children.kill(compiler);
    let (next, text) = children.next();
    assert_eq!(text, "compiling");
    assert_ne!(next, compiler);
    children.tell(next);
    // The next one saw that the lock had a holder that never released it.
    assert_eq!(results(&children, N_PROCESSES - 1), expected("Compiled 1", N_PROCESSES - 2));
    assert_eq!(n_compiles(&directory), 2);
    drop(children);
    check_no_lock_is_left(&directory);
}

/// A waiter of a live process gives up; of a dead one it takes over.
#[test]
fn second_process_takes_over_first_process_lock() {
    let directory = tempfile::tempdir().unwrap();
    let locks = LockDirectory::new(directory.path().join("local"));
    let mut children = Children::start(1, "hold", directory.path());
    assert_eq!(children.next(), (0, "holding".to_owned()));
    let once = LockOptions::new(Duration::ZERO);
    assert!(locks.lock(&key(1), &once, &NoWait).unwrap_err().is_lock_timeout());
    assert_eq!(locks.sweep().unwrap(), 0);
    assert_eq!(locks.survey().unwrap().n_held, 1);
    children.kill(0);
    assert_eq!(locks.survey().unwrap().n_stale, 1);
    let lock = locks.lock(&key(1), &once, &NoWait).unwrap();
    assert_eq!(lock.taken_over().unwrap().presence(), Presence::NotSeen);
}

#[test]
fn the_lock_test_of_a_check_with_a_real_process() {
    let directory = tempfile::tempdir().unwrap();
    let second = |path: &Path| {
        let code = command("try_lock", path).stdout(Stdio::null()).status()?.code();
        Ok(LockAttempt::from_exit_code(code.unwrap()).unwrap())
    };
    let options = CheckOptions::new([(Role::Local, directory.path().to_owned())]);
    assert_eq!(check(&options, &second).directories[0].locks, LockSupport::Works);
}

//! Findings of directories made for the purpose, and the table of file systems.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::{
    CheckFinding, CheckOptions, CheckReport, Filesystem, FindingKind, LockAttempt, LockSupport, Placement,
    Role, Severity, State, check, placement_finding,
};
use crate::{CacheKey, LockDirectory};

/// Tries in this process: another open file is another holder to the kernel.
fn in_process(path: &Path) -> io::Result<LockAttempt> {
    Ok(LockAttempt::of(path).0)
}

fn options(role: Role, path: impl Into<PathBuf>) -> CheckOptions {
    CheckOptions::new([(role, path.into())]).with_min_free_bytes(0)
}

fn check_local(path: impl Into<PathBuf>) -> CheckReport {
    check(&options(Role::Local, path), &in_process)
}

/// Findings that do not depend on what the test's directory is on.
fn kinds(report: &CheckReport) -> Vec<&'static str> {
    let names = report.findings.iter().map(|finding| finding.kind.name());
    names.filter(|name| !["network_filesystem", "program_filesystem", "short_lived"].contains(name)).collect()
}

#[test]
fn a_good_directory() {
    let directory = tempfile::tempdir().unwrap();
    let report = check_local(directory.path());
    let seen = &report.directories[0];
    assert_eq!((seen.role, &seen.state, seen.is_writable), (Role::Local, &State::Exists, true));
    assert_eq!((seen.locks, seen.survey.n_stale), (LockSupport::Works, 0));
    assert!(0 < seen.free_bytes && seen.free_bytes <= seen.total_bytes);
    assert_eq!(seen.filesystem, Filesystem::of(directory.path()).unwrap());
    assert_eq!(kinds(&report), [""; 0]);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_missing_directory_stays_missing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a/b");
    let report = check_local(&path);
    let seen = &report.directories[0];
    assert_eq!(seen.state, State::Creatable { below: directory.path().to_owned() });
    assert_eq!((seen.is_writable, seen.locks), (true, LockSupport::Works));
    assert_eq!((kinds(&report), fs::read_dir(directory.path()).unwrap().count()), (vec![], 0));
}

#[test]
fn a_file_in_the_way() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    File::create(&file).unwrap();
    for path in [file.clone(), file.join("below")] {
        let report = check_local(path);
        assert_eq!((kinds(&report), report.is_ok()), (vec!["not_a_directory"], false));
        assert_eq!(report.directories[0].state, State::Blocked);
    }
}

#[test]
fn little_space() {
    let directory = tempfile::tempdir().unwrap();
    let options = options(Role::Local, directory.path()).with_min_free_bytes(u64::MAX);
    let report = check(&options, &in_process);
    assert_eq!((kinds(&report), report.is_ok()), (vec!["little_space"], false));
}

#[test]
fn stale_locks_are_counted_and_left() {
    let directory = tempfile::tempdir().unwrap();
    let locks = LockDirectory::new(directory.path());
    let _held = locks.try_lock(&CacheKey::from_number(1)).unwrap();
    fs::write(locks.path_of(&CacheKey::from_number(2)), b"").unwrap();
    let report = check_local(directory.path());
    assert_eq!((kinds(&report), report.is_ok()), (vec!["stale_locks"], true));
    let survey = &report.directories[0].survey;
    assert_eq!((survey.n_held, survey.n_stale), (1, 1));
    assert!(locks.path_of(&CacheKey::from_number(2)).exists());
}

/// The three answers of the second process, in order.
#[track_caller]
fn check_locks(answers: [Option<LockAttempt>; 2], support: LockSupport, kind: Option<&str>) {
    let directory = tempfile::tempdir().unwrap();
    let answers = RefCell::new(answers.into_iter());
    let second = |_: &Path| answers.borrow_mut().next().flatten().ok_or(io::Error::other("no process"));
    let report = check(&options(Role::Local, directory.path()), &second);
    assert_eq!(report.directories[0].locks, support);
    assert_eq!(kinds(&report), kind.into_iter().collect::<Vec<_>>());
    assert_eq!(report.is_ok(), kind.is_none());
}

#[test]
fn what_the_second_process_sees() {
    use LockAttempt::{Acquired, Failed, Held};
    check_locks([Some(Held), Some(Acquired)], LockSupport::Works, None);
    check_locks([Some(Acquired), None], LockSupport::Fails, Some("locks_not_exclusive"));
    check_locks([Some(Held), Some(Held)], LockSupport::Fails, Some("locks_not_released"));
    check_locks([Some(Failed), None], LockSupport::Fails, Some("locks_fail"));
    check_locks([Some(Held), Some(Failed)], LockSupport::Fails, Some("locks_fail"));
    check_locks([None, None], LockSupport::NotTested, Some("locks_not_tested"));
}

#[test]
fn a_lock_that_outlives_its_process() {
    let directory = tempfile::tempdir().unwrap();
    let kept = RefCell::new(None);
    let second = |path: &Path| {
        let (attempt, file) = LockAttempt::of(path);
        *kept.borrow_mut() = file;
        Ok(attempt)
    };
    let report = check(&options(Role::Local, directory.path()), &second);
    assert_eq!(kinds(&report), ["locks_not_released"]);
}

#[test]
fn placement_by_role() {
    let kind = |role, magic| placement_finding(role, Filesystem::from_magic(magic)).map(|kind| kind.name());
    let [nfs, lustre, fuse, overlay, tmpfs, ext4] =
        [0x6969, 0x0bd0_0bd0, 0x6573_5546, 0x794c_7630, 0x0102_1994, 0xef53];
    assert_eq!(kind(Role::Local, nfs), Some("network_filesystem"));
    assert_eq!(kind(Role::Local, lustre), Some("network_filesystem"));
    assert_eq!(kind(Role::Local, fuse), Some("program_filesystem"));
    for magic in [overlay, tmpfs, ext4, 0x1234] {
        assert_eq!(kind(Role::Local, magic), None);
    }
    for role in [Role::Neff, Role::Hlo] {
        for magic in [nfs, lustre, fuse, ext4, 0x1234] {
            assert_eq!(kind(role, magic), None);
        }
        assert_eq!(kind(role, overlay), Some("short_lived"));
        assert_eq!(kind(role, tmpfs), Some("short_lived"));
    }
}

#[test]
fn file_systems_have_names() {
    let name = |magic| Filesystem::from_magic(magic).to_string();
    assert_eq!(name(0x5846_5342), "xfs");
    assert_eq!(name(0x9123_683e), "btrfs");
    assert_eq!(name(0xdead), "type 0xdead");
    assert_eq!(Filesystem::Unknown.to_string(), "unknown");
    assert_eq!(Filesystem::from_magic(0xdead).placement(), Placement::Unknown);
}

#[test]
fn severities_and_texts() {
    let finding = |role, kind| CheckFinding { role, path: "/fsx/c".into(), kind };
    let reason = || "permission denied".to_owned();
    let network =
        finding(Role::Local, FindingKind::NetworkFilesystem { filesystem: Filesystem::from_magic(0x6969) });
    assert_eq!(network.severity(), Severity::Error);
    let text = "local directory /fsx/c: locks on nfs cannot be relied on; choose a directory on a local disk";
    assert_eq!(network.to_string(), text);
    let read_only = |role| finding(role, FindingKind::NotWritable { reason: reason() });
    assert_eq!(read_only(Role::Neff).severity(), Severity::Note);
    assert_eq!(read_only(Role::Local).severity(), Severity::Error);
    let text = "NEFF directory /fsx/c: nothing can be written to it: permission denied";
    assert_eq!(read_only(Role::Neff).to_string(), text);
}

#[test]
fn exit_codes_read_back() {
    for attempt in [LockAttempt::Acquired, LockAttempt::Held, LockAttempt::Failed] {
        assert_eq!(LockAttempt::from_exit_code(i32::from(attempt.exit_code())), Some(attempt));
    }
    for code in [0, 1, 2, 13, 101, -1] {
        assert_eq!(LockAttempt::from_exit_code(code), None);
    }
}

//! Looks at the cache directories before a job depends on them.
//!
//! ```
//! use neuronx_mem_cache::check::{CheckOptions, LockAttempt, Role, check};
//!
//! # let place = tempfile::tempdir()?;
//! # let local_dir = place.path().join("local");
//! // A program starts itself again here; see `SecondProcess`.
//! let no_second_process = |_: &std::path::Path| Err::<LockAttempt, _>(std::io::Error::other("none"));
//! let options = CheckOptions::new([(Role::Local, local_dir)]);
//! let report = check(&options, &no_second_process);
//! assert!(report.directories[0].is_writable && report.directories[0].total_bytes > 0);
//! assert!(report.findings.iter().any(|finding| finding.kind.name() == "locks_not_tested"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Knows what each directory has to be good for. Refuses to change anything: what it tries out, it
//! tries in a temporary directory, and directories that are missing stay missing.

mod filesystem;
mod finding;
mod probe;
mod report;
mod second;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use filesystem::{Filesystem, Placement};
pub use finding::{CheckFinding, FindingKind, Severity};
pub use report::{CheckReport, DirectoryReport, LockSupport, Role, State};
pub use second::{LockAttempt, SecondProcess};

use crate::{LockDirectory, LockSurvey};

/// What is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckOptions {
    /// The directories, with what they are for.
    pub directories: Vec<(Role, PathBuf)>,
    /// Less free space than this many bytes is a finding.
    pub min_free_bytes: u64,
}

impl CheckOptions {
    /// Free space below which a directory gets a warning unless set otherwise: 1 GiB.
    pub const DEFAULT_MIN_FREE_BYTES: u64 = 1 << 30;

    /// Checks these directories.
    #[must_use]
    pub fn new(directories: impl IntoIterator<Item = (Role, PathBuf)>) -> Self {
        Self { directories: directories.into_iter().collect(), min_free_bytes: Self::DEFAULT_MIN_FREE_BYTES }
    }

    /// Sets how much space is wanted.
    #[must_use]
    pub const fn with_min_free_bytes(mut self, bytes: u64) -> Self {
        self.min_free_bytes = bytes;
        self
    }
}

/// Looks at each directory: whether it is there, can be made and written, what it is on, how much
/// room it has; for locks also whether they work between two processes, and which were left behind.
#[must_use]
pub fn check(options: &CheckOptions, second: &dyn SecondProcess) -> CheckReport {
    let mut findings = Vec::new();
    let directories = options.directories.iter().map(|(role, path)| {
        let (directory, kinds) = check_directory(*role, path, options.min_free_bytes, second);
        findings.extend(kinds.into_iter().map(|kind| CheckFinding { role: *role, path: path.clone(), kind }));
        directory
    });
    let directories = directories.collect();
    CheckReport { directories, findings }
}

fn check_directory(
    role: Role,
    path: &Path,
    min_free_bytes: u64,
    second: &dyn SecondProcess,
) -> (DirectoryReport, Vec<FindingKind>) {
    let mut report = unseen(role, path);
    let (base, metadata) = match probe::existing(path) {
        Ok(existing) => existing,
        Err(finding) => return (report, vec![finding]),
    };
    let mut findings = Vec::new();
    check_filesystem(&mut report, &base, min_free_bytes, &mut findings);
    if !metadata.is_dir() {
        findings.push(FindingKind::NotADirectory);
        return (report, findings);
    }
    check_writes(&mut report, &base, second, &mut findings);
    if role == Role::Local {
        check_lock_files(&mut report, &mut findings);
    }
    (report, findings)
}

/// What is said of a directory that cannot be looked at.
fn unseen(role: Role, path: &Path) -> DirectoryReport {
    DirectoryReport {
        role,
        path: path.to_owned(),
        state: State::Blocked,
        is_writable: false,
        filesystem: Filesystem::Unknown,
        free_bytes: 0,
        total_bytes: 0,
        locks: LockSupport::NotTested,
        survey: LockSurvey::default(),
    }
}

fn check_filesystem(
    report: &mut DirectoryReport,
    base: &Path,
    min_free_bytes: u64,
    findings: &mut Vec<FindingKind>,
) {
    let statistics = match filesystem::statistics(base) {
        Ok(statistics) => statistics,
        Err(error) => return findings.push(FindingKind::Unreachable { reason: error.kind().to_string() }),
    };
    report.filesystem = statistics.filesystem;
    report.free_bytes = statistics.free_bytes;
    report.total_bytes = statistics.total_bytes;
    findings.extend(placement_finding(report.role, report.filesystem));
    if report.free_bytes < min_free_bytes {
        findings
            .push(FindingKind::LittleSpace { free_bytes: report.free_bytes, wanted_bytes: min_free_bytes });
    }
}

/// What is wrong with this file system for this purpose.
fn placement_finding(role: Role, filesystem: Filesystem) -> Option<FindingKind> {
    match (role, filesystem.placement()) {
        (Role::Local, Placement::Network) => Some(FindingKind::NetworkFilesystem { filesystem }),
        (Role::Local, Placement::Program) => Some(FindingKind::ProgramFilesystem { filesystem }),
        (Role::Neff | Role::Hlo, Placement::Memory | Placement::Container) => {
            Some(FindingKind::ShortLived { filesystem })
        }
        _ => None,
    }
}

fn check_writes(
    report: &mut DirectoryReport,
    base: &Path,
    second: &dyn SecondProcess,
    findings: &mut Vec<FindingKind>,
) {
    let is_there = report.path.is_dir();
    let probe = match probe::writable(base) {
        Ok(probe) => probe,
        Err(error) => {
            let reason = error.kind().to_string();
            report.state = if is_there { State::Exists } else { State::Blocked };
            let not_creatable = |reason| FindingKind::NotCreatable { below: base.to_owned(), reason };
            findings.push(if is_there { FindingKind::NotWritable { reason } } else { not_creatable(reason) });
            return;
        }
    };
    report.state = if is_there { State::Exists } else { State::Creatable { below: base.to_owned() } };
    report.is_writable = true;
    if report.role == Role::Local {
        let (support, finding) = probe::locks(probe.path(), second);
        report.locks = support;
        findings.extend(finding);
    }
}

fn check_lock_files(report: &mut DirectoryReport, findings: &mut Vec<FindingKind>) {
    match LockDirectory::new(&report.path).survey() {
        Ok(survey) => report.survey = survey,
        Err(error) => return findings.push(FindingKind::Unreachable { reason: error.to_string() }),
    }
    let LockSurvey { n_stale, n_unreadable, .. } = report.survey;
    if n_stale > 0 {
        findings.push(FindingKind::StaleLocks { n_stale });
    }
    if n_unreadable > 0 {
        findings.push(FindingKind::UnreadableLocks { n_unreadable });
    }
}

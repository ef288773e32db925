//! `cache check`: what the directories are good for.

use std::env;
use std::fmt::Write;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use neuronx_mem::config::Severity;
use neuronx_mem_cache::check::{
    self, CheckFinding, CheckOptions, CheckReport, DirectoryReport, LockAttempt, LockSupport, Role, State,
};
use serde::Serialize;

use super::arguments::CheckArguments;
use super::directories;
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::{finding, json, units};

pub(super) fn run(arguments: &CheckArguments) -> Result<Answer, Failure> {
    let directories = directories::in_use(&arguments.directories);
    let options = CheckOptions::new(directories).with_min_free_bytes(arguments.min_free);
    let report = check::check(&options, &second_process);
    output::print(&if arguments.json { json::line(&Check::of(&report))? } else { text(&report) })?;
    Ok(finding::answer(report.findings.iter().map(severity)))
}

/// This program again, with the hidden verb that tries a lock.
fn second_process(file: &Path) -> io::Result<LockAttempt> {
    let mut command = Command::new(env::current_exe()?);
    command.args(["cache", "try-lock"]).arg(file);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    let attempt = status.code().and_then(LockAttempt::from_exit_code);
    attempt.ok_or_else(|| io::Error::other(format!("the second process ended with {status}")))
}

fn severity(finding: &CheckFinding) -> Severity {
    match finding.severity() {
        check::Severity::Note => Severity::Note,
        check::Severity::Warning => Severity::Warning,
        _ => Severity::Error,
    }
}

fn text(report: &CheckReport) -> String {
    let mut text: String = report.directories.iter().map(paragraph).collect();
    if report.findings.is_empty() {
        return text + "No findings\n";
    }
    text += "Findings\n";
    text.extend(report.findings.iter().map(|finding| finding::line(severity(finding), finding)));
    text
}

fn paragraph(directory: &DirectoryReport) -> String {
    let DirectoryReport { role, path, filesystem, free_bytes, total_bytes, .. } = directory;
    let state = match &directory.state {
        State::Exists if directory.is_writable => "there, can be written".to_owned(),
        State::Exists => "there, cannot be written".to_owned(),
        State::Creatable { below } => format!("not there, can be made below {}", below.display()),
        _ => "not there, cannot be made".to_owned(),
    };
    let mut text = format!("{role} directory {}\n", path.display());
    let placement = filesystem.placement().name();
    // Writing to a String does not fail.
    let _ = writeln!(text, "  state        {state}");
    let _ = writeln!(text, "  file system  {filesystem} ({placement})");
    let _ = writeln!(text, "  free         {} of {}", units::bytes(*free_bytes), units::bytes(*total_bytes));
    if *role == Role::Local {
        let survey = &directory.survey;
        let locks = support(directory.locks).replace('_', " ");
        let _ = writeln!(text, "  locks        {locks}; {} held, {} stale", survey.n_held, survey.n_stale);
    }
    text + "\n"
}

fn support(locks: LockSupport) -> &'static str {
    match locks {
        LockSupport::Works => "work",
        LockSupport::Fails => "fail",
        _ => "not_tested",
    }
}

/// The object of `cache check --json`.
#[derive(Serialize)]
struct Check {
    schema: u32,
    ok: bool,
    directories: Vec<Directory>,
    findings: Vec<Finding>,
}

#[derive(Serialize)]
struct Directory {
    role: &'static str,
    variable: &'static str,
    path: String,
    state: &'static str,
    writable: bool,
    filesystem: String,
    placement: &'static str,
    free: u64,
    total: u64,
    /// Only for the directory that has locks.
    locks: Option<Locks>,
}

#[derive(Serialize)]
struct Locks {
    test: &'static str,
    held: u64,
    stale: u64,
    unreadable: u64,
}

#[derive(Serialize)]
struct Finding {
    severity: &'static str,
    kind: &'static str,
    role: &'static str,
    path: String,
    message: String,
}

impl Check {
    fn of(report: &CheckReport) -> Self {
        Self {
            schema: json::SCHEMA,
            ok: report.is_ok(),
            directories: report.directories.iter().map(Directory::of).collect(),
            findings: report.findings.iter().map(Finding::of).collect(),
        }
    }
}

impl Directory {
    fn of(report: &DirectoryReport) -> Self {
        let survey = &report.survey;
        let locks = Locks {
            test: support(report.locks),
            held: survey.n_held,
            stale: survey.n_stale,
            unreadable: survey.n_unreadable,
        };
        Self {
            role: report.role.name(),
            variable: report.role.variable(),
            path: report.path.display().to_string(),
            state: match report.state {
                State::Exists => "exists",
                State::Creatable { .. } => "creatable",
                _ => "blocked",
            },
            writable: report.is_writable,
            filesystem: report.filesystem.to_string(),
            placement: report.filesystem.placement().name(),
            free: report.free_bytes,
            total: report.total_bytes,
            locks: (report.role == Role::Local).then_some(locks),
        }
    }
}

impl Finding {
    fn of(finding: &CheckFinding) -> Self {
        Self {
            severity: finding.severity().name(),
            kind: finding.kind.name(),
            role: finding.role.name(),
            path: finding.path.display().to_string(),
            message: finding.kind.to_string(),
        }
    }
}

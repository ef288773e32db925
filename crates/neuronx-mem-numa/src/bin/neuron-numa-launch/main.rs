//! `neuron-numa-launch`: runs Python under `numactl`, on the NUMA node of the rank's Neuron device.
//!
//! Knows the environment, standard error and exit codes. The decision is the library's. It becomes the
//! program that it starts, so that process id, signals and exit codes are that program's own.

#![forbid(unsafe_code)]

mod text;

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use neuronx_mem_numa::launch::{Launch, LaunchInputs, MARKER, PythonError, Unpinned, find_python};
use neuronx_mem_numa::{Lnc, SystemRoot, read_switch};

/// The first argument that makes the launcher print its command instead of starting it.
const DRY_RUN: &str = "--dry-run";

fn main() -> ExitCode {
    let mut arguments: Vec<OsString> = env::args_os().skip(1).collect();
    // Options of our own only in the first place: all else is Python's.
    match arguments.first().and_then(|first| first.to_str()) {
        None if arguments.is_empty() => return usage(),
        Some("--help") => return print(text::HELP),
        Some("--version") => return print(text::VERSION),
        _ => {}
    }
    let is_dry = arguments[0] == DRY_RUN;
    if is_dry {
        arguments.remove(0);
        if arguments.is_empty() {
            return usage();
        }
    }
    let [python_exec, search_path, local_rank] = ["PYTHON_EXEC", "PATH", "LOCAL_RANK"].map(env::var_os);
    let own = env::current_exe().ok();
    let folder = own.as_deref().and_then(Path::parent);
    let python = match find_python(python_exec.as_deref(), folder, search_path.as_deref()) {
        Ok(python) => python,
        Err(error) => return fail(&error, error.exit_code()),
    };
    let inputs = LaunchInputs {
        root: &SystemRoot::default(),
        search_path: search_path.as_deref(),
        is_enabled: read_switch(env::var_os("NEURON_NUMA_PIN").as_deref()),
        local_rank: local_rank.as_deref(),
        lnc: lnc(),
    };
    let works =
        |numactl: &Path, options: &[OsString]| own.as_deref().is_some_and(|own| runs(numactl, options, own));
    let launch = Launch::decide(&inputs, &python, &arguments, works);
    warn(launch.unpinned.as_ref(), local_rank.as_deref());
    if is_dry { print(&(launch.command_line() + "\n")) } else { start(&launch) }
}

/// The number that decides how many logical cores a device has; the older name counts while the newer is
/// not set.
fn lnc() -> Option<Lnc> {
    let texts = ["NEURON_LOGICAL_NC_CONFIG", "NEURON_RT_VIRTUAL_CORE_SIZE"].map(env::var);
    let text = texts.into_iter().flatten().find(|text| !text.is_empty())?;
    Lnc::of_number(text.trim().parse().ok()?)
}

/// Tries the options on this program, which then only prints its version.
fn runs(numactl: &Path, options: &[OsString], own: &Path) -> bool {
    let mut command = Command::new(numactl);
    command.args(options).arg(own).arg("--version");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Becomes the program; comes back only when that fails.
fn start(launch: &Launch) -> ExitCode {
    let mut command = Command::new(&launch.program);
    command.args(&launch.arguments);
    match launch.node {
        Some(node) => command.env(MARKER, node.to_string()),
        // Perhaps from a launcher around this one, which pinned and then started us elsewhere.
        None => command.env_remove(MARKER),
    };
    let error = command.exec();
    let code = PythonError::exit_code_of(&error);
    fail(&format_args!("{}: {error}", launch.program.display()), code)
}

/// One line at most, and none from other ranks where all have the same reason.
fn warn(unpinned: Option<&Unpinned>, local_rank: Option<&OsStr>) {
    let Some(reason) = unpinned.filter(|reason| !reason.is_wanted()) else { return };
    if reason.is_of_host() && local_rank.is_some_and(|rank| rank != "0") {
        return;
    }
    complain(&format_args!("warning: not pinned: {reason}"));
}

fn usage() -> ExitCode {
    let _ = io::stderr().write_all(text::USAGE.as_bytes());
    ExitCode::from(2)
}

fn fail(reason: &dyn std::fmt::Display, code: u8) -> ExitCode {
    complain(&format_args!("error: {reason}"));
    ExitCode::from(code)
}

/// Without a standard error only the exit code is left to tell.
fn complain(message: &dyn std::fmt::Display) {
    let line = message.to_string().replace(['\n', '\r'], " ");
    let _ = writeln!(io::stderr(), "neuron-numa-launch: {line}");
}

/// A reader that has gone is no error.
fn print(text: &str) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => fail(&error, 2),
        _ => ExitCode::SUCCESS,
    }
}

//! `neuron-ls` that is missing, slow, broken or talkative.

use std::ffi::OsStr;
use std::fs;
use std::time::Duration;

use neuronx_mem_numa::{NeuronLs, NumaError};

use crate::machine::Machine;

/// Long enough for any machine, where an answer comes.
const PATIENT: Duration = Duration::from_secs(120);

#[track_caller]
fn message(machine: &Machine, lines: &str, limit: Duration) -> String {
    let tool = NeuronLs::at(machine.program("neuron-ls", lines)).with_limit(limit);
    machine.neutral(&tool.json().unwrap_err().to_string())
}

#[test]
fn it_is_found_on_path_first_then_where_it_is_installed() {
    let machine = Machine::bare();
    let [bin, empty] = ["bin", "empty"].map(|name| machine.path(name));
    let search = std::env::join_paths([&empty, &bin]).unwrap();
    let find = |path: Option<&OsStr>| NeuronLs::find(path, &machine.root());
    assert!(matches!(find(Some(&search)), Err(NumaError::ToolMissing)));
    let installed = machine.program("../opt/aws/neuron/bin/neuron-ls", "");
    let place = fs::canonicalize(installed).unwrap();
    assert_eq!(fs::canonicalize(find(None).unwrap().path()).unwrap(), place);
    // A file that nobody may execute is none.
    machine.write("empty/neuron-ls", "");
    assert_eq!(fs::canonicalize(find(Some(&search)).unwrap().path()).unwrap(), place);
    let first = machine.program("neuron-ls", "");
    assert_eq!(find(Some(&search)).unwrap().path(), first);
    assert_eq!(NumaError::ToolMissing.to_string(), "neuron-ls is neither on PATH nor in /opt/aws/neuron/bin");
}

#[test]
fn one_that_hangs_is_ended_with_what_it_started() {
    // The child keeps the pipes open and would live on, whether the tool waits for it or not.
    for end in ["wait", "exit 0"] {
        let machine = Machine::bare();
        let folder = machine.path("");
        let lines = format!(
            "sleep 1000 & echo $! > '{0}/pid.new'; mv '{0}/pid.new' '{0}/pid'; {end}",
            folder.display()
        );
        let said = message(&machine, &lines, Duration::from_millis(300));
        assert_eq!(said, "ROOT/bin/neuron-ls: no answer within 300 ms");
        // Where the machine was too slow to start the child, there is none to look for.
        if let Ok(pid) = fs::read_to_string(machine.path("pid")) {
            assert!(killed(pid.trim()), "the child lives");
        }
    }
}

/// A killed process is no longer a `sleep`, once the kernel is through with it.
fn killed(pid: &str) -> bool {
    let command = || fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    (0..10_000_000).any(|_| !command().starts_with(b"sleep"))
}

#[test]
fn one_that_closes_its_output_and_stays_is_ended_too() {
    let machine = Machine::bare();
    let said = message(&machine, "exec >&- 2>&-; sleep 1000", Duration::from_millis(200));
    assert_eq!(said, "ROOT/bin/neuron-ls: no answer within 200 ms");
}

#[test]
fn one_that_fails_is_quoted() {
    let machine = Machine::bare();
    let said =
        message(&machine, "echo '[]'; echo; echo 'no driver loaded' >&2; echo more >&2; exit 1", PATIENT);
    assert_eq!(said, "ROOT/bin/neuron-ls: ended with exit status: 1: no driver loaded");
    let said = message(&machine, "exit 1", PATIENT);
    assert_eq!(said, "ROOT/bin/neuron-ls: ended with exit status: 1");
    let said = message(&machine, "kill -9 $$", PATIENT);
    assert_eq!(said, "ROOT/bin/neuron-ls: ended with signal: 9 (SIGKILL)");
}

#[test]
fn one_that_cannot_be_started_is_an_error() {
    let machine = Machine::bare();
    let tool = NeuronLs::at(machine.path("nowhere"));
    assert!(matches!(tool.json(), Err(NumaError::ToolStart { .. })));
}

#[test]
fn output_of_both_kinds_is_read_side_by_side() {
    let machine = Machine::bare();
    // More than a pipe holds, on both: whoever reads one to its end first waits for ever.
    let lines = "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2";
    let tool = NeuronLs::at(machine.program("neuron-ls", lines)).with_limit(PATIENT);
    assert_eq!(tool.json().unwrap().len(), 300_000);
}

#[test]
fn output_without_end_is_cut() {
    let machine = Machine::bare();
    let said = message(&machine, "cat /dev/zero", PATIENT);
    assert_eq!(said, "ROOT/bin/neuron-ls: wrote more than 4194304 bytes");
}

//! One snapshot for the process, and what comes too late.

use std::process::Command;

use super::{environment, lines};
use crate::{Environment, changed_since_capture, variables::*};

#[test]
fn changes_are_set_changed_and_taken_away() {
    let read =
        environment(&["NEURON_NUMA_PIN=0", "TORCH_NEURONX_LOG_LEVEL=1", "RANK=0", "NEURON_UNHEARD_OF=1"]);
    let later = environment(&["TORCH_NEURONX_LOG_LEVEL=2", "RANK=0", "TORCH_NEURONX_DEBUG_DIR="]);
    insta::assert_snapshot!(lines(&read.changes(&later)), @"
    error set_too_late TORCH_NEURONX_DEBUG_DIR: TORCH_NEURONX_DEBUG_DIR changed from unset to `` after it was read; it counts after a restart
    error set_too_late TORCH_NEURONX_LOG_LEVEL: TORCH_NEURONX_LOG_LEVEL changed from `1` to `2` after it was read; it counts after a restart
    error set_too_late NEURON_NUMA_PIN: NEURON_NUMA_PIN changed from `0` to unset after it was read; it counts after a restart
    ");
    assert_eq!(read.changes(&read), []);
}

/// Set for a copy of this test binary; tells the test below to answer.
const ANSWER_VARIABLE: &str = "NEURONX_MEM_CONFIG_TEST_ANSWER";

#[test]
fn the_process_is_captured_once() {
    if std::env::var_os(ANSWER_VARIABLE).is_some() {
        assert_eq!(changed_since_capture(), []);
        let first = Environment::process();
        assert!(std::ptr::eq(first, Environment::process()));
        assert_eq!(changed_since_capture(), []);
        return println!("answer<{}>", first.int(TORCH_NEURONX_LOG_LEVEL).value);
    }
    // The environment of this process cannot be changed safely, so a copy of it is asked.
    let name = "environment::tests::process::the_process_is_captured_once";
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(ANSWER_VARIABLE, "1")
        .env(TORCH_NEURONX_LOG_LEVEL.name(), "3")
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("answer<3>"), "{printed}");
}

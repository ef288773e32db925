//! The verb `host` from outside, on copies of hosts and of logs.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{in_clean_environment, outcome_with_input};

const MEMINFO: &str = include_str!("data/report_meminfo.txt");
const REPORT: &str = include_str!("data/report_buddyinfo.txt");
const FRESH: &str = include_str!("data/fresh_buddyinfo.txt");
const TWO_NODES: &str = include_str!("data/two_nodes_buddyinfo.txt");

/// A copy of a host with these free blocks.
fn host(buddyinfo: &str) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    add(root.path(), "proc/buddyinfo", buddyinfo);
    add(root.path(), "proc/meminfo", MEMINFO);
    root
}

fn add(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Exit code, standard output, standard error.
fn run(arguments: &[&str], input: &str) -> (i32, String, String) {
    outcome_with_input(in_clean_environment(arguments), input.as_bytes()).parts()
}

fn check(root: &TempDir, arguments: &[&str]) -> (i32, String, String) {
    let root = root.path().to_str().unwrap();
    run(&[&["host", "check", "--root", root], arguments].concat(), "")
}

fn log(name: &str) -> String {
    format!("{}/tests/cli/data/{name}.log", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_report_would_fail_and_is_told_what_helps() {
    let (code, out, err) = check(&host(REPORT), &["--need", "3292176", "--count", "4"]);
    assert_eq!((code, err.as_str()), (1, ""));
    insta::assert_snapshot!(out);
}

#[test]
fn one_mebibyte_is_served_and_a_fresh_host_serves_all() {
    assert_eq!(check(&host(REPORT), &["--need", "1MiB"]).0, 0);
    let (code, out, err) = check(&host(FRESH), &["--need", "3292176", "--count", "100"]);
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(out);
}

#[test]
fn without_a_need_the_blocks_are_shown() {
    let (code, out, err) = check(&host(TWO_NODES), &[]);
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(out);
}

#[test]
fn a_node_and_a_loaded_driver_count() {
    let root = host(TWO_NODES);
    let pages = "sys/devices/system/node/node1/hugepages/hugepages-2048kB";
    add(root.path(), &format!("{pages}/nr_hugepages"), "64\n");
    add(root.path(), &format!("{pages}/free_hugepages"), "60\n");
    add(root.path(), "sys/module/neuron/parameters/mempool_host_memory_size", "33554432\n");
    let (code, out, err) = check(&root, &["--need", "2MiB", "--count", "3", "--node", "0"]);
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(out);
    assert_eq!(check(&root, &["--need", "2MiB", "--count", "17", "--node", "0"]).0, 1);
    assert_eq!(check(&root, &["--need", "5MiB"]).0, 1);
}

#[test]
fn json_has_the_figures() {
    let (code, out, err) = check(&host(REPORT), &["--need", "3292176", "--json"]);
    assert_eq!((code, err.as_str(), out.lines().count()), (1, "", 1));
    let object: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&object["schema"], &object["ok"]), (&1.into(), &false.into()));
    let need = &object["need"];
    let figures = ["bytes", "count", "order", "block_bytes", "served"].map(|key| need[key].as_u64().unwrap());
    assert_eq!(figures, [3_292_176, 1, 10, 4_194_304, 0]);
    assert_eq!(need["verdict"], "fails");
    assert_eq!(object["nodes"][0]["blocks"][8], 7);
    assert_eq!(object["droppable"], 12_493_692_928_u64);
    assert_eq!(object["remedies"][0]["kind"], "evict_files");
    let (code, out, _) = check(&host(REPORT), &["--json"]);
    let object: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &object["need"], &object["nodes"][0]["served"]), (0, &Value::Null, &Value::Null));
}

#[test]
fn wrong_input_is_one_line_and_exit_code_2() {
    let empty = tempfile::tempdir().unwrap();
    let cut = host(&REPORT[..REPORT.len() - 20]);
    let good = host(REPORT);
    let cases: [(&TempDir, &[&str]); 6] = [
        (&empty, &[]),
        (&cut, &["--need", "1MiB"]),
        (&good, &["--need", "1MiB", "--node", "9"]),
        (&good, &["--need", "15EiB"]),
        (&good, &["--count", "2"]),
        (&good, &["--need", "1MiB", "--count", "0"]),
    ];
    let mut lines = Vec::new();
    for (root, arguments) in cases {
        let (code, out, err) = check(root, arguments);
        assert_eq!((code, out.as_str(), err.lines().count()), (2, "", 1), "{arguments:?}: {err}");
        lines.push(err.replace(root.path().to_str().unwrap(), "ROOT"));
    }
    let (code, out, err) = run(&["host", "explain", "no-such.log"], "");
    assert_eq!((code, out.as_str(), err.lines().count()), (2, "", 1));
    lines.push(err);
    insta::assert_snapshot!(lines.concat());
}

#[test]
fn logs_are_explained() {
    for name in ["host_failure", "device_2024", "device_table"] {
        let (code, out, err) = run(&["host", "explain", &log(name)], "");
        assert_eq!((code, err.as_str()), (0, ""));
        insta::assert_snapshot!(name, out);
    }
}

#[test]
fn a_log_from_standard_input_may_hold_anything() {
    let (code, out, _) = run(&["host", "explain", "-"], "nothing of note\n");
    assert_eq!((code, out.as_str()), (0, "No memory failures found\n"));
    let (code, out, _) =
        run(&["host", "explain", "--json", "-"], &fs::read_to_string(log("device_table")).unwrap());
    let object: Value = serde_json::from_str(&out).unwrap();
    let incident = &object["incidents"][0];
    assert_eq!((code, &incident["device"], &incident["core"]), (0, &0.into(), &4.into()));
    assert_eq!((&incident["bytes"], &incident["exact"]), (&4_294_967_296_u64.into(), &false.into()));
    assert_eq!(incident["usage_bytes"]["shared scratchpad"], 6_442_450_944_u64);
    assert_eq!(incident["sharing_cores"], serde_json::json!([4, 5]));
}

#[test]
fn this_host_can_be_checked() {
    if !Path::new("/proc/buddyinfo").exists() {
        return;
    }
    let (code, out, err) = run(&["host", "check", "--json"], "");
    let object: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, err.as_str(), object["ok"].as_bool()), (0, "", Some(true)));
}

//! The verbs tune, plan, check, shrink and convert --anonymize from outside.

use std::fs;

use serde_json::Value;

use crate::support::{in_root, outcome};

const RESNET: &str = "tests/data/traces/resnet50.csv.zst";
const INT64: &str = "tests/data/traces/int64_small.csv.zst";

/// Exit code, standard output and standard error, from the workspace's root.
fn run(arguments: &[&str]) -> (i32, String, String) {
    outcome(&mut in_root(arguments)).parts()
}

#[track_caller]
fn check_done(arguments: &[&str]) -> String {
    let (code, out, err) = run(arguments);
    assert_eq!((code, err.as_str()), (0, ""), "{arguments:?}");
    out
}

#[test]
fn tune_prints_the_line_to_export() {
    insta::assert_snapshot!("tune", check_done(&["tune", RESNET, "--budget-s", "3600"]));
}

#[test]
fn tuned_figures_are_those_of_replay() {
    let object: Value =
        serde_json::from_str(&check_done(&["tune", INT64, "--json", "--no-validation"])).unwrap();
    for (env, reserved) in [("env", "tuned_reserved_peak"), ("robust_env", "robust_reserved_peak")] {
        let config = object[env].as_str().unwrap();
        let replayed: Value =
            serde_json::from_str(&check_done(&["replay", INT64, "--config", config, "--json"])).unwrap();
        assert_eq!(replayed["reserved_peak"], object["inputs"][0][reserved]);
    }
}

#[test]
fn plan_says_how_far_from_perfect_it_is() {
    insta::assert_snapshot!("plan", check_done(&["plan", RESNET, "--budget-s", "3600"]));
}

#[test]
fn check_compares_reports_and_updates() {
    let folder = tempfile::tempdir().unwrap();
    let (budget, junit) = (folder.path().join("memory.toml"), folder.path().join("junit.xml"));
    let limits = "tolerance_percent = 1 # of all\n[budget]\npeak = \"5.4GiB\" # measured\nreserved = 6000000000\n\
                  [mark.\"step 1 forward\"]\nreserved = { limit = 10, tolerance_percent = 0 }\n\
                  [mark.absent]\npeak = 1\n";
    fs::write(&budget, limits).unwrap();
    let (budget_name, junit_name) = (budget.to_str().unwrap(), junit.to_str().unwrap());
    let (code, out, err) = run(&["check", RESNET, "--budget", budget_name, "--junit", junit_name]);
    assert_eq!((code, err.as_str()), (1, ""));
    insta::assert_snapshot!("check", out);
    insta::assert_snapshot!("check_junit", fs::read_to_string(&junit).unwrap());
    run(&["check", RESNET, "--budget", budget_name, "--update"]);
    insta::assert_snapshot!("check_updated", fs::read_to_string(&budget).unwrap());
}

#[test]
fn shrink_leaves_what_shows_the_effect() {
    let arguments = ["shrink", RESNET, "--until", "num_device_alloc>3", "-o", "-"];
    insta::assert_snapshot!("shrink", check_done(&arguments));
    let (code, out, err) = run(&["shrink", RESNET, "-o", "-"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("does not show `oom`: no out of memory, reserved_peak 6908018688"), "{err}");
}

#[test]
fn anonymize_keeps_figures_and_no_text() {
    let out = check_done(&["convert", RESNET, "--anonymize", "--to", "csv", "-o", "-"]);
    assert!(!out.contains("resnet") && !out.contains("forward") && !out.contains('#'));
    assert!(out.starts_with("m,mark 1\na,1,"));
    let snapshot = "tests/data/snapshots/small_history.pickle";
    let (before, after) = (
        check_done(&["convert", snapshot, "--to", "json", "-o", "-"]),
        check_done(&["convert", snapshot, "--anonymize", "--to", "json", "-o", "-"]),
    );
    let (before, after): (Value, Value) =
        (serde_json::from_str(&before).unwrap(), serde_json::from_str(&after).unwrap());
    let sizes = |value: &Value| value["segments"][0]["total_size"].clone();
    assert_eq!(sizes(&before), sizes(&after));
    assert!(!after.to_string().contains(".py\"") && before.to_string().contains(".py\""));
}

#[test]
fn nonsense_is_one_line_and_code_2() {
    for arguments in [
        &["tune", "absent.csv"][..],
        &["shrink", RESNET, "--until", "reserved_peak<3", "-o", "-"],
        &["shrink", RESNET, "-o", "x.json"],
        &["check", RESNET, "--budget", "absent.toml"],
        &["tune", RESNET, "--jobs", "0"],
    ] {
        let (code, out, err) = run(arguments);
        assert_eq!((code, out.as_str(), err.lines().count()), (2, "", 1), "{arguments:?}: {err}");
    }
}

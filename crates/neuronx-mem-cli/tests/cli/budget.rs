//! The verbs check, plan --against, shrink and tune --shrink from outside, on inputs small enough to
//! reckon by hand, and on input that is no input.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Folder, in_root, outcome};

/// Two marks with one label, a tensor that outlives its mark, and a synchronisation a step.
const MARKED: &str = "m,load\na,1,1048576,0\ns\nm,one\na,2,4194304,0\na,3,2097152,0\nf,2\ns\n\
                      m,two\na,4,4194304,0\nf,3\nf,4\na,5,3145728,0\ns\nm,one\na,6,1024,0\ns\n";

/// Exit code, standard output and standard error, from the workspace's root.
fn run(arguments: &[&str]) -> (i32, String, String) {
    outcome(&mut in_root(arguments)).parts()
}

/// The object that a command prints, and its exit code.
#[track_caller]
fn object(arguments: &[&str]) -> (i32, Value) {
    let (code, out, err) = run(arguments);
    assert_eq!(err, "", "{arguments:?}");
    (code, serde_json::from_str(&out).unwrap())
}

#[track_caller]
fn check_refused(arguments: &[&str], reason: &str) {
    let (code, out, err) = run(arguments);
    assert_eq!((code, out.as_str(), err.lines().count()), (2, "", 1), "{arguments:?}: {err}");
    assert!(err.contains(reason), "{err}");
}

/// The observed peaks are reckoned from the pickles by another program.
#[test]
fn snapshots_show_the_observed_peak_beside_the_canonical_one() {
    let folder = Folder::new();
    let budget = folder.file("memory.toml", "[budget]\nreserved = 1\n");
    for (name, canonical, observed) in [
        ("annotations", 71_303_168.0, 58_720_256),
        ("multi_stream", 203_423_744.0, 247_463_936),
        ("oom", 2_688_548_864.0, 2_128_609_280),
        ("private_pools", 69_206_016.0, 81_788_928),
        ("small_history", 102_760_448.0, 123_731_968),
        ("train_transformer", 822_083_584.0, 868_220_928),
        ("two_snapshots", 69_206_016.0, 41_943_040),
    ] {
        let snapshot = format!("tests/data/snapshots/{name}.pickle");
        let (code, object) = object(&["check", &snapshot, "--budget", &budget, "--json"]);
        let found = (&object["limits"][0]["measured"], &object["observed_reserved_peak"]);
        assert_eq!((code, found), (1, (&json!(canonical), &json!(observed))), "{name}");
    }
    let snapshot = "tests/data/snapshots/small_history.pickle";
    insta::assert_snapshot!("check_snapshot", run(&["check", snapshot, "--budget", &budget]).1);
}

#[test]
fn marks_have_budgets_of_their_own() {
    let folder = Folder::new();
    let figures = ["peak", "reserved", "allocations_per_step", "growth_per_step"];
    let table: String = figures.iter().map(|figure| format!("{figure} = 0\n")).collect();
    let limits = format!("[budget]\n{table}[mark.load]\n{table}[mark.one]\n{table}[mark.two]\n{table}");
    let (trace, budget) = (folder.file("run.csv", MARKED), folder.file("memory.toml", &limits));
    let (code, object) = object(&["check", &trace, "--budget", &budget, "--json"]);
    let of = |row: &Value| (row["of"].clone(), row["figure"].clone(), row["measured"].clone());
    let found: Vec<_> = object["limits"].as_array().unwrap().iter().map(of).collect();
    let (mib, medium) = (f64::from(1 << 20), 67_108_864.0);
    let expected = [
        ("whole run", [7.0 * mib, medium + 2.0 * mib, 2.0, mib]),
        ("load", [mib, medium, 1.0, mib]),
        ("one", [7.0 * mib, medium + 2.0 * mib, 2.0, 2.0 * mib]),
        ("two", [7.0 * mib, medium, 2.0, mib]),
    ];
    let expected: Vec<_> = expected
        .iter()
        .flat_map(|(of, values)| {
            figures.iter().zip(values).map(move |(f, v)| (json!(of), json!(f), json!(v)))
        })
        .collect();
    assert_eq!((code, found), (1, expected));
    // What was measured is kept to, to the byte.
    assert_eq!(run(&["check", &trace, "--budget", &budget, "--update"]).0, 0);
    assert_eq!(run(&["check", &trace, "--budget", &budget]).0, 0);
}

#[test]
fn a_plan_serves_another_run() {
    let folder = Folder::new();
    let trace = folder.file("run.csv", MARKED);
    // The second tensor is larger than planned, and takes a 64 MiB segment of the fall-back.
    let other = "a,1,1048576,0\ns\na,2,4194304,0\na,3,3097152,0\nf,2\ns\na,4,4194304,0\n";
    let other = folder.file("other.csv", other);
    let (code, object) = object(&["plan", &trace, "--against", &other, "--json"]);
    let expected = json!({
        "run": other, "reserved_peak": 7_340_032 + 67_108_864, "planned_tensors": 3, "other_tensors": 1,
    });
    assert_eq!((code, object["followed"].as_array().unwrap().last()), (0, Some(&expected)));
    let out = run(&["plan", &trace, "--against", &other]).1;
    let last = out.lines().last().unwrap();
    assert!(
        last.ends_with("reserved 74,448,896 bytes (71.0 MiB), +914.3 %; 1 of 4 tensors elsewhere"),
        "{last}"
    );
    check_refused(&["plan", &trace, "--against", "absent.csv"], "absent.csv: cannot be opened");
}

#[test]
fn tune_shrinks_too() {
    let folder = Folder::new();
    let trace = folder.file("run.csv", MARKED);
    let shrunk = ["shrink", &trace, "--until", "reserved_peak>67108864", "-o", "-"];
    let aliased = ["tune", &trace, "--shrink", "-", "--until", "reserved_peak>67108864"];
    let (one, two) = (run(&shrunk), run(&aliased));
    assert_eq!((one.0, &one), (0, &two));
    assert_eq!(one.1, "# shrunk: reserved_peak>67108864\na,4,4194304,0\na,6,1024,0\n");
    let kept = run(&["tune", &trace, "--shrink", "-", "--keep-sizes", "--memory", "1MiB"]);
    assert_eq!((kept.0, kept.1.as_str()), (0, "# shrunk: oom\na,1,1048576,0\n"));
    check_refused(&["tune", &trace, &trace, "--shrink", "-"], "--shrink takes one input");
}

#[test]
fn budgets_that_are_none_are_refused() {
    let folder = Folder::new();
    let trace = folder.file("run.csv", MARKED);
    for (text, reason) in [
        ("[budget\npeak", "unclosed table"),
        ("", "no limits"),
        ("[budget]\npeak = -nan\n", "`budget.peak` must be a number"),
        ("[budget]\npeak = true\n", "`budget.peak` must be a number"),
        ("[budget]\npeek = 1\n", "unknown key `budget.peek`"),
        ("budget = 3\n", "`budget` must be a table"),
        ("mark = 3\n[budget]\npeak = 1\n", "`mark` must be a table"),
        ("[mark]\none = 3\n", "`mark.\"one\"` must be a table"),
        ("tolerance_percent = -1\n[budget]\npeak = 1\n", "`tolerance_percent` must be a number from 0"),
        ("tolerance_percent = nan\n[budget]\npeak = 1\n", "`tolerance_percent` must be a number from 0"),
        ("[budget]\npeak = { limit = 1, tolerance_percent = -2 }\n", "`budget.peak.tolerance_percent`"),
        ("[budget]\npeak = { limit = 1, tolerance = 2 }\n", "unknown key `budget.peak.tolerance`"),
        ("[budget]\npeak = { tolerance_percent = 2 }\n", "`budget.peak` must be a number"),
    ] {
        let budget = folder.file("memory.toml", text);
        check_refused(&["check", &trace, "--budget", &budget], reason);
        check_refused(&["check", &trace, "--budget", &budget, "--update"], reason);
        assert_eq!(fs::read_to_string(&budget).unwrap(), text, "an update leaves what it cannot read");
    }
    // A mark that the run lacks is a limit that is not kept.
    let budget = folder.file("memory.toml", "[mark.absent]\npeak = 1\n");
    assert_eq!(run(&["check", &trace, "--budget", &budget]).0, 1);
}

#[test]
fn traces_without_a_use_are_refused() {
    let folder = Folder::new();
    let budget = folder.file("memory.toml", "[budget]\npeak = 1\n");
    let frees = "f,1\n";
    let sum = "a,1,4611686018427387904,0\na,2,4611686018427387904,0\n";
    for (text, reason) in [
        ("", "holds no events"),
        ("\u{fffd}\n", "line 1"),
        (frees, "line 1: id 1 is freed but not live"),
        ("a,1,0,0\nf,1\n", "allocates nothing"),
        ("m,only\ns\n", "allocates nothing"),
        ("a,1,18446744073709551615,0\n", "2^62 bytes or more"),
        (sum, "2^62 bytes or more"),
    ] {
        let trace = folder.file("run.csv", text);
        check_refused(&["tune", &trace], reason);
        check_refused(&["plan", &trace], reason);
        check_refused(&["check", &trace, "--budget", &budget], reason);
        check_refused(&["shrink", &trace, "-o", "-"], reason);
    }
    let trace = folder.file("run.csv", frees);
    check_refused(&["plan", &trace, "--lenient"], "allocates nothing");
    // Tensors of no bytes beside real ones take no memory.
    let trace = folder.file("run.csv", "a,1,0,0\na,2,1048576,0\nf,1\nf,2\n");
    let (code, object) = object(&["check", &trace, "--budget", &budget, "--json"]);
    assert_eq!((code, &object["limits"][0]["measured"]), (1, &json!(1_048_576.0)));
}

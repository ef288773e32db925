//! The verb `int64` from outside, each run in an environment of its own.

use std::fs;

use serde_json::Value;

use crate::support::{Folder, in_clean_environment, outcome, root};

/// From the root of the workspace.
const TRACE: &str = "tests/data/traces/gpt2_bf16.jsonl.gz";

/// Exit code, standard output, standard error.
fn run(arguments: &[&str], environment: &[(&str, &str)]) -> (i32, String, String) {
    let mut command = in_clean_environment(&[&["int64", "audit"], arguments].concat());
    command.current_dir(root()).envs(environment.iter().copied());
    outcome(&mut command).parts()
}

#[track_caller]
fn printed(code: i32, arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let ran = run(arguments, environment);
    assert_eq!((ran.0, ran.2.as_str()), (code, ""), "{arguments:?}");
    ran.1
}

#[track_caller]
fn object(arguments: &[&str], environment: &[(&str, &str)]) -> Value {
    let text = printed(0, &[arguments, &["--json"]].concat(), environment);
    assert_eq!((text.lines().count(), text.ends_with('\n')), (1, true));
    serde_json::from_str(&text).unwrap()
}

#[track_caller]
fn check_refused(arguments: &[&str], expected: &str) {
    let (code, out, err) = run(arguments, &[]);
    assert_eq!(
        (code, out.as_str(), err),
        (2, "", format!("neuronx-mem: error: {expected}\n")),
        "{arguments:?}"
    );
}

#[test]
fn a_trace_with_operators() {
    insta::assert_snapshot!("trace_native", printed(0, &[TRACE], &[]));
    insta::assert_snapshot!("trace_cpu_bounce", printed(0, &[TRACE, "--mode", "cpu_bounce"], &[]));
}

#[test]
fn a_narrow_output_breaks_names_and_risks() {
    let names = ["index_add", "embedding_dense_backward", "--mode", "packed"];
    for columns in ["110", "80"] {
        let text = printed(0, &names, &[("COLUMNS", columns)]);
        let width = columns.parse().unwrap();
        let tables = text.lines().filter(|line| line.starts_with('|'));
        assert!(tables.into_iter().all(|line| line.chars().count() <= width), "{text}");
        insta::assert_snapshot!(format!("narrow_{columns}"), text);
    }
    // Where nothing fits, lines are too long and nothing else happens.
    printed(0, &names, &[("COLUMNS", "1")]);
}

#[test]
fn a_list_of_operators_with_the_check_on() {
    let folder = Folder::new();
    let list =
        "# from a profile\n  40 aten.cumsum.default\naten::mm 3\naten.topk.default\n\nmylib::op\naten.cat\n";
    let path = folder.file("ops.txt", list.as_bytes());
    let environment =
        [("TORCH_NEURONX_INT64_MODE", "packed"), ("TORCH_NEURONX_PACKED_INT64_CHECK_OVERFLOW", "1")];
    let text = printed(0, &[&path], &environment);
    insta::assert_snapshot!("list", text.replace(&path, "ops.txt"));
}

#[test]
fn the_object_has_every_mode_of_every_operator() {
    let object = object(&[TRACE, "--mode", "native_strict"], &[]);
    assert_eq!((&object["schema"], &object["input"]), (&1.into(), &TRACE.into()));
    assert_eq!(object["policy"], serde_json::json!({"mode": "native_strict", "check_overflow": false}));
    let rows = object["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["operator"].as_str().unwrap()).collect();
    assert_eq!(names[..2], ["aten.nll_loss_backward", "aten.embedding_dense_backward"]);
    let embedding = rows.iter().find(|row| row["operator"] == "aten.embedding").unwrap();
    insta::assert_snapshot!("embedding_json", serde_json::to_string_pretty(embedding).unwrap());
    // Four steps, each with 8 × 1024 tokens and 1 × 1024 positions.
    assert_eq!(embedding["wide_bytes"], 4 * 8 * (8 * 1024 + 1024));
    let bounced: u64 =
        rows.iter().map(|row| row["routes"][2]["bounced"]["to_device_bytes"].as_u64().unwrap()).sum();
    assert_eq!(object["totals"][2]["bounced"]["to_device_bytes"], bounced);
}

#[test]
fn options_come_before_variables() {
    let environment = [("TORCH_NEURONX_INT64_MODE", "cpu_fallback")];
    let mode =
        |arguments: &[&str]| object(arguments, &environment)["policy"]["mode"].as_str().unwrap().to_owned();
    assert_eq!(mode(&["aten.add"]), "cpu_fallback");
    assert_eq!(mode(&["aten.add", "--mode", "packed"]), "packed");
    let checked = object(&["aten.add", "--mode", "packed", "--check-overflow"], &[]);
    assert_eq!(checked["rows"][0]["routes"][1]["risks"], serde_json::json!(["raises"]));
}

#[test]
fn a_bad_variable_is_a_warning_and_the_default_holds() {
    let (code, out, err) = run(&["aten.add"], &[("TORCH_NEURONX_INT64_MODE", "gpu")]);
    assert_eq!((code, out.contains("mode native, overflow check off")), (0, true), "{out}");
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(err.contains("TORCH_NEURONX_INT64_MODE: `gpu` is none of native"), "{err}");
}

#[test]
fn check_says_no_where_values_are_at_risk() {
    printed(1, &["aten.cumsum", "--mode", "packed", "--check"], &[]);
    printed(0, &["aten.cumsum", "--mode", "packed", "--check", "--check-overflow"], &[]);
    printed(0, &["aten.cumsum", "aten.cat", "--check"], &[]);
    printed(1, &["mylib::op", "--mode", "cpu_fallback", "--check"], &[]);
    printed(1, &["topk", "--mode", "packed", "--check", "--check-overflow"], &[]);
}

#[test]
fn a_table_of_the_user_is_added() {
    let folder = Folder::new();
    let text = "schema = 1\n[[class]]\nname = \"scan\"\ndevice64 = false\noperators = [\"mylib::scan\"]\n";
    let path = folder.file("more.toml", text.as_bytes());
    let object = object(&["mylib::scan", "cumsum", "--operators", &path], &[]);
    let paths: Vec<&Value> =
        object["rows"].as_array().unwrap().iter().map(|row| &row["routes"][0]["path"]).collect();
    assert_eq!(paths, ["device_packed", "device_packed"]);
    let bad = folder.file("bad.toml", b"schema = 1\nclasses = 3\n");
    let (code, _, err) = run(&["add", "--operators", &bad], &[]);
    assert_eq!((code, err.lines().count()), (2, 1));
    assert!(
        err.starts_with(&format!(
            "neuronx-mem: error: --operators {bad}: operator table: line 2: unknown field"
        )),
        "{err}"
    );
}

#[test]
fn what_cannot_be_read_is_one_line_and_exit_code_2() {
    let folder = Folder::new();
    let broken = folder.file("broken.jsonl", b"{\"name\":1}\n{\"op\":\n");
    check_refused(
        &[&broken],
        &format!("{broken}: line 2: no record: EOF while parsing a value at line 1 column 6"),
    );
    let csv = "tests/data/traces/int64_small.csv.zst";
    let (code, _, err) = run(&[csv], &[]);
    assert_eq!(
        (code, err.ends_with("is no name of an operator; a trace in CSV names none\n")),
        (2, true),
        "{err}"
    );
    let pickle = "tests/data/snapshots/oom.pickle";
    check_refused(
        &[pickle],
        &format!("{pickle}: a memory snapshot has no operators: give a trace in JSON lines or a list"),
    );
    let empty = folder.file("empty.txt", b"");
    check_refused(&[&empty], &format!("{empty}: holds no operators"));
    let bytes = folder.file("bytes.txt", b"add\n\xff\n");
    check_refused(&[&bytes], &format!("{bytes}: line 2: no text in UTF-8"));
    let cut = folder.file(
        "cut.jsonl.gz",
        &fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/traces/gpt2_bf16.jsonl.gz"))
            .unwrap()[..5000],
    );
    let (code, _, err) = run(&[&cut], &[]);
    assert_eq!((code, err.contains("compressed data ends early, after line")), (2, true), "{err}");
    check_refused(&["no_such_thing"], "`no_such_thing` is neither a file nor the name of an operator");
    check_refused(
        &["add", "no_such_thing"],
        "`no_such_thing`: of several inputs each must be the name of an operator",
    );
    check_refused(&["tests/data"], "tests/data: is a directory, not a trace");
}

#[test]
fn help() {
    insta::assert_snapshot!("help", printed(0, &["--help"], &[("COLUMNS", "100")]));
}

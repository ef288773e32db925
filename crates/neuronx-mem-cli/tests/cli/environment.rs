//! The verbs `env` and `config` from outside, each run in an environment of its own.

use std::ffi::OsStr;
use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{CONFIG, in_clean_environment, outcome, root};

/// One of each kind of trouble, and a few variables that are in order.
const TROUBLED: &[(&str, &str)] = &[
    ("NEURON_NUMA_PINS", "0"),
    ("NEURON_RT_VISIBLE_CORES", "0,2-5"),
    ("TORCH_NEURONX_DISABLE_NEFF_CACHE", "1"),
    ("TORCH_NEURONX_ENABLED_METRIC_TABLES", "memory, streams"),
    ("TORCH_NEURONX_ENABLE_HOST_CC", "1"),
    ("TORCH_NEURONX_ENABLE_STREAMS", "0"),
    ("TORCH_NEURONX_LOG_LEVEL", "9"),
    ("TORCH_NEURONX_METRICS_DIR", "/mnt/a-long-name/that-does-not-fit/into-one-line/of-a-table/metrics"),
    ("TORCH_NEURONX_NEFF_CACHE_DIR", ""),
    (CONFIG, "kMinRoundedSize=512,kPoolBoundry=4096"),
];

fn command(arguments: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = in_clean_environment(arguments);
    command.env("USER", "ada").envs(environment.iter().copied());
    command
}

fn run(arguments: &[&str], environment: &[(&str, &str)]) -> (i32, String, String) {
    outcome(&mut command(arguments, environment)).parts()
}

/// Standard output; nothing on standard error.
#[track_caller]
fn check_code(code: i32, arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let ran = run(arguments, environment);
    assert_eq!((ran.0, ran.2.as_str()), (code, ""), "{arguments:?}");
    ran.1
}

#[track_caller]
fn object(code: i32, arguments: &[&str], environment: &[(&str, &str)]) -> Value {
    let text = check_code(code, arguments, environment);
    assert_eq!((text.lines().count(), text.ends_with('\n')), (1, true));
    serde_json::from_str(&text).unwrap()
}

#[track_caller]
fn check_width(text: &str, width: usize) {
    let tables: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert!(!tables.is_empty());
    for line in tables {
        assert!(line.chars().count() <= width, "{line}");
    }
}

#[test]
fn env_shows_every_variable_with_the_value_in_force() {
    let text = check_code(0, &["env"], &[]);
    check_width(&text, 120);
    insta::assert_snapshot!("env", text);
}

#[test]
fn env_shows_what_is_set_and_what_is_wrong() {
    let text = check_code(1, &["env", "--set"], TROUBLED);
    check_width(&text, 120);
    insta::assert_snapshot!("env_set", text);
}

#[test]
fn env_fits_a_narrow_output() {
    let narrow = [TROUBLED, &[("COLUMNS", "80")]].concat();
    let text = check_code(1, &["env", "--set"], &narrow);
    check_width(&text, 80);
    insta::assert_snapshot!("env_narrow", text);
    for columns in ["60", "109", "110", "200"] {
        let width: usize = columns.parse().unwrap();
        let text = check_code(1, &["env"], &[TROUBLED, &[("COLUMNS", columns)]].concat());
        check_width(&text, width.max(80));
        assert_eq!(text.contains("| Default"), width >= 110);
    }
    for columns in ["", "0", "-1", "many", "99999999999999999999"] {
        check_code(1, &["env"], &[TROUBLED, &[("COLUMNS", columns)]].concat());
    }
}

#[test]
fn env_without_anything_set_shows_no_table() {
    assert_eq!(check_code(0, &["env", "--set"], &[]), "No findings\n");
}

#[test]
fn env_exits_with_1_from_a_warning_on() {
    check_code(0, &["env"], &[("TORCH_NEURONX_NEFF_CACHE_DIR", "")]); // a note
    check_code(1, &["env"], &[("TORCH_NEURONX_DEBUG_DIRS", "/scratch")]); // a warning
    check_code(1, &["env"], &[("TORCH_NEURONX_LOG_LEVEL", "loud")]); // an error
}

#[test]
fn env_json_has_a_row_for_each_variable() {
    let object = object(1, &["env", "--json"], TROUBLED);
    assert_eq!(object["schema"], 1);
    let rows = object["variables"].as_array().unwrap();
    assert_eq!(rows.len(), neuronx_mem::config::Variable::all().count());
    let row = rows.iter().find(|row| row["name"] == "TORCH_NEURONX_LOG_LEVEL").unwrap();
    let finding = json!({
        "kind": "bad_value",
        "severity": "error",
        "variable": "TORCH_NEURONX_LOG_LEVEL",
        "message": "TORCH_NEURONX_LOG_LEVEL: `9` is not in 0 to 3; the default 1 holds",
    });
    let expected = json!({
        "name": "TORCH_NEURONX_LOG_LEVEL",
        "group": "general",
        "page": "reference",
        "kind": "int",
        "default": "1",
        "value": "1",
        "source": "invalid",
        "honoured_by": row["honoured_by"],
        "problems": [finding],
    });
    assert_eq!(*row, expected);
    let findings = object["findings"].as_array().unwrap();
    assert!(findings.contains(&finding));
    let kinds: Vec<&str> = findings.iter().map(|finding| finding["kind"].as_str().unwrap()).collect();
    let expected =
        ["unknown_name", "renamed", "empty", "bad_value", "unknown_key", "host_collectives_without_streams"];
    assert_eq!(kinds, expected);
    let set = self::object(1, &["env", "--json", "--set"], TROUBLED);
    assert_eq!((set["variables"].as_array().unwrap().len(), &set["findings"]), (8, &object["findings"]));
}

#[test]
fn env_markdown_is_the_page_whatever_the_environment() {
    let page = root().join("docs/environment.md");
    let page = fs::read_to_string(page).unwrap();
    assert_eq!(check_code(0, &["env", "--markdown"], &[]), page);
    assert_eq!(check_code(0, &["env", "--markdown"], TROUBLED), page);
}

#[test]
fn config_shows_where_each_value_came_from() {
    insta::assert_snapshot!("config_default", check_code(0, &["config"], &[]));
    let text = "kMinRoundedSize=512,kRoundupPower2Divisions=8,kLargeSplitThreshold=1048576";
    insta::assert_snapshot!("config_environment", check_code(0, &["config", "show"], &[(CONFIG, text)]));
    // A string takes the place of the variable, key by key and as a whole.
    let shown = check_code(0, &["config", "kMediumSegmentSize=33554432"], &[(CONFIG, text)]);
    insta::assert_snapshot!("config_command_line", shown);
    assert_eq!(check_code(0, &["config", "show", ""], &[(CONFIG, text)]), check_code(0, &["config"], &[]));
}

#[test]
fn config_show_passes_over_what_is_wrong_and_says_so() {
    let (code, out, err) = run(&["config", "show", "kPoolBoundary=1MB,kMinRoundedSize=512"], &[]);
    assert_eq!((code, out), (0, check_code(0, &["config", "kMinRoundedSize=512"], &[])));
    assert_eq!(
        err,
        " WARN kPoolBoundary: `1MB` is ignored because sizes are plain bytes without a suffix; 1048576 was \
         probably meant\n"
    );
}

#[test]
fn config_json_has_the_keys_and_their_sources() {
    let shown = object(0, &["config", "show", "--json"], &[(CONFIG, "kMinRoundedSize=512")]);
    let parts = ["schema", "config", "config_hash", "findings"].map(|key| &shown[key]);
    let expected = [json!(1), json!("kMinRoundedSize=512"), json!("860ce03419883a55"), json!([])];
    assert_eq!(parts, expected.each_ref());
    let keys = shown["keys"].as_array().unwrap();
    assert_eq!(keys.len(), 11);
    let entry = |key: &str| keys.iter().find(|entry| entry["key"] == key).unwrap();
    let check = |key: &str, value: u64, source: &str, follows: Option<&str>| {
        let expected = json!({"key": key, "value": value, "source": source, "follows": follows});
        assert_eq!(*entry(key), expected);
    };
    check("kPoolBoundary", 1 << 20, "default", None);
    check("kMinRoundedSize", 512, "environment", None);
    check("kSmallSplitThreshold", 512, "follows", Some("kMinRoundedSize"));
    check("kMaxSplitSizeBytes", u64::MAX, "default", None);
    let shown = object(0, &["config", "--json", "kPoolBoundary=4096"], &[]);
    assert_eq!(shown["keys"][0]["source"], "command_line");
}

#[test]
fn config_lint_says_one_line_a_finding() {
    let text = "kPoolBoundary=1MB,,kMaxSplitSizeBytes=33554432,kFoo";
    let lines = check_code(1, &["config", "lint", text], &[]);
    insta::assert_snapshot!(lines, @r"
    error: kPoolBoundary: `1MB` is ignored because sizes are plain bytes without a suffix; 1048576 was probably meant
    warning: the item at byte 18 is empty
    error: `kFoo` is ignored because it has no `=`; items are key=value
    warning: kMaxSplitSizeBytes (33554432) is below kMediumSegmentSize (67108864): free blocks of a medium segment above it serve only requests of almost their size
    ");
    assert_eq!(check_code(1, &["config", "lint"], &[(CONFIG, text)]), lines);
    assert_eq!(check_code(0, &["config", "lint", "kMinRoundedSize=512"], &[(CONFIG, text)]), "no findings\n");
    let unset = "TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG is not set: the defaults hold\n";
    assert_eq!(check_code(0, &["config", "lint"], &[]), unset);
    assert_eq!(check_code(1, &["config", "lint", "kFoo=1,"], &[]).lines().count(), 2);
}

#[test]
fn config_lint_json_says_where() {
    let found = object(1, &["config", "lint", "--json", "kMinRoundedSize=512, kPoolBoundry=1"], &[]);
    let space = json!({
        "kind": "white_space",
        "severity": "warning",
        "key": null,
        "position": [20, 35],
        "message": "` kPoolBoundry=1`: white space around the key or the value is trimmed",
    });
    let key = json!({
        "kind": "unknown_key",
        "severity": "error",
        "key": null,
        "position": [21, 33],
        "message": "unknown key `kPoolBoundry` is ignored; did you mean `kPoolBoundary`?",
    });
    assert_eq!(found, json!({"schema": 1, "findings": [space, key]}));
    assert_eq!(object(0, &["config", "lint", "--json"], &[]), json!({"schema": 1, "findings": []}));
}

#[test]
fn garbage_is_findings() {
    let garbage = "x=%\u{7f},".repeat(20_000);
    let lines = check_code(1, &["config", "lint", &garbage], &[]);
    assert_eq!(lines.lines().count(), 65); // those about single items, and how many more there are
    assert!(lines.bytes().all(|byte| byte == b'\n' || !byte.is_ascii_control()));
    let (code, out, _) = run(&["config", "show", &garbage], &[]);
    assert_eq!((code, out), (0, check_code(0, &["config"], &[])));
    check_code(1, &["env"], &[(CONFIG, &garbage)]);
}

#[cfg(unix)]
#[test]
fn bytes_that_are_no_text_are_a_finding() {
    use std::os::unix::ffi::OsStrExt;

    let bytes = OsStr::from_bytes(b"kMinRoundedSize=5\xff");
    let mut argument = command(&["config", "lint"], &[]);
    argument.arg(bytes);
    let (code, out, err) = outcome(&mut argument).parts();
    let bad_value =
        "error: kMinRoundedSize: `5\u{fffd}` is ignored because it is not a plain decimal number\n";
    let first = "error: the string is not valid UTF-8; its bad bytes are read as U+FFFD\n";
    assert_eq!((code, out, err.as_str()), (1, format!("{first}{bad_value}"), ""));

    let mut variable = command(&["config", "lint"], &[]);
    variable.env(CONFIG, bytes);
    let (code, out, err) = outcome(&mut variable).parts();
    let first = format!("error: {CONFIG} is not valid UTF-8; its bad bytes are read as U+FFFD\n");
    assert_eq!((code, out, err.as_str()), (1, format!("{first}{bad_value}"), ""));

    let mut odd = command(&["env", "--set"], &[]);
    odd.env("TORCH_NEURONX_LOG_LEVEL", bytes).env(OsStr::from_bytes(b"NEURON_\xff\n"), "");
    let (code, out, err) = outcome(&mut odd).parts();
    assert_eq!((code, err.as_str()), (1, ""));
    assert!(out.contains("is not valid UTF-8") && out.contains("NEURON_\u{fffd}\\n"), "{out}");
}

#[test]
fn wrong_usage_is_one_line() {
    let check = |arguments: &[&str], message: &str| {
        let expected = format!("neuronx-mem: error: {message}\n");
        assert_eq!(run(arguments, &[]), (2, String::new(), expected), "{arguments:?}");
    };
    check(&["env", "x"], "unexpected argument 'x' found");
    check(&["env", "--markdown", "--json"], "the argument '--markdown' cannot be used with '--json'");
    check(&["env", "--set", "--markdown"], "the argument '--set' cannot be used with '--markdown'");
    check(&["config", "show", "a", "b"], "unexpected argument 'b' found");
    check(&["config", "lnit", "kFoo=1"], "the subcommand 'kFoo=1' cannot be used with '[STRING]'");
    check(&["config", "lint", "--bogus"], "unexpected argument '--bogus' found");
}

#[test]
fn the_verbs_have_help_with_an_example() {
    let help = check_code(0, &["--help"], &[]);
    for verb in ["env", "config"] {
        assert!(help.contains(&format!("\n  {verb} ")), "{help}");
        let help = check_code(0, &[verb, "--help"], &[]);
        assert!(help.contains(&format!("Example:\n  neuronx-mem {verb} ")), "{help}");
    }
    for action in ["show", "lint"] {
        let help = check_code(0, &["config", action, "--help"], &[]);
        assert!(help.contains(&format!("Example:\n  neuronx-mem config {action} ")), "{help}");
    }
}

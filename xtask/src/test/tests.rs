//! Names, flags, result lines and the output of `cargo`, each on small texts.

use std::path::PathBuf;
use std::time::Duration;

use super::binaries::{Binary, binary_of};
use super::examples::{Section, Splitter, attribute};
use super::outcome::{Outcome, Outcomes, result_of};
use super::selection::Selection;
use super::{Snapshots, line};
use super::{browser, python};
use crate::failure::Failure;
use crate::process::Captured;
use crate::workspace::Workspace;

const METADATA: &str = r#"{ "workspace_root": "/w", "packages": [
  { "id": "a", "name": "neuronx-mem", "version": "0.1.0", "manifest_path": "/w/crates/neuronx-mem/Cargo.toml" },
  { "id": "b", "name": "neuronx-mem-pool", "version": "0.1.0", "manifest_path": "/w/crates/pool/Cargo.toml",
    "metadata": { "xtask": { "test-features": ["serde"] } } },
  { "id": "c", "name": "neuronx-mem-tests", "version": "0.1.0", "manifest_path": "/w/tests/Cargo.toml" }
] }"#;

fn workspace() -> Workspace {
    Workspace::parse(METADATA.as_bytes()).unwrap()
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The `cargo` arguments of a command line.
#[track_caller]
fn check_selection(arguments: &str, expected: &str, snapshots: Snapshots) {
    let workspace = workspace();
    let selection = Selection::parse(&workspace, &words(arguments)).unwrap();
    assert_eq!(selection.cargo_arguments().join(" "), expected);
    assert_eq!(selection.snapshots(), snapshots);
}

#[track_caller]
fn check_refused(arguments: &str, message: &str) {
    let workspace = workspace();
    let failure = Selection::parse(&workspace, &words(arguments)).unwrap_err();
    assert_eq!(failure, Failure::Usage(message.to_owned()));
}

#[test]
fn names_work_with_and_without_prefix() {
    check_selection("", "--workspace --features neuronx-mem-pool/serde", Snapshots::Check);
    check_selection("neuronx-mem", "-p neuronx-mem", Snapshots::Check);
    let pool = "-p neuronx-mem-pool --features neuronx-mem-pool/serde";
    check_selection("pool", pool, Snapshots::Check);
    check_selection("neuronx-mem-pool --accept pool", pool, Snapshots::Accept);
    check_selection("--accept tests neuronx-mem", "-p neuronx-mem -p neuronx-mem-tests", Snapshots::Accept);
}

#[test]
fn unknown_names_and_flags_are_usage_errors() {
    check_refused(
        "pool attic",
        "no crate `attic`; the crates are neuronx-mem-pool, neuronx-mem, neuronx-mem-tests",
    );
    check_refused(
        "--fast",
        "`test` has no flag `--fast`; it has --accept, --python, --browser and --exhaustive",
    );
}

#[test]
fn result_lines_are_read() {
    let line =
        "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s";
    assert_eq!(result_of(line), Some((12, 0)));
    assert_eq!(result_of("test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured"), Some((1, 2)));
    assert_eq!(result_of("test result: ok. many passed"), None);
    assert_eq!(result_of("running 2 tests"), None);
}

#[track_caller]
fn check_run(success: bool, text: &str, passed: u64, failed: u64) {
    let run = Captured { success, text: text.to_owned(), elapsed: Duration::from_millis(5) };
    let expected = Outcome { passed, failed, elapsed: Duration::from_millis(5), output: text.to_owned() };
    assert_eq!(Outcome::of_run(run), expected);
}

#[test]
fn the_exit_code_has_the_last_word() {
    check_run(true, "test result: ok. 3 passed; 0 failed; 0 ignored\n", 3, 0);
    check_run(false, "test result: FAILED. 1 passed; 2 failed; 0 ignored\n", 1, 2);
    check_run(false, "test result: ok. 3 passed; 0 failed; 0 ignored\n", 3, 1);
    check_run(false, "memory allocation failed, aborted\n", 0, 1);
    check_run(true, "a main function of its own\n", 1, 0);
}

#[test]
fn outcomes_add_up_by_package() {
    let one = |passed, failed, text: &str| Outcome {
        passed,
        failed,
        elapsed: Duration::from_millis(250),
        output: text.to_owned(),
    };
    let mut outcomes = Outcomes::default();
    outcomes.add("neuronx-mem-pool", &one(2, 0, "a"));
    outcomes.add("neuronx-mem-pool", &one(1, 1, "b"));
    let pool = outcomes.take("neuronx-mem-pool");
    assert_eq!(pool.output, "ab");
    assert_eq!(
        line("neuronx-mem-pool", &pool),
        "neuronx-mem-pool           FAILED    0.50 s      3 passed, 1 failed"
    );
    assert_eq!(
        line("xtask", &outcomes.take("xtask")),
        "xtask                      ok        0.00 s      0 passed"
    );
    assert_eq!(pool.summary(), "3 passed, 1 failed");
}

#[test]
fn executables_are_read_from_messages() {
    let message = |reason: &str, kind: &str, test: bool, executable: &str| {
        format!(
            r#"{{"reason":"{reason}","package_id":"b","target":{{"kind":["{kind}"],"name":"t"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
        )
    };
    let binary = |is_test| Binary {
        package_id: "b".to_owned(),
        target: "t".to_owned(),
        is_test,
        executable: PathBuf::from("/t/t"),
    };
    let artifact = "compiler-artifact";
    assert_eq!(binary_of(&message(artifact, "lib", true, r#""/t/t""#)), Some(binary(true)));
    assert_eq!(binary_of(&message(artifact, "bin", false, r#""/t/t""#)), Some(binary(false)));
    assert_eq!(binary_of(&message(artifact, "example", false, r#""/t/t""#)), None);
    assert_eq!(binary_of(&message(artifact, "lib", false, "null")), None);
    assert_eq!(binary_of(&message("build-finished", "lib", true, r#""/t/t""#)), None);
    assert_eq!(binary_of("not json"), None);
}

#[test]
fn output_is_cut_at_the_headings() {
    let mut splitter = Splitter::default();
    let lines = [
        "    Finished dev",
        "   Doc-tests neuronx_mem",
        "running 1 test",
        "   Doc-tests neuronx_mem_pool",
        "x",
    ];
    for (seconds, line) in (1..).zip(lines) {
        splitter.push(line, Duration::from_secs(seconds));
    }
    let (preamble, sections) = splitter.finish(Duration::from_secs(9));
    assert_eq!(preamble, "    Finished dev\n");
    let section = |library: &str, text: &str, seconds| Section {
        library: library.to_owned(),
        text: text.to_owned(),
        elapsed: Duration::from_secs(seconds),
    };
    assert_eq!(
        sections,
        [section("neuronx_mem", "running 1 test\n", 2), section("neuronx_mem_pool", "x\n", 5)]
    );
}

/// Passed and failed by section, for the texts of two sections and the exit code.
#[track_caller]
fn check_attribution(texts: [&str; 2], success: bool, expected: [(u64, u64); 2]) {
    let section = |text: &str| Section { text: text.to_owned(), ..Section::default() };
    let outcomes = attribute(texts.map(section).into(), success, |_| "neuronx-mem".to_owned());
    let counts: Vec<(u64, u64)> = outcomes.iter().map(|(_, one)| (one.passed, one.failed)).collect();
    assert_eq!(counts, expected);
}

#[test]
fn examples_count_for_their_library() {
    let good = "test result: ok. 2 passed; 0 failed; 0 ignored\n";
    let bad = "test result: FAILED. 1 passed; 1 failed; 0 ignored\n";
    check_attribution([good, good], true, [(2, 0), (2, 0)]);
    check_attribution([bad, good], false, [(1, 1), (2, 0)]);
    check_attribution([good, "rustdoc stopped\n"], false, [(2, 0), (0, 1)]);
    // Merged examples print more than one result.
    check_attribution([&good.repeat(2), ""], true, [(4, 0), (0, 0)]);
}

#[test]
fn python_is_asked_only_when_wanted() {
    let workspace = workspace();
    let has_python = |text: &str| Selection::parse(&workspace, &words(text)).unwrap().has_python();
    assert!(!has_python("pool"));
    assert!(has_python("--python") && has_python("pool --python --accept"));
}

#[test]
fn a_browser_is_asked_only_when_wanted() {
    let workspace = Workspace::load().unwrap();
    let has_browser = |text: &str| Selection::parse(&workspace, &words(text)).unwrap().has_browser();
    assert!(!has_browser("pool --python"));
    assert!(has_browser("--browser") && has_browser("pool --browser --python"));
}

#[test]
fn closing_lines_of_node_are_read() {
    let check =
        |text: &str, success, expected| assert_eq!(browser::result_of(text, success), expected, "{text}");
    check("ok 1 - a\n# tests 3\n# pass 3\n# fail 0\n# cancelled 0\n", true, (3, 0));
    check("# tests 4\n# pass 2\n# fail 1\n# cancelled 1\n", false, (2, 2));
    check("# pass 3\n# fail 0\n", false, (3, 1));
    check("# tests 0\n# pass 0\n# fail 0\n", true, (0, 1));
    check("Error: no such file\n", false, (0, 1));
}

#[test]
fn closing_lines_of_python_are_read() {
    let check =
        |text: &str, success, expected| assert_eq!(python::result_of(text, success), expected, "{text}");
    check("..\nRan 14 tests in 8.155s\n\nOK\n", true, (14, 0));
    check("Ran 1 test in 0.1s\n\nOK (skipped=1)\n", true, (1, 0));
    check(
        "Ran 14 tests in 8.1s\n\nFAILED (failures=1, errors=2, skipped=1)\nexit status: 1\n",
        false,
        (11, 3),
    );
    check("Ran 2 tests in 8.1s\n\nFAILED (failures=7)\n", false, (0, 7));
    check("Ran 3 tests in 8.1s\n\nOK\nsignal: 11\n", false, (2, 1));
    check("Ran 0 tests in 0.0s\n\nOK\n", true, (0, 1));
    check("No module named unittest\n", false, (0, 1));
}

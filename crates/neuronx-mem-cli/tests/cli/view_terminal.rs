//! `view --terminal` from outside, where standard output is no terminal.

use serde_json::Value;

use crate::support::{in_root, outcome, outcome_with_input};

const GPT2: &str = "tests/data/traces/gpt2_bf16.csv.zst";
const OOM: &str = "tests/data/snapshots/oom.pickle";

/// One screen for a pipe, of so many columns and rows.
#[track_caller]
fn screen(input: &str, size: &[(&str, &str)]) -> String {
    let mut command = in_root(&["view", "--terminal", input]);
    command.env_remove("COLUMNS").env_remove("LINES").envs(size.iter().copied());
    let ran = outcome(&mut command);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{input}");
    assert!(!ran.out.contains('\u{1b}'), "no escape codes in a pipe");
    ran.out
}

#[test]
fn a_pipe_gets_one_screen() {
    insta::assert_snapshot!(screen(OOM, &[("COLUMNS", "80"), ("LINES", "24")]));
    let of = |size: &[(&str, &str)]| {
        let text = screen(GPT2, size);
        let width = text.lines().map(|line| line.chars().count()).max().unwrap();
        (width, text.lines().count())
    };
    assert_eq!(of(&[]), (100, 40));
    assert_eq!(of(&[("COLUMNS", "140"), ("LINES", "30")]), (140, 30));
    assert_eq!(of(&[("COLUMNS", "wide"), ("LINES", "0")]), (100, 40));
}

#[test]
fn the_peak_is_the_one_of_replay() {
    let replay = outcome(&mut in_root(&["replay", GPT2, "--json"]));
    let report: Value = serde_json::from_str(&replay.out).unwrap();
    let peak = report["allocated_peak"].as_u64().unwrap();
    assert_eq!(peak, 10_154_600_960);
    assert!(screen(GPT2, &[]).contains("peak 10,154,600,960 bytes at event 3,172"));
}

#[test]
fn standard_input_is_read_and_options_of_a_replay_hold() {
    let command = in_root(&["view", "--terminal", "-", "--memory", "160MiB"]);
    let ran = outcome_with_input(command, b"a,1,67108864,0\na,2,67108864,0\na,3,134217728,0\n");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.contains("3 events \u{b7} 1 out of memory"), "{}", ran.out);
}

#[test]
fn what_cannot_be_shown_is_refused() {
    for arguments in [vec!["--terminal", OOM, "-o", "page.html"], vec!["--terminal", OOM, "--serve", "0"]] {
        let ran = outcome(&mut in_root(&[vec!["view"], arguments].concat()));
        assert_eq!((ran.code, ran.out.as_str()), (2, ""));
        assert!(ran.err.contains("'--terminal' cannot be used with"), "{}", ran.err);
    }
    let ran = outcome(&mut in_root(&["view", "--terminal", "tests/data/nowhere.csv"]));
    assert_eq!((ran.code, ran.out.as_str(), ran.err.lines().count()), (2, "", 1));
}

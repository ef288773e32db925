//! `explain`, `diff`, `leaks` and `merge` from outside: what they print, and how they exit.

use std::fs;

use serde_json::Value;

use crate::support::{Folder, Ran, in_root, outcome, root};

const GPT2: &str = "tests/data/traces/gpt2_bf16.csv.zst";
const GPT2_STACKS: &str = "tests/data/traces/gpt2_bf16.jsonl.gz";
const MOE: &str = "tests/data/traces/moe_train.csv.zst";
const OOM: &str = "tests/data/snapshots/oom.pickle";

fn run(arguments: &[&str]) -> Ran {
    let mut command = in_root(arguments);
    command.env("COLUMNS", "100");
    outcome(&mut command)
}

/// What is printed with this exit code, and nothing on standard error.
#[track_caller]
fn printed(code: i32, arguments: &[&str]) -> String {
    let ran = run(arguments);
    assert_eq!((ran.code, ran.err.as_str()), (code, ""), "{arguments:?}");
    ran.out
}

#[track_caller]
fn object(code: i32, arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(code, &[arguments, &["--json"]].concat())).unwrap()
}

#[track_caller]
fn check_refused(arguments: &[&str], message: &str) {
    let ran = run(arguments);
    assert_eq!(ran.err, format!("neuronx-mem: error: {message}\n"));
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
}

/// A trace that leaks 1 MiB in every step.
const LEAKY: &str = "\
m,step 0\na,1,1048576,0\na,100,4096,0\nf,100\nm,step 1\na,2,1048576,0\nm,step 2\na,3,1048576,0\n\
m,step 3\na,4,1048576,0\nm,step 4\na,5,1048576,0\nm,step 5\na,6,1048576,0\nm,step 6\na,7,1048576,0\n";

#[test]
fn explain_of_a_trace_at_its_peak() {
    insta::assert_snapshot!("explain_peak", printed(0, &["explain", GPT2_STACKS, "--top", "2"]));
}

#[test]
fn explain_of_a_trace_that_runs_out_of_memory() {
    let arguments = ["explain", GPT2, "--memory", "8GiB", "--top", "3"];
    insta::assert_snapshot!("explain_out_of_memory", printed(1, &arguments));
}

#[test]
fn explain_of_a_snapshot_with_a_request() {
    let arguments = ["explain", OOM, "--need", "300MiB", "--memory", "2200MiB", "--top", "3"];
    insta::assert_snapshot!("explain_snapshot", printed(1, &arguments));
}

#[test]
fn explain_names_the_streams_to_wait_for() {
    let arguments = ["explain", "tests/data/snapshots/multi_stream.pickle", "--need", "64MiB", "--top", "1"];
    insta::assert_snapshot!("explain_streams", printed(0, &arguments));
}

#[test]
fn explain_json_has_the_documented_keys() {
    let explained = object(1, &["explain", GPT2, "--memory", "8GiB"]);
    assert_eq!(explained["schema"], 1);
    assert_eq!(explained["oom"], true);
    let segments = explained["segments"].as_array().unwrap();
    let sum = |key: &str| segments.iter().map(|segment| segment[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!(explained["reserved"], sum("size"));
    assert_eq!(explained["allocated"], sum("live_bytes"));
    assert_eq!(explained["cached_free"], sum("free_bytes"));
    let block = &segments[0]["blocks"][0];
    for key in ["address", "size", "age_events", "stream"] {
        assert!(block[key].is_u64(), "{key}");
    }
    assert!(block["stack"].is_array() && segments[0]["pool"].is_string());
    assert!(explained["need"].is_u64());
    let released: u64 =
        explained["release"].as_array().unwrap().iter().map(|block| block["size"].as_u64().unwrap()).sum();
    assert_eq!(explained["release_bytes"], released);
    assert_eq!(explained["release_bound"], released);
}

#[test]
fn explain_without_a_request_has_no_release() {
    let explained = object(0, &["explain", "tests/data/snapshots/small_history.pickle"]);
    assert_eq!((&explained["need"], &explained["release"]), (&Value::Null, &Value::Null));
    let stack = &explained["segments"][0]["blocks"];
    assert!(stack.is_array());
}

#[test]
fn explain_can_have_the_fewest_blocks() {
    let folder = Folder::new();
    // One tensor of 24 MiB, and three of 4 MiB between free ones of 4 MiB.
    let text = "a,1,25165824,0\na,2,4194304,0\na,3,4194304,0\na,4,4194304,0\na,5,4194304,0\na,6,4194304,0\n\
                f,3\nf,5\n";
    let path = folder.file("t.csv", text);
    let ask = |least: &str| {
        let path = &path;
        object(1, &["explain", path, "--at", "end", "--memory", "88MiB", "--need", "62MiB", "--least", least])
    };
    let (bytes, blocks) = (ask("bytes"), ask("blocks"));
    assert_eq!(bytes["release"].as_array().unwrap().len(), 3);
    assert_eq!(bytes["release_bytes"], 12 << 20);
    assert_eq!(blocks["release_bound"], blocks["release"].as_array().unwrap().len());
}

#[test]
fn diff_of_a_trace_with_itself_is_empty() {
    insta::assert_snapshot!("diff_same", printed(0, &["diff", MOE, MOE]));
    let same = object(0, &["diff", MOE, MOE]);
    assert_eq!((&same["same"], &same["groups"]), (&Value::Bool(true), &Value::Array(Vec::new())));
}

#[test]
fn diff_of_two_runs() {
    let (a, b) = ("tests/data/snapshots/small_history.pickle", "tests/data/snapshots/annotations.pickle");
    insta::assert_snapshot!("diff", printed(0, &["diff", a, b, "--top", "3"]));
    let diff = object(0, &["diff", a, b]);
    let groups = diff["groups"].as_array().unwrap();
    let sum: i64 = groups.iter().map(|group| group["peak_change"].as_i64().unwrap()).sum();
    assert_eq!(diff["peak_change"], sum);
    assert_eq!(sum, diff["b"]["peak"].as_i64().unwrap() - diff["a"]["peak"].as_i64().unwrap());
}

#[test]
fn leaks_that_are_planted() {
    let folder = Folder::new();
    let path = folder.file("leaky.csv", LEAKY);
    let text = printed(1, &["leaks", &path]);
    insta::assert_snapshot!("leaks", text.replace(folder.name(), "FOLDER"));
    let leaks = object(1, &["leaks", &path]);
    assert_eq!(leaks["leaks"].as_array().unwrap().len(), 1);
    assert_eq!(leaks["leaks"][0]["bytes_per_step"], 1_048_576.0);
}

#[test]
fn leaks_where_there_are_none() {
    insta::assert_snapshot!("leaks_none", printed(0, &["leaks", "tests/data/traces/varlen_ft.csv.zst"]));
    insta::assert_snapshot!(
        "leaks_growth",
        printed(0, &["leaks", "tests/data/traces/llama7b_decode.csv.zst"])
    );
    insta::assert_snapshot!("leaks_few_steps", printed(0, &["leaks", GPT2]));
}

#[test]
fn merge_of_three_ranks() {
    let folder = Folder::new();
    for (rank, bytes) in [(0, 8 << 20), (1, 8 << 20), (10, 12 << 20)] {
        let text = format!("m,init\na,1,4194304,0\nm,step 0\na,2,{bytes},0\nf,2\nm,step 1\na,3,64,0\n");
        folder.file(&format!("rank{rank}.csv"), &text);
    }
    let directory = folder.name();
    insta::assert_snapshot!("merge", printed(0, &["merge", directory]));
    let merged = object(0, &["merge", directory]);
    assert_eq!(merged["ranks"][2]["rank"], 10);
    assert_eq!(merged["outliers"][0]["rank"], 10);
    assert_eq!(merged["divergence"]["allocation"], 2);
    assert_eq!(merged["divergence"]["variants"][0]["ranks"], serde_json::json!([0, 1]));
}

#[test]
fn every_sample_and_trace_is_explained() {
    let root = root().join("tests/data");
    let mut n_inputs = 0;
    for folder in ["snapshots", "traces"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let name = format!("tests/data/{folder}/{}", entry.unwrap().file_name().to_str().unwrap());
            let explained = object(0, &["explain", &name]);
            assert!(explained["reserved"].as_u64().unwrap() > 0, "{name}");
            assert_eq!(object(0, &["diff", &name, &name])["same"], true, "{name}");
            let leaks = object(0, &["leaks", &name, "--every", "500"]);
            assert!(leaks["leaks"].as_array().unwrap().is_empty(), "{name}: {leaks}");
            n_inputs += 1;
        }
    }
    assert_eq!(n_inputs, 16);
}

#[test]
fn names_from_a_file_do_no_harm_to_a_terminal() {
    let folder = Folder::new();
    let long = "x".repeat(1 << 20);
    let text = format!("m,\u{1b}[31m\u{202e}evil {long}\na,1,4194304,0\na,2,64,0\n");
    let path = folder.file("t.csv", &text);
    let ran = run(&["explain", &path]);
    if ran.code == 2 {
        assert!(ran.err.contains("longer than"), "{}", ran.err);
    }
    let text = "m,\u{1b}[31m\u{202e}evil\na,1,4194304,0\n";
    let path = folder.file("u.csv", text);
    let out = printed(0, &["explain", &path]);
    assert!(!out.contains(['\u{1b}', '\u{202e}']) && out.contains("?[31m?evil"), "{out}");
}

#[test]
fn wrong_usage_and_unreadable_input_are_refused() {
    let missing = "missing.csv: cannot be opened: No such file or directory (os error 2)";
    for verb in ["explain", "leaks"] {
        check_refused(&[verb, "missing.csv"], missing);
    }
    check_refused(&["diff", "missing.csv", GPT2], missing);
    check_refused(&["merge", "missing"], "missing: cannot be listed: No such file or directory (os error 2)");
    check_refused(
        &["explain", OOM, "--at", "peak"],
        "tests/data/snapshots/oom.pickle: a snapshot shows the moment when it was taken and no other",
    );
    check_refused(
        &["explain", GPT2, "--at", "99999"],
        "tests/data/traces/gpt2_bf16.csv.zst: event 99999 is not reached: there are 9881",
    );
    check_refused(
        &["explain", GPT2, "--device", "3"],
        "tests/data/traces/gpt2_bf16.csv.zst: device 3 has neither events nor segments",
    );
    check_refused(
        &["leaks", "tests/data/snapshots/oom.pickle"],
        "tests/data/snapshots/oom.pickle: has no step marks and no synchronisations: say how many events a \
         step has with --every",
    );
    let folder = Folder::new();
    let path = folder.file("t.jsonl", "{\"ev\":\"alloc\",\"id\":1,\"bytes\":64}\n{\"ev\":\"jump\"}\n");
    let path = &path;
    check_refused(&["explain", path], &format!("{path}: line 2: unknown event `jump`"));
}

#[test]
fn help_has_an_example() {
    for verb in ["explain", "diff", "leaks", "merge"] {
        insta::assert_snapshot!(format!("help_{verb}"), printed(0, &[verb, "--help"]));
    }
}

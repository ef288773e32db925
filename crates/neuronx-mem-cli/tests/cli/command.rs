//! The command from outside: what it prints where, and how it exits.

use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;

use flate2::Compression;
use flate2::write::GzEncoder;
use neuronx_mem::AllocatorConfig;
use neuronx_mem::config::Severity;
use serde_json::{Value, json};

use crate::support::{CONFIG, Ran, in_root, outcome, outcome_with_input, root};

const GPT2: &str = "tests/data/traces/gpt2_bf16.csv.zst";
const VARLEN: &str = "tests/data/traces/varlen_ft.csv.zst";
const DEFAULT_HASH: &str = "e939a3364c620515";

fn run(arguments: &[&str]) -> Ran {
    outcome(&mut in_root(arguments))
}

fn run_with_input(arguments: &[&str], input: &[u8]) -> Ran {
    outcome_with_input(in_root(arguments), input)
}

#[track_caller]
fn check_done(arguments: &[&str]) -> String {
    let ran = run(arguments);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{arguments:?}");
    ran.out
}

/// Exit code 2, nothing on standard output, one line on standard error.
#[track_caller]
fn check_refused(ran: Ran, message: &str) {
    assert_eq!(ran.err, format!("neuronx-mem: error: {message}\n"));
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
}

/// The object without its time, which differs from run to run.
#[track_caller]
fn object(text: &str) -> Value {
    let mut object: Value = serde_json::from_str(text).unwrap();
    if let Some(elapsed) = object.as_object_mut().unwrap().remove("elapsed_ns") {
        assert!(elapsed.is_u64());
    }
    object
}

fn figures(events: u64) -> Value {
    json!({
        "events": events,
        "config_hash": DEFAULT_HASH,
        "device_total": 25_769_803_776u64,
        "requested_peak": 10_103_844_648u64,
        "allocated_peak": 10_154_600_960u64,
        "reserved_peak": 10_617_880_576u64,
        "active_peak": 10_103_844_648u64,
        "allocated": 0,
        "reserved": 10_617_880_576u64,
        "active": 0,
        "segments_allocated": 97,
        "segments_released": 0,
        "num_ooms": 0,
        "num_alloc_retries": 0,
        "num_device_alloc": 97,
        "oom": null,
    })
}

fn with(mut object: Value, more: Value) -> Value {
    object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    object
}

#[test]
fn replay_prints_the_summary_and_the_peaks() {
    insta::assert_snapshot!("replay", check_done(&["replay", GPT2]));
}

#[test]
fn replay_says_what_differs_from_the_defaults() {
    let arguments = [
        "replay",
        GPT2,
        "--config",
        "kRoundupPower2Divisions=8",
        "--device",
        "trn3",
        "--lnc",
        "1",
        "--until",
        "4000",
    ];
    insta::assert_snapshot!("replay_with_options", check_done(&arguments));
}

#[test]
fn replay_out_of_memory_prints_why_and_exits_with_1() {
    let ran = run(&["replay", GPT2, "--memory", "8GiB"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    insta::assert_snapshot!("replay_out_of_memory", ran.out);
}

#[test]
fn compare_prints_a_row_a_configuration() {
    let configs = ["--config", "kMediumSegmentSize=33554432", "--config", "kRoundupPower2Divisions=16"];
    insta::assert_snapshot!("compare", check_done(&[&["compare", VARLEN], configs.as_slice()].concat()));
}

#[test]
fn compare_says_where_a_configuration_ran_out_of_memory() {
    let arguments = ["compare", VARLEN, "--config", "kMaxSplitSizeBytes=67108864", "--memory", "11.5GiB"];
    insta::assert_snapshot!("compare_out_of_memory", check_done(&arguments));
}

#[test]
fn replay_json_has_exactly_the_documented_keys() {
    let text = check_done(&["replay", GPT2, "--json"]);
    assert_eq!(text.lines().count(), 1);
    // At the peak: free = total - allocated, the largest region is all that no segment covers,
    // internal = allocated - active, and nothing lies in between.
    let analysis = json!({
        "total": 25_769_803_776u64,
        "reserved": 10_617_880_576u64,
        "free": 25_769_803_776u64 - 10_154_600_960,
        "largest_free": 25_769_803_776u64 - 10_617_880_576,
        "internal_fragmentation": 10_154_600_960u64 - 10_103_844_648,
        "external_fragmentation": 0,
        "fragmentation_index": 50_756_312.0 / 15_615_202_816.0,
        "memory_density": 1.0,
    });
    let more = json!({"schema": 1, "input": GPT2, "analysis": analysis});
    assert_eq!(object(&text), with(figures(9881), more));
    assert!(serde_json::from_str::<Value>(&text).unwrap()["elapsed_ns"].as_u64().unwrap() > 0);
}

#[test]
fn replay_json_out_of_memory_has_the_numbers() {
    let ran = run(&["replay", GPT2, "--json", "--memory", "8589934592"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    let object = object(&ran.out);
    assert_eq!((&object["events"], &object["num_ooms"]), (&json!(617), &json!(1)));
    let oom = &object["oom"];
    let message = "Neuron out of memory: tried to allocate 1.53 GiB on device 0: total 8.00 GiB, ";
    assert!(oom["message"].as_str().unwrap().starts_with(message));
    let expected = [
        ("event", 618),
        ("line", 624),
        ("requested", 1_646_821_376u64),
        ("rounded", 1_646_821_376),
        ("segment", 1_648_361_472),
        ("device_total", 8_589_934_592),
        ("reserved", 7_321_157_632),
        ("allocated", 7_153_697_792),
        ("active", 7_135_984_480),
        ("cached_free", 167_459_840),
        ("largest_free", 60_817_408),
        ("used_by_others", 0),
    ];
    for (key, value) in expected {
        assert_eq!(oom[key], json!(value), "{key}");
    }
    assert_eq!(oom["pending"], json!([]));
    let steps = json!([
        {"kind": "wait_for_other_streams", "gained": 0},
        {"kind": "release_segments", "gained": 0},
    ]);
    assert_eq!(oom["steps"], steps);
    assert_eq!(
        (&oom["nearest_miss"]["reason"], &oom["nearest_miss"]["size"]),
        (&json!("too_small"), &json!(60_817_408))
    );
}

#[test]
fn compare_json_has_the_rows_in_order_and_the_best() {
    // The defaults come first when they were not named, and where they were named otherwise.
    for defaults in ["default", "", " ", "kPoolBoundary=1048576"] {
        let text =
            check_done(&["compare", GPT2, "--json", "--config", "kMinRoundedSize=512", "--config", defaults]);
        let object = object(&text);
        assert_eq!((&object["schema"], &object["best"]), (&json!(1), &json!(0)));
        let rows = object["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0]["config"], "kMinRoundedSize=512");
        assert_eq!(rows[0]["allocated_peak"], 10_154_607_616u64);
        assert_eq!(rows[1], with(figures(9881), json!({"config": ""})));
    }
    let object = object(&check_done(&["compare", GPT2, "--json", "--config", "kMinRoundedSize=512"]));
    let configs: Vec<_> = object["rows"].as_array().unwrap().iter().map(|row| &row["config"]).collect();
    assert_eq!(configs, ["", "kMinRoundedSize=512"]);
}

#[test]
fn compare_exits_with_1_when_every_configuration_runs_out_of_memory() {
    let ran = run(&["compare", GPT2, "--memory", "1GiB", "--config", "default", "--json"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    assert_eq!(object(&ran.out)["rows"][0]["num_ooms"], 1);
}

#[test]
fn the_environment_applies_without_the_option_and_is_named() {
    let variable = "kMinRoundedSize=512,kFoo=1";
    let ran = outcome(in_root(&["replay", GPT2]).env(CONFIG, variable));
    assert_eq!(ran.code, 0);
    let line = format!("Config:            kMinRoundedSize=512 (from {CONFIG})\n");
    assert!(ran.out.contains(&line), "{}", ran.out);
    // A wrong item is what it is to the program whose variable it is: a warning.
    assert!(
        ran.err.starts_with(" WARN ") && ran.err.contains("kFoo") && ran.err.lines().count() == 1,
        "{}",
        ran.err
    );

    let arguments = ["replay", GPT2, "--config", "kMinRoundedSize=1024"];
    let ran = outcome(in_root(&arguments).env(CONFIG, variable));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.contains("Config:            kMinRoundedSize=1024 (from --config)\n"));
    let arguments = ["replay", GPT2, "--config", "default"];
    let ran = outcome(in_root(&arguments).env(CONFIG, variable));
    assert!(ran.out.contains("Config:            default (from --config)\n"));
}

#[test]
fn a_dangerous_configuration_is_a_warning() {
    let text = "kMaxSplitSizeBytes=33554432,";
    let ran = run(&["replay", GPT2, "--until", "10", "--config", text]);
    assert_eq!(ran.code, 0);
    let findings = AllocatorConfig::parse(text).findings;
    assert_eq!(findings.len(), 2); // an empty item, and a limit below the medium segment size
    let expected: String =
        findings.iter().map(|finding| format!(" WARN --config `{text}`: {finding}\n")).collect();
    assert_eq!(ran.err, expected);
}

#[test]
fn a_wrong_configuration_names_the_item() {
    for (text, item) in [
        ("kPoolBoundry=1", "kPoolBoundry"),
        ("kMinRoundedSize=512,kPoolBoundary=1MB", "1MB"),
        ("kMaxSplitSizeBytes=33554432,kRoundupPower2Divisions=65", "65"),
        ("kMinRoundedSize", "kMinRoundedSize"),
    ] {
        let findings = AllocatorConfig::parse(text).findings;
        let finding = findings.iter().find(|finding| finding.severity() == Severity::Error).unwrap();
        assert!(finding.to_string().contains(item));
        let expected = format!("--config `{text}`: {finding}");
        check_refused(run(&["replay", GPT2, "--config", text]), &expected);
        check_refused(run(&["compare", GPT2, "--config", text]), &expected);
    }
}

#[test]
fn wrong_usage_is_one_line() {
    let check = |arguments: &[&str], message: &str| check_refused(run(arguments), message);
    check(&["replay"], "the following required arguments were not provided: <INPUT>");
    check(&["compare", GPT2], "the following required arguments were not provided: --config <KEY=VALUE,…>");
    check(&["bogus"], "unrecognized subcommand 'bogus'");
    check(&["replay", GPT2, "--bogus"], "unexpected argument '--bogus' found");
    check(&["replay", GPT2, GPT2], &format!("unexpected argument '{GPT2}' found"));
    let chips = "[possible values: trn1, inf2, trn2, trn3]";
    check(
        &["replay", GPT2, "--device", "gpu"],
        &format!("invalid value 'gpu' for '--device <DEVICE>' {chips}"),
    );
    check(&["replay", GPT2, "--lnc", "3"], "invalid value '3' for '--lnc <N>' [possible values: 1, 2]");
    let memory = |size: &str, reason: &str| {
        let message = format!("invalid value '{size}' for '--memory <SIZE>': {reason}");
        check(&["replay", GPT2, &format!("--memory={size}")], &message);
    };
    memory("0", "a size must be more than 0 bytes");
    memory("0.5", "a size must be a whole number of bytes");
    memory("16EiB", "a size must fit 64 bits");
    let not_a_size = "a size is whole bytes such as 25769803776, or a number and a unit such as 24GiB";
    memory("-1", not_a_size);
    memory("lots", not_a_size);
    let until = "invalid value '0' for '--until <EVENT>': 0 is not in 1..18446744073709551615";
    check(&["replay", GPT2, "--until", "0"], until);
    let in_flight = "invalid value 'some' for '--in-flight <N>': invalid digit found in string";
    check(&["replay", GPT2, "--in-flight", "some"], in_flight);
}

#[test]
fn no_verb_is_answered_with_the_help() {
    let ran = run(&[]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("Usage: neuronx-mem <COMMAND>"));
}

#[test]
fn every_verb_has_help_with_an_example() {
    let help = check_done(&["--help"]);
    assert!(help.contains("Exit codes: 0 done, 1 the answer is no"));
    for verb in ["replay", "compare", "convert"] {
        assert!(help.contains(&format!("  {verb}")));
        let help = check_done(&[verb, "--help"]);
        assert!(help.contains(&format!("Example:\n  neuronx-mem {verb} train.csv.zst")), "{help}");
    }
    assert_eq!(check_done(&["--version"]), format!("neuronx-mem {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn unreadable_input_is_one_line() {
    for verb in [vec!["replay"], vec!["compare", "--config", "default"]] {
        let run = |input: &str| run(&[verb.as_slice(), &[input]].concat());
        let ran = run("no/such/trace.csv");
        assert_eq!((ran.code, ran.out.as_str(), ran.err.lines().count()), (2, "", 1));
        assert!(
            ran.err.starts_with("neuronx-mem: error: no/such/trace.csv: cannot be opened: "),
            "{}",
            ran.err
        );
        check_refused(run("tests/data"), "tests/data: is a directory, not a trace");
        let jsonl = "tests/data/traces/gpt2_bf16.jsonl.gz";
        check_refused(run(jsonl), &format!("{jsonl}: line 1: unknown event `{{\"name\": \"gpt2_bf16\"`"));
    }
}

#[cfg(unix)]
#[test]
fn devices_are_no_traces_and_end_at_once() {
    check_refused(run(&["replay", "/dev/null"]), "/dev/null: holds no events");
    check_refused(run(&["replay", "/dev/zero"]), "/dev/zero: line 1: longer than 65536 bytes");
    check_refused(
        run(&["compare", "/dev/zero", "--config", ""]),
        "/dev/zero: line 1: longer than 65536 bytes",
    );
}

#[test]
fn a_wrong_trace_on_standard_input_is_one_line_with_its_place() {
    let check = |input: &[u8], message: &str| {
        check_refused(run_with_input(&["replay", "-"], input), message);
        check_refused(run_with_input(&["compare", "-", "--config", "default"], input), message);
    };
    check(b"", "-: holds no events");
    check(b"a,1,512,0\0\n", "-: line 1: stream `0\\0` is not a decimal number");
    check(b"\0\0\0\0", "-: line 1: unknown event `\\0\\0\\0\\0`");
    check(b"\x80\x04\x95\n", "-: truncated pickle: FRAME at byte 2 needs 8 bytes, 1 left");
    check(b"a\x80\n", "-: line 1: not UTF-8 text from byte 2 on");
    check(b"a,1,512,0\nf,1\nf,1\n", "-: line 3: id 1 is freed but not live");
    check(b"s\na,1,99999999999999999999,0\n", "-: line 2: bytes `99999999999999999999` does not fit 64 bits");
    check(
        b"a,1,18446744073709551615,0\n",
        "-: line 1: request of 18446744073709551615 bytes is too large for any device",
    );
    let whole = fs::read(root().join(GPT2)).unwrap();
    check(&whole[..5000], "-: compressed data ends early, after line 1834");
}

#[test]
fn a_trace_is_read_from_standard_input_in_any_format() {
    let text = b"# name: tiny\r\na,1,4194304,0\r\na,2,8388608,0\r\nf,1\r\n";
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(text).unwrap();
    for input in [text.to_vec(), gzip.finish().unwrap()] {
        let ran = run_with_input(&["replay", "--json", "-"], &input);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        let object = object(&ran.out);
        assert_eq!((&object["input"], &object["events"]), (&json!("-"), &json!(3)));
        assert_eq!(
            (&object["allocated_peak"], &object["allocated"]),
            (&json!(12_582_912), &json!(8_388_608))
        );
    }
}

#[test]
fn a_lenient_replay_says_what_it_left_out() {
    let text = b"x\na,1,512,0\nf,2\nf,1\n";
    let ran = run_with_input(&["replay", "-", "--lenient"], text);
    assert_eq!(ran.code, 0);
    let skipped = "2 (unknown event 1, free of a tensor not live 1)";
    assert_eq!(ran.err, format!(" WARN -: wrong lines skipped: {skipped}\n"));
    assert!(ran.out.contains(&format!("\nLines skipped:     {skipped}\n")), "{}", ran.out);
    let ran = run_with_input(&["replay", "-", "--lenient", "--json"], text);
    assert_eq!((ran.code, &object(&ran.out)["events"]), (0, &json!(2)));
}

#[test]
fn work_in_flight_shows_as_pending() {
    let ran = run_with_input(&["replay", "-", "--in-flight", "2"], b"a,1,4194304,0\nf,1\n");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.contains("\nFree pending:      4,194,304 bytes (4.0 MiB)\n"), "{}", ran.out);
}

#[test]
fn a_reader_that_goes_early_gets_no_complaint() {
    for arguments in [vec!["replay", GPT2], vec!["replay", "--help"], vec!["replay", GPT2, "--json"]] {
        let mut child = in_root(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = in_root(&["replay", GPT2]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stderr.starts_with(b"neuronx-mem: error: standard output: "));
}

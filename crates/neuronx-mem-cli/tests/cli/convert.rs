//! `convert`, `replay --snapshot` and snapshots as inputs, from outside.

use std::fs;
use std::process::Output;

use neuronx_mem::snapshot::{Action, Limits, Snapshot, TraceEntry};
use serde_json::Value;

use crate::support::{Folder, in_root, output_with_input, root};

const SMALL: &str = "tests/data/snapshots/small_history.pickle";
const TINY: &str = "# name: tiny\na,1,4194304,0\na,2,1000,7\nm,step 1\nf,1\n";

fn run(arguments: &[&str]) -> Output {
    in_root(arguments).output().unwrap()
}

fn run_with_input(arguments: &[&str], input: &[u8]) -> Output {
    output_with_input(in_root(arguments), input)
}

#[track_caller]
fn check_done(output: Output) -> Vec<u8> {
    assert_eq!((output.status.code(), str::from_utf8(&output.stderr).unwrap()), (Some(0), ""));
    output.stdout
}

/// Converts a file and says nothing.
#[track_caller]
fn convert(input: &str, output: &str) {
    assert_eq!(check_done(run(&["convert", input, "-o", output])), b"");
}

/// Exit code 2, nothing on standard output, one line on standard error.
#[track_caller]
fn check_refused(output: Output, message: &str) {
    let err = str::from_utf8(&output.stderr).unwrap();
    assert_eq!(err, format!("neuronx-mem: error: {message}\n"));
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), b"".as_slice()));
}

/// As [`check_refused`], for a message that the input decides.
#[track_caller]
fn check_one_line(output: Output, what: &str) {
    let err = str::from_utf8(&output.stderr).unwrap();
    assert_eq!((output.status.code(), err.lines().count()), (Some(2), 1), "{what}: {err}");
    assert!(err.starts_with("neuronx-mem: error: ") && output.stdout.is_empty(), "{what}: {err}");
}

fn snapshot(path: &str) -> Snapshot {
    Snapshot::read_file(path, &Limits::default()).unwrap()
}

#[test]
fn a_snapshot_survives_both_formats_in_both_directions() {
    let folder = Folder::new();
    let (json, pickle) = (folder.path("a.json"), folder.path("b.pickle"));
    for sample in fs::read_dir(root().join("tests/data/snapshots")).unwrap() {
        let sample = sample.unwrap().path().to_str().unwrap().to_owned();
        convert(&sample, &json);
        convert(&json, &pickle);
        assert!(fs::read(&json).unwrap().starts_with(b"{") && fs::read(&pickle).unwrap()[0] == 0x80);
        assert!(snapshot(&pickle) == snapshot(&sample), "{sample}");
    }
    assert_eq!(folder.names(), ["a.json", "b.pickle"]);
}

#[test]
fn a_trace_is_compressed_by_the_name_of_the_output() {
    let folder = Folder::new();
    let input = folder.file("in.csv", "# name=tiny\r\n\r\na,1,4194304,0\r\na,2,1000,7\r\nm,step 1\r\nf,1");
    let mut input = input.as_str();
    let outputs = ["1.csv", "2.csv.gz", "3.csv.zst", "4.csv"].map(|name| folder.path(name));
    for output in &outputs {
        convert(input, output);
        input = output;
    }
    for (output, start) in outputs.iter().zip([b"# n".as_slice(), b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"# n"]) {
        assert!(fs::read(output).unwrap().starts_with(start), "{output}");
    }
    assert_eq!(fs::read_to_string(&outputs[3]).unwrap(), TINY);
}

#[test]
fn a_snapshot_becomes_a_trace() {
    let folder = Folder::new();
    convert(SMALL, &folder.path("small.csv"));
    let text = fs::read_to_string(folder.path("small.csv")).unwrap();
    assert!(text.starts_with("# name: small_history\n# source: memory snapshot, device 0\na,1,4194304,0\n"));
    let count = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!((count("a,"), count("f,"), text.lines().count()), (131, 124, 257));
}

#[test]
fn a_trace_becomes_a_snapshot_by_a_replay() {
    let folder = Folder::new();
    let (pickle, json) = (folder.path("tiny.pickle"), folder.path("tiny.json"));
    let input = folder.file("tiny.csv", TINY);
    convert(&input, &pickle);
    convert(&input, &json);
    let snapshot = snapshot(&pickle);
    assert!(self::snapshot(&json) == snapshot);
    let actions: Vec<_> = snapshot.trace(0).iter().map(TraceEntry::action).collect();
    let expected = [
        Action::SegmentAlloc,
        Action::Alloc,
        Action::SegmentAlloc,
        Action::Alloc,
        Action::FreeRequested,
        Action::FreeCompleted,
    ];
    assert_eq!(actions, expected);
    assert_eq!(snapshot.verify(), []);
    convert(&pickle, &folder.path("back.csv"));
    let back = fs::read_to_string(folder.path("back.csv")).unwrap();
    let events = "a,1,4194304,0\na,2,1000,1\nm,begin step 1\nf,1\nm,end step 1\n";
    assert_eq!(back, format!("# name: tiny\n# source: memory snapshot, device 0\n{events}"));
}

#[test]
fn a_trace_that_runs_out_of_memory_gives_its_snapshot_and_exit_code_1() {
    let folder = Folder::new();
    let input = folder.file("huge.csv", "a,1,1099511627776,0\n");
    let output = run(&["convert", &input, "-o", &folder.path("huge.pickle")]);
    assert_eq!(output.status.code(), Some(1));
    let err = str::from_utf8(&output.stderr).unwrap();
    assert!(
        err.starts_with(&format!(" WARN {input}: ends at event 1, line 1: Neuron out of memory")),
        "{err}"
    );
    let snapshot = snapshot(&folder.path("huge.pickle"));
    assert_eq!(snapshot.trace(0).iter().map(TraceEntry::action).collect::<Vec<_>>(), [Action::Oom]);
}

#[test]
fn timelines_come_from_snapshots_and_traces() {
    let folder = Folder::new();
    let counters = |json: &[u8]| {
        let json: Value = serde_json::from_slice(json).unwrap();
        let events = json["traceEvents"].as_array().unwrap().iter();
        let own = events.filter(|event| event["ph"] == "C" && event["name"] == "allocated");
        own.map(|event| event["args"]["bytes"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let output = folder.path("a.perfetto.json");
    convert(SMALL, &output);
    assert_eq!(counters(&fs::read(&output).unwrap()).len(), 131 + 124);
    let input = folder.file("tiny.csv", TINY);
    let json = check_done(run(&["convert", &input, "-o", "-", "--to", "perfetto"]));
    assert_eq!(counters(&json), [4_194_304, 4_195_304, 1000]);
}

#[test]
fn standard_input_and_output_are_files_too() {
    let text = check_done(run_with_input(&["convert", "-", "-o", "-", "--to", "csv"], TINY.as_bytes()));
    assert_eq!(str::from_utf8(&text).unwrap(), TINY);
    let pickle = check_done(run_with_input(&["convert", "-", "-o", "-", "--to", "pickle"], TINY.as_bytes()));
    let json = check_done(run_with_input(&["convert", "-", "--to=json", "--output=-"], &pickle));
    assert!(json.starts_with(b"{\"segments\":"));
    for input in [pickle, json] {
        let replayed = check_done(run_with_input(&["replay", "-", "--json"], &input));
        let object: Value = serde_json::from_slice(&replayed).unwrap();
        assert_eq!((&object["events"], &object["allocated"]), (&5.into(), &1024.into()));
    }
}

#[test]
fn replay_and_compare_take_snapshots() {
    let folder = Folder::new();
    convert(SMALL, &folder.path("small_history.csv"));
    let figures = |arguments: &[&str]| {
        let mut object: Value = serde_json::from_slice(&check_done(run(arguments))).unwrap();
        object["elapsed_ns"] = 0.into();
        object["input"] = 0.into();
        object
    };
    let csv = folder.path("small_history.csv");
    assert_eq!(figures(&["replay", SMALL, "--json"]), figures(&["replay", &csv, "--json"]));
    let compare = |input: &str| figures(&["compare", input, "--json", "--config", "kMinRoundedSize=512"]);
    assert_eq!(compare(SMALL), compare(&csv));
    assert_eq!(figures(&["replay", SMALL, "--json"])["events"], 255);
}

#[test]
fn replay_records_a_snapshot_on_the_way() {
    let folder = Folder::new();
    let input = folder.file("tiny.csv", TINY);
    let (pickle, json) = (folder.path("t.pickle"), folder.path("t.json"));
    let plain = check_done(run(&["replay", &input]));
    assert!(check_done(run(&["replay", &input, "--snapshot", &pickle])) == plain);
    assert!(check_done(run(&["replay", &input, "--snapshot", &json])) == plain);
    assert_eq!(snapshot(&pickle).trace(0).len(), 6);
    assert!(snapshot(&json) == snapshot(&pickle));
    // Out of memory is an answer, and the snapshot shows how it came about.
    let oom = run(&["replay", &input, "--memory", "64MiB", "--snapshot", &pickle]);
    assert_eq!(oom.status.code(), Some(1));
    let actions: Vec<_> = snapshot(&pickle).trace(0).iter().map(TraceEntry::action).collect();
    assert_eq!(actions, [Action::SegmentAlloc, Action::Alloc, Action::Oom]);
    let message = |path: &str| format!("`{path}`: a snapshot is a .pickle or a .json file");
    check_refused(run(&["replay", &input, "--snapshot", "t.csv"]), &message("t.csv"));
}

#[test]
fn a_device_can_be_chosen() {
    let folder = Folder::new();
    let mut two = Snapshot::new();
    let alloc = |bytes| TraceEntry::new(Action::Alloc).with_addr(4096).with_size_bytes(bytes);
    two.push_entry(0, alloc(10));
    two.push_entry(1, alloc(20));
    let input = folder.path("two.pickle");
    two.write_file(&input).unwrap();
    let to_csv = |more: &[&str]| run(&[&["convert", &input, "-o", "-", "--to", "csv"], more].concat());
    let text = check_done(to_csv(&["--device", "1"]));
    assert_eq!(
        str::from_utf8(&text).unwrap(),
        "# name: two\n# source: memory snapshot, device 1\na,1,20,0\n"
    );
    let first = to_csv(&[]);
    let warning = format!(" WARN {input}: has devices [0, 1]: reading device 0\n");
    assert_eq!((first.status.code(), str::from_utf8(&first.stderr).unwrap()), (Some(0), warning.as_str()));
    check_refused(to_csv(&["--device", "2"]), &format!("{input}: device 2 has neither events nor segments"));
    let processes = |more: &[&str]| {
        let output = run(&[&["convert", &input, "-o", "-", "--to", "perfetto"], more].concat());
        String::from_utf8(check_done(output)).unwrap().matches("process_name").count()
    };
    assert_eq!((processes(&[]), processes(&["--device", "1"])), (2, 1));
    let output = run(&["convert", &input, "-o", "-", "--to", "json", "--device", "1"]);
    check_refused(output, "--device 1: a snapshot is converted with all of its devices");
    let trace = folder.file("t.csv", TINY);
    let output = run(&["convert", &trace, "-o", "-", "--to", "csv", "--device", "1"]);
    check_refused(output, &format!("{trace}: device 1 has neither events nor segments"));
}

#[test]
fn an_unknown_name_of_the_output_is_one_line() {
    let formats = "use .pickle, .json, .csv, .csv.gz, .csv.zst or .perfetto.json, or say --to";
    for name in ["out.txt", "out", "out.gz", "-"] {
        let message = format!("`{name}`: no format has this name: {formats}");
        check_refused(run(&["convert", SMALL, "-o", name]), &message);
    }
    let message = "the following required arguments were not provided: --output <OUT>";
    check_refused(run(&["convert", SMALL]), message);
}

#[test]
fn an_old_file_stays_when_the_new_one_cannot_be_whole() {
    let folder = Folder::new();
    let output = folder.file("old.csv", "old");
    let input = folder.file("bad.csv", "a,1,512,0\nf,1\nf,1\n");
    let message = format!("{input}: line 3: id 1 is freed but not live");
    check_refused(run(&["convert", &input, "-o", &output]), &message);
    check_one_line(run(&["convert", &input, "-o", &folder.path("no/such/folder.csv")]), "folder");
    assert_eq!(fs::read_to_string(&output).unwrap(), "old");
    assert_eq!(folder.names(), ["bad.csv", "old.csv"]);
    convert(SMALL, &output);
    assert_eq!(folder.names(), ["bad.csv", "old.csv"]);
}

#[cfg(unix)]
#[test]
fn links_and_devices_stay_what_they_are() {
    use std::os::unix::fs::FileTypeExt;
    let folder = Folder::new();
    let real = folder.file("real.csv", "old");
    std::os::unix::fs::symlink(&real, folder.path("link.csv")).unwrap();
    convert(SMALL, &folder.path("link.csv"));
    assert!(fs::symlink_metadata(folder.path("link.csv")).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().starts_with("# name: small_history\n"));
    check_done(run(&["convert", SMALL, "-o", "/dev/null", "--to", "csv"]));
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

/// A pickle with an unknown key whose lists hold each other ten times, so many deep.
fn bomb(n_levels: u8) -> Vec<u8> {
    let mut bytes = b"\x80\x04}(\x8c\x08segments]\x8c\x01x(]\x94".to_vec();
    for level in 0..n_levels {
        bytes.extend(b"]\x94(");
        bytes.extend([b'h', level].repeat(10));
        bytes.extend(b"e");
    }
    bytes.extend(b"tu.");
    bytes
}

/// Bytes without a pattern: a xorshift generator.
fn noise(n_bytes: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..n_bytes.div_ceil(8)).flat_map(|_| next().to_le_bytes()).take(n_bytes).collect()
}

#[test]
fn hostile_input_is_one_line() {
    let folder = Folder::new();
    let whole = fs::read(root().join(SMALL)).unwrap();
    let behind = |start: &[u8], rest: Vec<u8>| [start, &rest].concat();
    let cases = [
        ("random", noise(10 << 20)),
        ("random pickle", behind(b"\x80\x04", noise(10 << 20))),
        ("random json", behind(b"{", noise(10 << 20))),
        ("bomb", bomb(50)),
        ("truncated", whole[..whole.len() / 2].to_vec()),
        ("global", b"\x80\x04cos\nsystem\n\x8c\x02ls\x85R.".to_vec()),
        ("lists deep", behind(b"\x80\x04", b"]".repeat(100_000))),
        ("json deep", b"[".repeat(100_000)),
        ("length", b"\x80\x04\x8d\x00\x00\x00\x00\x00\x00\x00\x10".to_vec()),
        (
            "number",
            b"{\"segments\": [], \"device_traces\": [[{\"action\": \"alloc\", \"addr\": 1e400}]]}".to_vec(),
        ),
        ("empty", Vec::new()),
        ("wrong", b"[1, 2, 3]".to_vec()),
    ];
    for (what, content) in cases {
        let input = folder.file("input", content);
        check_one_line(run(&["convert", &input, "-o", &folder.path("out.csv")]), what);
        check_one_line(run(&["convert", &input, "-o", &folder.path("out.pickle")]), what);
        check_one_line(run(&["replay", &input]), what);
        check_one_line(run(&["compare", &input, "--config", "default"]), what);
    }
    assert_eq!(folder.names(), ["input"]);
}

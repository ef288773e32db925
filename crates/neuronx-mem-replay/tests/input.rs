//! Files as they come: plain, gzip, zstd, cut off, damaged, or no trace at all.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use neuronx_mem_replay::{OpenedInput, ReplayError, Trace, TraceInput, TraceLine};
use neuronx_mem_snapshot::{Action, Snapshot, TraceEntry};
use proptest::prelude::*;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }
}

fn read(path: &Path) -> Result<Vec<TraceLine>, ReplayError> {
    TraceInput::from_argument(path).open()?.collect()
}

fn text() -> Vec<u8> {
    let mut text = b"# name: numbers\n".to_vec();
    for id in 0..20_000u64 {
        writeln!(text, "a,{id},{},0\nf,{id}", id * 7919 % 100_003).unwrap();
    }
    text
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 3).unwrap()
}

#[test]
fn the_content_tells_the_format_not_the_name() {
    let folder = Folder::new();
    let text = text();
    let plain = read(&folder.file("t.zst", &text)).unwrap();
    assert_eq!(plain.len(), 40_000);
    assert_eq!(read(&folder.file("t.csv", &gzip(&text))).unwrap(), plain);
    assert_eq!(read(&folder.file("t.gz", &zstd(&text))).unwrap(), plain);
    assert_eq!(read(&folder.file("t", &zstd(&text))).unwrap(), plain);
}

#[test]
fn parts_one_after_the_other_are_one_trace() {
    let folder = Folder::new();
    let text = text();
    let plain = read(&folder.file("plain", &text)).unwrap();
    let (first, second) = text.split_at(text.len() / 3);
    assert_eq!(read(&folder.file("gz", &[gzip(first), gzip(second)].concat())).unwrap(), plain);
    assert_eq!(read(&folder.file("zst", &[zstd(first), zstd(second)].concat())).unwrap(), plain);
    // A frame to skip over: magic, length 3, three bytes.
    let skipped = b"\x50\x2a\x4d\x18\x03\0\0\0xyz";
    assert_eq!(read(&folder.file("skip", &[skipped, zstd(&text).as_slice()].concat())).unwrap(), plain);
}

#[test]
fn a_cut_off_file_says_how_far_it_could_be_read() {
    let folder = Folder::new();
    let text = text();
    let n_lines = text.iter().filter(|byte| **byte == b'\n').count() as u64;
    for (name, whole) in [("cut.gz", gzip(&text)), ("cut.zst", zstd(&text))] {
        let mut last_line = 0;
        for eighth in 1..8 {
            let path = folder.file(name, &whole[..whole.len() * eighth / 8]);
            let error = read(&path).unwrap_err();
            let ReplayError::Truncated { input, line } = error else { panic!("{error}") };
            assert_eq!(input, path.display().to_string());
            assert!((last_line..n_lines).contains(&line), "{name} {eighth}/8: line {line}");
            last_line = line;
        }
        assert!(last_line > 0, "{name}: some lines come before the cut");
        let path = folder.file(name, &whole[..whole.len() - 1]);
        assert!(matches!(read(&path), Err(ReplayError::Truncated { .. })), "{name} without its last byte");
        // From the length on at which the format shows.
        for n_bytes in 4..20 {
            let error = read(&folder.file(name, &whole[..n_bytes])).unwrap_err();
            assert!(matches!(error, ReplayError::Truncated { line: 0, .. }), "{name} {n_bytes}: {error}");
        }
    }
}

#[test]
fn a_damaged_file_is_an_error_with_its_place() {
    let folder = Folder::new();
    let text = text();
    for (name, mut whole) in [("bad.gz", gzip(&text)), ("bad.zst", zstd(&text))] {
        let middle = whole.len() / 2;
        whole[middle..middle + 64].fill(0xff);
        let path = folder.file(name, &whole);
        let message = read(&path).unwrap_err().to_string();
        assert!(message.starts_with(&path.display().to_string()), "{message}");
        // Damage can surface as such or as a line that makes no sense.
        assert!(message.contains("line"), "{message}");
    }
    // Headers that no compressor writes.
    for (name, magic) in [("junk.gz", &b"\x1f\x8b\x07"[..]), ("junk.zst", b"\x28\xb5\x2f\xfd\xff")] {
        let path = folder.file(name, &[magic, &[0xff; 100]].concat());
        let error = read(&path).unwrap_err();
        assert!(matches!(error, ReplayError::Corrupt { line: 0, .. }), "{error}");
    }
}

#[test]
fn what_is_no_trace_has_one_clear_line() {
    let folder = Folder::new();
    let missing = folder.0.path().join("missing.csv");
    let error = read(&missing).unwrap_err();
    let ReplayError::Open { source, .. } = &error else { panic!("{error}") };
    assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
    assert!(error.to_string().starts_with(&format!("{}: cannot be opened", missing.display())));

    let error = read(folder.0.path()).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: is a directory, not a trace", folder.0.path().display()));

    for (name, content) in [("empty", b"".to_vec()), ("empty.gz", gzip(b"")), ("empty.zst", zstd(b""))] {
        let path = folder.file(name, &content);
        assert_eq!(read(&path).unwrap_err().to_string(), format!("{}: holds no events", path.display()));
    }
    let path = folder.file("garbage", &[0xfe, 0x00, 0x13, 0x37, 0x0a, 0xff]);
    let expected = format!("{}: line 1: not UTF-8 text from byte 1 on", path.display());
    assert_eq!(read(&path).unwrap_err().to_string(), expected);
}

#[test]
fn a_dash_is_standard_input_and_only_files_can_be_read_twice() {
    let folder = Folder::new();
    assert_eq!(TraceInput::from_argument("-"), TraceInput::Stdin);
    assert_eq!((TraceInput::Stdin.name(), TraceInput::Stdin.is_rereadable()), ("-".to_owned(), false));
    let file = TraceInput::from_argument(folder.file("t", b"s\n"));
    assert!(file.is_rereadable());
    assert_eq!(TraceInput::from_argument("./-").name(), "./-");
    assert!(!TraceInput::from_argument(folder.0.path()).is_rereadable());
    assert_eq!(Trace::read(file.open().unwrap()).unwrap().n_events(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_file_is_read_or_refused(
        magic in prop_oneof![Just(&b"\x1f\x8b\x08\x00"[..]), Just(&b"\x28\xb5\x2f\xfd"[..]), Just(&b"P\x2aM\x18"[..]), Just(&b""[..])],
        rest: Vec<u8>,
    ) {
        let folder = Folder::new();
        let path = folder.file("any", &[magic, &rest].concat());
        let _ = read(&path);
    }

    #[test]
    fn any_damage_is_survived(place: prop::sample::Index, byte: u8, cut: prop::sample::Index, is_gzip: bool) {
        let folder = Folder::new();
        let text = b"a,1,4096,0\nr,1,1\nm,step\nf,1\ns\n".repeat(50);
        let mut whole = if is_gzip { gzip(&text) } else { zstd(&text) };
        let place = place.index(whole.len());
        whole[place] = byte;
        whole.truncate(cut.index(whole.len()) + 1);
        let _ = read(&folder.file("damaged", &whole));
    }
}

#[test]
fn a_snapshot_is_known_by_its_content() {
    let folder = Folder::new();
    let mut snapshot = Snapshot::new();
    snapshot.push_entry(0, TraceEntry::new(Action::Alloc).with_addr(4096).with_size_bytes(9));
    let json = snapshot.to_json().unwrap();
    let spaced = [b" \n\t".as_slice(), &json].concat();
    for content in [snapshot.to_pickle().unwrap(), json, spaced] {
        let path = folder.file("any.csv", &content);
        let trace = Trace::read_input(&TraceInput::from_argument(path), false).unwrap();
        assert_eq!((trace.n_events(), trace.headers()[0].value.as_str()), (1, "any"));
    }
    let open = |content: &[u8]| TraceInput::from_argument(folder.file("t", content)).open_any();
    assert!(matches!(open(b"\n\ns\n").unwrap(), OpenedInput::Trace(_)));
    assert!(matches!(open(b"").unwrap(), OpenedInput::Trace(_)));
    let error = open(b"\x80\x04}").unwrap_err().to_string();
    assert!(error.ends_with("/t: truncated pickle: STOP at byte 3 needs 1 bytes, 0 left"), "{error}");
    let error = open(b"{\"segments\": 1}").unwrap_err().to_string();
    assert!(error.contains("/t: malformed json at line 1"), "{error}");
}

//! The CSV tables: their exact text, and many writers of one file.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Barrier;

use neuronx_mem_stats::{
    AllocationEvent, MemoryStats, MetricsError, OomRow, Sample, SegmentRow, StatsPool, StreamRow, TableFile,
    TablePlace, TableRow, device_stats,
};

const STREAMS_HEADER: &str =
    "timestamp_us,rank,device,stream,pending_blocks,pending_bytes,submitted,completed";

/// The variable that turns `writer_process` from nothing into one of the writers.
const WRITER: &str = "METRIC_TABLES_TEST_WRITER";

const ROWS: u64 = 200;

fn place(dir: &Path) -> TablePlace {
    TablePlace { dir: dir.to_owned(), rank: 2, pid: 77 }
}

fn sample(timestamp_us: u64) -> Sample {
    Sample { timestamp_us, device: 1 }
}

/// Appends to a new file and returns the text.
fn written<R: TableRow>(rows: &[R]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let mut table = TableFile::open(&place(dir.path())).unwrap();
    table.append(sample(1_755_000_000_000_000), rows).unwrap();
    fs::read_to_string(table.path()).unwrap()
}

#[test]
fn segments() {
    let large = SegmentRow {
        address: 0x10_0000_0000,
        segment_bytes: 67_108_864,
        pool: StatsPool::Large,
        n_blocks: 2,
        allocated_bytes: 12_582_912,
        active_bytes: 12_000_000,
        pending_bytes: 4_194_304,
        cached_free_bytes: 54_525_952,
        largest_free_bytes: 50_331_648,
    };
    let small = SegmentRow {
        address: u64::MAX,
        segment_bytes: 2_097_152,
        cached_free_bytes: 2_097_152,
        ..Default::default()
    };
    insta::assert_snapshot!(written(&[large, small]), @r"
    timestamp_us,rank,device,address,segment_bytes,pool,n_blocks,allocated_bytes,active_bytes,pending_bytes,cached_free_bytes,largest_free_bytes
    1755000000000000,2,1,68719476736,67108864,large_pool,2,12582912,12000000,4194304,54525952,50331648
    1755000000000000,2,1,18446744073709551615,2097152,small_pool,0,0,0,0,2097152,0
    ");
}

#[test]
fn oom() {
    let row = OomRow {
        requested_bytes: 536_870_912,
        rounded_bytes: 536_870_913,
        segment_bytes: 536_870_914,
        total_bytes: 25_769_803_776,
        reserved_bytes: 5,
        allocated_bytes: 4,
        active_bytes: 3,
        cached_free_bytes: 2,
        largest_free_bytes: 1,
        pending_bytes: 6,
        used_by_others_bytes: 7,
        n_steps: 8,
        gained_bytes: 9,
        config_hash: 0xe939_a336_4c62_0515,
    };
    insta::assert_snapshot!(written(&[row]), @r"
    timestamp_us,rank,device,requested_bytes,rounded_bytes,segment_bytes,total_bytes,reserved_bytes,allocated_bytes,active_bytes,cached_free_bytes,largest_free_bytes,pending_bytes,used_by_others_bytes,n_steps,gained_bytes,config_hash
    1755000000000000,2,1,536870912,536870913,536870914,25769803776,5,4,3,2,1,6,7,8,9,16805642938114770197
    ");
}

#[test]
fn streams() {
    let row = StreamRow { stream: 0, pending_blocks: 3, pending_bytes: 4096, submitted: 10, completed: 7 };
    insta::assert_snapshot!(written(&[row, StreamRow { stream: 1, ..Default::default() }]), @r"
    timestamp_us,rank,device,stream,pending_blocks,pending_bytes,submitted,completed
    1755000000000000,2,1,0,3,4096,10,7
    1755000000000000,2,1,1,0,0,0,0
    ");
}

#[test]
fn memory_has_the_keys_of_the_statistics_in_their_order() {
    let (mut writer, reader) = device_stats(None);
    writer.segment_allocated(StatsPool::Large, 64 << 20);
    let event = AllocationEvent {
        pool: StatsPool::Large,
        block_bytes: 4 << 20,
        requested_bytes: 4_000_000,
        ..Default::default()
    };
    writer.block_allocated(&event);
    let stats = reader.read();
    let text = written(std::slice::from_ref(&stats));
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!((lines.len(), lines[0].len()), (2, 3 + 124));
    assert_eq!(lines[0][..3], ["timestamp_us", "rank", "device"]);
    assert_eq!(lines[1][..3], ["1755000000000000", "2", "1"]);
    let pairs = lines[0][3..].iter().zip(&lines[1][3..]);
    let pairs: Vec<_> = pairs.map(|(key, value)| (key.to_string(), value.parse().unwrap())).collect();
    assert_eq!(pairs, stats.to_map().into_iter().collect::<Vec<(String, i64)>>());
}

#[test]
fn files_are_named_by_table_rank_and_process() {
    let place = TablePlace { dir: PathBuf::from("metrics"), rank: 0, pid: 1 };
    let names = [
        place.path::<MemoryStats>(),
        place.path::<SegmentRow>(),
        place.path::<OomRow>(),
        place.path::<StreamRow>(),
    ];
    let tables = ["memory", "segments", "oom", "streams"];
    let expected =
        tables.map(|table| Path::new("metrics").join(format!("neuronx_mem_{table}_rank0_pid1.csv")));
    assert_eq!(names, expected);
}

/// Opens the file and appends rows, one call each, that tell the writer and the row.
fn write_rows(dir: &Path, writer: u64) {
    let mut table = TableFile::open(&place(dir)).unwrap();
    for number in 0..ROWS {
        let row = StreamRow { stream: writer, submitted: number, ..Default::default() };
        table.append(sample(number), &[row]).unwrap();
    }
}

/// Every line is whole, the header is the first and the only one, and each writer's rows are in order.
#[track_caller]
fn check_all_there(dir: &Path, n_writers: u64) {
    let text = fs::read_to_string(place(dir).path::<StreamRow>()).unwrap();
    assert!(text.ends_with('\n'));
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(STREAMS_HEADER));
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines.len() as u64, n_writers * ROWS);
    for writer in 0..n_writers {
        let expected = (0..ROWS).map(|number| format!("{number},2,1,{writer},0,0,{number},0"));
        let marker = format!(",2,1,{writer},");
        let rows = lines.iter().filter(|line| line.contains(&marker)).map(|line| (*line).to_owned());
        assert!(rows.eq(expected), "writer {writer}");
    }
    let distinct: BTreeSet<_> = lines.iter().collect();
    assert_eq!(distinct.len(), lines.len());
}

#[test]
fn threads_share_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let start = Barrier::new(8);
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let (start, dir) = (&start, dir.path());
            scope.spawn(move || {
                start.wait();
                write_rows(dir, writer);
            });
        }
    });
    check_all_there(dir.path(), 8);
}

/// This program again, as `writer_process`.
fn writer_command(program: &mut Command, dir: &Path, role: &str) -> Child {
    program.args(["--exact", "writer_process"]).env(WRITER, format!("{role}:{}", dir.display()));
    program.stdout(std::process::Stdio::null()).spawn().unwrap()
}

#[test]
fn processes_share_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let this = std::env::current_exe().unwrap();
    let writers: Vec<Child> = (0..4)
        .map(|writer| writer_command(&mut Command::new(&this), dir.path(), &writer.to_string()))
        .collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    check_all_there(dir.path(), 4);
}

/// Tests nothing by itself: it is what the other processes run.
#[test]
fn writer_process() {
    let Ok(text) = std::env::var(WRITER) else { return };
    let (role, dir) = text.split_once(':').unwrap();
    match role.parse() {
        Ok(writer) => write_rows(Path::new(dir), writer),
        Err(_) => write_until_full(Path::new(dir)),
    }
}

/// Fills a file up to the limit of its size, which the process was started with.
fn write_until_full(dir: &Path) {
    let mut table = TableFile::open(&place(dir)).unwrap();
    let mut append = || table.append(sample(0), &[StreamRow::default()]);
    let error = std::iter::repeat_with(&mut append).find_map(Result::err).unwrap();
    let size = fs::metadata(place(dir).path::<StreamRow>()).unwrap().len();
    let MetricsError::ShortWrite { written_bytes, line_bytes, .. } = error else { panic!("{error}") };
    assert_eq!((line_bytes, (size - STREAMS_HEADER.len() as u64 - 1) % 16), (16, written_bytes as u64));
    assert!(matches!(append(), Err(MetricsError::File { action: "write", .. })));
    assert_eq!(fs::metadata(place(dir).path::<StreamRow>()).unwrap().len(), size);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_costs_the_row_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    assert!(writer_command(&mut shell, dir.path(), "full").wait().unwrap().success());
    // There is room again. The torn line stays alone, whoever comes next.
    let mut table = TableFile::open(&place(dir.path())).unwrap();
    table.append(sample(1), &[StreamRow::default(), StreamRow::default()]).unwrap();
    let text = fs::read_to_string(table.path()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], STREAMS_HEADER);
    let (torn, last) = (lines.len() - 3, ["1,2,1,0,0,0,0,0"; 2]);
    assert!(lines[1..torn].iter().all(|line| *line == "0,2,1,0,0,0,0,0"));
    assert!(!lines[torn].is_empty() && "0,2,1,0,0,0,0,0".starts_with(lines[torn]));
    assert_eq!(lines[torn + 1..], last);
}

#[test]
fn what_is_no_table_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = place(dir.path()).path::<StreamRow>();
    for text in ["time,stream\n0,1\n", "x", &format!("{STREAMS_HEADER},more\n"), STREAMS_HEADER] {
        fs::write(&path, text).unwrap();
        let error = TableFile::<StreamRow>::open(&place(dir.path())).unwrap_err();
        assert!(matches!(error, MetricsError::OtherColumns { table: "streams", .. }), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    fs::write(&path, "").unwrap();
    TableFile::<StreamRow>::open(&place(dir.path())).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{STREAMS_HEADER}\n"));

    let error = TableFile::<StreamRow>::open(&place(&dir.path().join("missing"))).unwrap_err();
    assert!(matches!(error, MetricsError::File { action: "open", .. }));
    fs::create_dir(place(dir.path()).path::<OomRow>()).unwrap();
    let error = TableFile::<OomRow>::open(&place(dir.path())).unwrap_err();
    assert!(matches!(error, MetricsError::File { action: "open", .. }), "{error}");
    let text = format!("metric table {}: cannot open: ", place(dir.path()).path::<OomRow>().display());
    assert!(error.to_string().starts_with(&text) && !error.to_string().contains('\n'));
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_no_table() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/null", place(dir.path()).path::<OomRow>()).unwrap();
    let error = TableFile::<OomRow>::open(&place(dir.path())).unwrap_err();
    assert!(matches!(error, MetricsError::NotAFile { .. }), "{error}");
}

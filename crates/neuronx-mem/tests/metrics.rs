//! Rows for the metric tables, from a device whose every figure is known.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem::sim::SimulatedRuntime;
use neuronx_mem::stats::{Sample, SegmentRow, StatsPool, StreamRow, TableFile, TablePlace};
use neuronx_mem::{AllocError, Allocator, DeviceId};

const MIB: u64 = 1 << 20;

#[test]
fn enabled_tables_are_written_and_no_others() {
    use neuronx_mem::MetricTables;
    use neuronx_mem::config::{Environment, MetricsSettings};
    let folder = tempfile::tempdir().unwrap();
    let environment = Environment::from_pairs([
        ("TORCH_NEURONX_ENABLED_METRIC_TABLES", "memory,oom,streams"),
        ("TORCH_NEURONX_METRICS_DIR", folder.path().to_str().unwrap()),
    ]);
    let (settings, findings) = MetricsSettings::from_environment(&environment);
    assert!(findings.is_empty());
    let mut tables = MetricTables::open(&settings, 3, 7).unwrap();
    let runtime = SimulatedRuntime::builder().memory_bytes(MIB).build();
    let allocator = Allocator::builder().runtime(runtime).build().unwrap();
    let device = allocator.device(DeviceId(0)).unwrap();
    tables.sample(device, 1).unwrap();
    let Err(AllocError::OutOfMemory(error)) = device.allocate(MIB, &device.default_stream()) else {
        panic!("a segment of 64 MiB must not fit into 1 MiB");
    };
    tables.out_of_memory(&error, 2).unwrap();
    tables.sample(device, 3).unwrap();
    let mut lines: Vec<(String, usize)> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path))
        .map(|(name, path)| (name, std::fs::read_to_string(path).unwrap().lines().count()))
        .collect();
    lines.sort_unstable();
    let expected = [("memory", 3), ("oom", 2), ("streams", 3)];
    let expected = expected.map(|(table, n)| (format!("neuronx_mem_{table}_rank3_pid7.csv"), n));
    assert_eq!(lines, expected);
}

#[test]
fn rows_have_the_devices_figures_and_go_into_files() {
    let runtime = SimulatedRuntime::builder().memory_bytes(80 * MIB).build();
    let allocator = Allocator::builder().runtime(runtime).oom_recovery(false).build().unwrap();
    let device = allocator.device(DeviceId(0)).unwrap();
    let stream = device.new_stream().unwrap();
    let _live = device.allocate(1000, &device.default_stream()).unwrap();
    let pending = device.allocate(3 * MIB, &stream).unwrap();
    stream.submit().unwrap();
    drop(pending);
    let base = 1 << 44;
    let small = SegmentRow {
        address: base,
        segment_bytes: 2 * MIB,
        pool: StatsPool::Small,
        n_blocks: 1,
        allocated_bytes: 1024,
        active_bytes: 1000,
        pending_bytes: 0,
        cached_free_bytes: 2 * MIB - 1024,
        largest_free_bytes: 2 * MIB - 1024,
    };
    let large = SegmentRow {
        address: base + 2 * MIB,
        segment_bytes: 64 * MIB,
        pool: StatsPool::Large,
        n_blocks: 1,
        allocated_bytes: 3 * MIB,
        active_bytes: 3 * MIB,
        pending_bytes: 3 * MIB,
        cached_free_bytes: 61 * MIB,
        largest_free_bytes: 61 * MIB,
    };
    assert_eq!(device.segment_rows(), [small, large]);
    let busy = StreamRow { stream: 1, pending_blocks: 1, pending_bytes: 3 * MIB, submitted: 1, completed: 0 };
    assert_eq!(device.stream_rows(), [StreamRow::default(), busy]);
    let Err(AllocError::OutOfMemory(error)) = device.allocate(70 * MIB, &stream) else {
        panic!("70 MiB must not fit into 80 MiB beside 66 MiB");
    };
    let row = error.metric_row();
    assert_eq!((row.requested_bytes, row.n_steps, row.gained_bytes), (70 * MIB, 1, 3 * MIB));

    let folder = tempfile::tempdir().unwrap();
    let place = TablePlace { dir: folder.path().to_owned(), rank: 0, pid: 7 };
    let sample = Sample { timestamp_us: 5, device: 0 };
    let mut table = TableFile::<StreamRow>::open(&place).unwrap();
    table.append(sample, &device.stream_rows()).unwrap();
    let text = std::fs::read_to_string(table.path()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "timestamp_us,rank,device,stream,pending_blocks,pending_bytes,submitted,completed",
            "5,0,0,0,0,0,0,0",
            "5,0,0,1,0,0,1,1",
        ]
    );
}

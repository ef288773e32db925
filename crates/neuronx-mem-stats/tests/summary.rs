//! The summary table, byte for byte, and the units in it.

use neuronx_mem_stats::{AllocationEvent, StatsPool, device_stats, format_count, format_size};

const GUIDE_TABLE: &str = "\
===========================================================================
  Neuron Memory Summary, Device 0
===========================================================================
  Allocations: 2  |  Frees: 0
  OOMs: 0  |  Alloc Retries: 0
===========================================================================
  Metric              | Current    | Peak       | Allocated  | Freed
---------------------------------------------------------------------------
  Allocated Memory   |     12 MiB |     12 MiB |     12 MiB |        0 B
  Reserved Memory    |     64 MiB |     64 MiB |     64 MiB |        0 B
  Active Memory      |     12 MiB |     12 MiB |     12 MiB |        0 B
===========================================================================";

#[test]
fn profiling_guide_step_2_table() {
    let (mut writer, reader) = device_stats(None);
    writer.segment_allocated(StatsPool::Large, 64 << 20);
    for mib in [4u64, 8] {
        let bytes = mib << 20;
        writer.block_allocated(&AllocationEvent {
            pool: StatsPool::Large,
            block_bytes: bytes,
            requested_bytes: bytes,
            ..Default::default()
        });
    }
    assert_eq!(reader.read().summary(0), GUIDE_TABLE);
}

#[test]
fn zero() {
    let (_, reader) = device_stats(None);
    insta::assert_snapshot!(reader.read().summary(15));
}

#[test]
fn tebibytes_and_thousands() {
    let (mut writer, reader) = device_stats(None);
    for _ in 0..1_234_567 {
        writer.request_without_block();
    }
    for _ in 0..1000 {
        writer.out_of_memory();
        writer.retried();
    }
    writer.segment_allocated(StatsPool::Large, 3 << 40);
    writer.segment_allocated(StatsPool::Small, (1 << 40) + (1 << 39));
    writer.segment_freed(StatsPool::Large, 3 << 40);
    let (block_bytes, requested_bytes) = ((1023 << 30) + 1, 1000 << 20);
    let event = AllocationEvent { block_bytes, requested_bytes, ..Default::default() };
    writer.block_allocated(&event);
    insta::assert_snapshot!(reader.read().summary(127));
}

#[track_caller]
fn check_size(cases: &[(u64, &str)]) {
    for (bytes, text) in cases {
        assert_eq!(format_size(*bytes), *text, "{bytes}");
    }
}

#[test]
fn semantics_7_sizes_in_whole_units() {
    check_size(&[
        (0, "0 B"),
        (1023, "1,023 B"),
        (1024, "1 KiB"),
        (1536, "2 KiB"),
        (2560, "2 KiB"),
        (2561, "3 KiB"),
        (3584, "4 KiB"),
        (79_691_776, "76 MiB"),
        (1_048_575, "1,024 KiB"),
        (1_048_576, "1 MiB"),
        (1 << 40, "1 TiB"),
        (1 << 50, "1 PiB"),
        (u64::MAX, "16,384 PiB"),
    ]);
}

#[test]
fn counts_have_thousands_separators() {
    let cases = [0, 999, 1000, 12_345, 999_999, 1_000_000, u64::MAX];
    let texts: Vec<String> = cases.map(format_count).into();
    assert_eq!(texts, ["0", "999", "1,000", "12,345", "999,999", "1,000,000", "18,446,744,073,709,551,615"]);
}

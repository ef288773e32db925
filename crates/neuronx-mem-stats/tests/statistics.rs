//! The dict and its values: names, sums, resets, and readings taken while a writer writes.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::collections::BTreeMap;

use neuronx_mem_stats::{
    AllocationEvent, Family, FreeEvent, Metric, Scope, StatsPool, StatsReader, StatsWriter, device_stats,
};
use proptest::prelude::*;

const MIB: u64 = 1 << 20;

fn allocate(writer: &mut StatsWriter, pool: StatsPool, block_bytes: u64, requested_bytes: u64) {
    writer.block_allocated(&AllocationEvent { pool, block_bytes, requested_bytes, ..Default::default() });
}

fn free(writer: &mut StatsWriter, pool: StatsPool, block_bytes: u64, requested_bytes: u64) {
    writer.block_freed(&FreeEvent { pool, block_bytes, requested_bytes, ..Default::default() });
}

#[track_caller]
fn check(reader: &StatsReader, expected: &[(&str, i64)]) {
    let map = reader.read().to_map();
    for (key, value) in expected {
        assert_eq!(map.get(*key), Some(value), "{key}");
    }
}

#[test]
fn semantics_7_all_keys() {
    let (_, reader) = device_stats(None);
    let map = reader.read().to_map();
    let mut expected: Vec<String> = Vec::new();
    let families = "allocation segment active inactive_split allocated_bytes reserved_bytes active_bytes \
                    inactive_split_bytes requested_bytes";
    let metrics = ["current", "peak", "allocated", "freed"];
    for family in families.split_whitespace() {
        for pool in ["all", "small_pool", "large_pool"] {
            expected.extend(metrics.map(|metric| format!("{family}.{pool}.{metric}")));
        }
    }
    for family in ["oversize_allocations", "oversize_segments"] {
        expected.extend(metrics.map(|metric| format!("{family}.{metric}")));
    }
    let scalars = "num_alloc_retries num_ooms num_tensor_frees allocation_requests num_sync_all_streams \
                   num_device_alloc num_device_free max_split_size";
    expected.extend(scalars.split_whitespace().map(str::to_owned));
    expected.sort_unstable();
    assert_eq!(map.keys().cloned().collect::<Vec<_>>(), expected);
    assert_eq!(map.len(), 124);
    // An uninitialised device reads as zeros; only the unlimited cap is -1.
    assert!(map.iter().all(|(key, value)| *value == if key == "max_split_size" { -1 } else { 0 }));
}

#[test]
fn pools_add_up_to_all_and_families_share_counters() {
    let (mut writer, reader) = device_stats(Some(8 * MIB));
    writer.segment_allocated(StatsPool::Small, 2 * MIB);
    writer.segment_allocated(StatsPool::Large, 64 * MIB);
    allocate(&mut writer, StatsPool::Small, 1024, 1000);
    allocate(&mut writer, StatsPool::Large, 10 * MIB, 9 * MIB);
    free(&mut writer, StatsPool::Small, 1024, 1000);
    check(
        &reader,
        &[
            ("allocated_bytes.all.current", 10_485_760),
            ("allocated_bytes.all.peak", 10_486_784),
            ("allocated_bytes.small_pool.allocated", 1024),
            ("allocated_bytes.small_pool.freed", 1024),
            ("allocated_bytes.all.freed", 1024),
            ("active_bytes.all.peak", 9_438_184),
            ("requested_bytes.all.peak", 9_438_184),
            ("reserved_bytes.all.current", 69_206_016),
            ("allocation.all.current", 1),
            ("active.all.peak", 2),
            ("segment.large_pool.current", 1),
            ("oversize_allocations.current", 1),
            ("oversize_segments.current", 1),
            ("oversize_segments.allocated", 1),
            ("num_device_alloc", 2),
            ("allocation_requests", 2),
            ("num_tensor_frees", 1),
            ("max_split_size", 8_388_608),
        ],
    );
}

#[test]
fn inactive_split_changes_are_net() {
    let (mut writer, reader) = device_stats(None);
    let event = AllocationEvent { split_blocks: 1, split_bytes: 100, block_bytes: 5, ..Default::default() };
    writer.block_allocated(&event);
    writer.block_allocated(&AllocationEvent { split_blocks: 0, split_bytes: -30, ..event });
    writer.block_freed(&FreeEvent {
        split_blocks: -1,
        split_bytes: -70,
        block_bytes: 5,
        ..Default::default()
    });
    check(
        &reader,
        &[
            ("inactive_split.all.peak", 1),
            ("inactive_split.all.current", 0),
            ("inactive_split_bytes.all.peak", 100),
            ("inactive_split_bytes.small_pool.allocated", 100),
            ("inactive_split_bytes.small_pool.freed", 100),
        ],
    );
}

#[test]
fn reset_peak_sets_every_peak_to_its_current() {
    let (mut writer, reader) = device_stats(Some(1));
    writer.segment_allocated(StatsPool::Large, 64 * MIB);
    allocate(&mut writer, StatsPool::Large, 4 * MIB, 4 * MIB);
    allocate(&mut writer, StatsPool::Large, 8 * MIB, 8 * MIB);
    free(&mut writer, StatsPool::Large, 4 * MIB, 4 * MIB);
    writer.reset_peak();
    let stats = reader.read();
    for family in Family::ALL {
        for scope in Scope::ALL {
            let values = stats.values(family, scope);
            assert_eq!(values.peak, values.current, "{} {}", family.name(), scope.name());
        }
    }
    assert_eq!(stats.oversize_allocations().peak, 1);
    assert_eq!(reader.max_memory_allocated(), 8 * MIB);
}

#[test]
fn reset_accumulated_zeroes_the_four_counters_and_touches_no_current_or_peak() {
    let (mut writer, reader) = device_stats(None);
    writer.segment_allocated(StatsPool::Small, 2 * MIB);
    allocate(&mut writer, StatsPool::Small, 512, 500);
    allocate(&mut writer, StatsPool::Small, 256, 1);
    free(&mut writer, StatsPool::Small, 512, 500);
    writer.retried();
    writer.out_of_memory();
    writer.synchronized();
    writer.reset_accumulated();
    check(
        &reader,
        &[
            ("num_alloc_retries", 0),
            ("num_ooms", 0),
            ("num_tensor_frees", 0),
            ("allocation_requests", 0),
            ("num_device_alloc", 1),
            ("num_sync_all_streams", 1),
            ("allocated_bytes.all.allocated", 0),
            ("allocated_bytes.all.freed", 0),
            ("allocated_bytes.all.current", 256),
            ("allocated_bytes.all.peak", 768),
        ],
    );
    free(&mut writer, StatsPool::Small, 256, 1);
    check(&reader, &[("allocated_bytes.all.freed", 256), ("allocated_bytes.small_pool.allocated", 0)]);
}

#[test]
fn semantics_5_a_reading_says_whether_it_is_settled() {
    let (mut writer, reader) = device_stats(None);
    writer.set_pending(2);
    assert!(!reader.read().is_settled());
    writer.set_pending(0);
    assert!(reader.read().is_settled());
}

#[test]
fn a_reading_taken_during_writes_is_one_moment() {
    let (mut writer, reader) = device_stats(None);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let reader = reader.clone();
                scope.spawn(move || {
                    let mut before = 0;
                    while before < 20_000 {
                        let stats = reader.read();
                        let current = |family| stats.values(family, Scope::All).current;
                        let (reserved, allocated, active) = (
                            current(Family::ReservedBytes),
                            current(Family::AllocatedBytes),
                            current(Family::ActiveBytes),
                        );
                        assert!(reserved >= allocated && allocated == 2 * active);
                        assert_eq!(current(Family::Allocation) * 512, allocated);
                        let freed = stats.values(Family::AllocatedBytes, Scope::All).freed / 512;
                        assert_eq!(stats.counters().tensor_frees, freed);
                        assert!(freed >= before);
                        before = freed;
                    }
                })
            })
            .collect();
        writer.segment_allocated(StatsPool::Small, 2 * MIB);
        while readers.iter().any(|reader| !reader.is_finished()) {
            allocate(&mut writer, StatsPool::Small, 512, 256);
            allocate(&mut writer, StatsPool::Small, 512, 256);
            free(&mut writer, StatsPool::Small, 512, 256);
            free(&mut writer, StatsPool::Small, 512, 256);
        }
        for reader in readers {
            reader.join().unwrap();
        }
    });
}

proptest! {
    /// Every key against sums over the list of events.
    #[test]
    fn values_equal_sums_over_the_events(events in prop::collection::vec((any::<bool>(), any::<bool>(), 1u64..1000, any::<bool>()), 1..80)) {
        let (mut writer, reader) = device_stats(Some(500));
        let mut live: Vec<(StatsPool, u64)> = Vec::new();
        let mut expected: BTreeMap<&str, [u64; 4]> = BTreeMap::new();
        for (is_alloc, is_small, bytes, is_reset) in events {
            if is_alloc || live.is_empty() {
                let pool = if is_small { StatsPool::Small } else { StatsPool::Large };
                allocate(&mut writer, pool, bytes, bytes / 2);
                live.push((pool, bytes));
            } else {
                let (pool, bytes) = live.swap_remove(live.len() / 2);
                free(&mut writer, pool, bytes, bytes / 2);
                for scope in [Scope::All, pool.into()] {
                    expected.entry(scope.name()).or_default()[3] += bytes;
                }
            }
            for scope in Scope::ALL {
                let entry = expected.entry(scope.name()).or_default();
                let is_in = |pool: StatsPool| scope == Scope::All || scope == pool.into();
                entry[0] = live.iter().filter(|(pool, _)| is_in(*pool)).map(|(_, bytes)| bytes).sum();
                entry[1] = entry[1].max(entry[0]);
            }
            if is_reset {
                writer.reset_peak();
                expected.values_mut().for_each(|entry| entry[1] = entry[0]);
            }
            for scope in Scope::ALL {
                let values = reader.read().values(Family::AllocatedBytes, scope);
                let entry = expected[scope.name()];
                prop_assert_eq!((values.current, values.peak, values.freed), (entry[0], entry[1], entry[3]));
                prop_assert_eq!(values.allocated, values.current + values.get(Metric::Freed));
            }
            let oversize = live.iter().filter(|(_, bytes)| *bytes > 500).count() as u64;
            prop_assert_eq!(reader.read().oversize_allocations().current, oversize);
        }
    }
}

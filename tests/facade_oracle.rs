//! Random programs under random configurations through the facade: the same addresses and every
//! statistic, peaks and totals included, as sums over a plain ordered-set allocator.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

#[path = "../crates/neuronx-mem-pool/tests/oracle/mod.rs"]
mod oracle;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use neuronx_mem::runtime::{MemoryInfo, RuntimeError, SegmentAllocation, SegmentHandle, SliceHandle};
use neuronx_mem::{Allocator, Block, Device, DeviceId, DeviceRuntime};
use oracle::{Oracle, Sums, config, rules};
use proptest::prelude::*;

const TOP: u64 = 1 << 40;

/// Hands out falling addresses, so that age and address of segments disagree.
#[derive(Debug)]
struct Falling {
    next: AtomicU64,
}

fn below(address: u64, bytes: u64) -> u64 {
    (address - bytes) / 64 * 64
}

impl DeviceRuntime for Falling {
    fn n_devices(&self) -> u32 {
        1
    }

    fn allocate_segment(&self, _: DeviceId, bytes: u64) -> Result<SegmentAllocation, RuntimeError> {
        let address = below(self.next.load(Ordering::Relaxed), bytes);
        self.next.store(address, Ordering::Relaxed);
        Ok(SegmentAllocation { handle: SegmentHandle(address), address })
    }

    fn free_segment(&self, _: DeviceId, _: SegmentHandle) -> Result<(), RuntimeError> {
        Ok(())
    }

    fn slice(
        &self,
        _: DeviceId,
        segment: SegmentHandle,
        offset: u64,
        _: u64,
    ) -> Result<SliceHandle, RuntimeError> {
        Ok(SliceHandle(segment.0 + offset))
    }

    fn free_slice(&self, _: DeviceId, _: SliceHandle) -> Result<(), RuntimeError> {
        Ok(())
    }

    fn memory_info(&self, _: DeviceId) -> Result<MemoryInfo, RuntimeError> {
        Ok(MemoryInfo { used_bytes: TOP - self.next.load(Ordering::Relaxed), limit_bytes: TOP })
    }

    fn address_range(&self, _: DeviceId) -> Option<Range<u64>> {
        Some(0..TOP)
    }
}

#[derive(Clone, Debug)]
enum Step {
    Allocate(u64),
    Free(prop::sample::Index),
    EmptyCache,
    ResetPeak,
    ResetAccumulated,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0u64..3000).prop_map(Step::Allocate),
        3 => (0u64..200_000).prop_map(Step::Allocate),
        5 => any::<prop::sample::Index>().prop_map(Step::Free),
        1 => Just(Step::EmptyCache),
        1 => Just(Step::ResetPeak),
        1 => Just(Step::ResetAccumulated),
    ];
    prop::collection::vec(step, 1..120)
}

/// current, peak, allocated, freed of each key prefix, kept by looking at sums after each step.
#[derive(Default)]
struct Expected {
    values: BTreeMap<String, [i64; 4]>,
}

impl Expected {
    fn observe(&mut self, oracle: &Oracle) {
        let scopes = [
            ("all", oracle.sums()),
            ("small_pool", oracle.sums_of(true)),
            ("large_pool", oracle.sums_of(false)),
        ];
        for (scope, sums) in scopes {
            for (family, current) in currents(&sums) {
                let entry = self.values.entry(format!("{family}.{scope}")).or_default();
                let change = current - entry[0];
                // Within one step every family of one pool changes in one direction only.
                if scope != "all" {
                    if change > 0 { entry[2] += change } else { entry[3] -= change }
                }
                entry[0] = current;
                entry[1] = entry[1].max(current);
            }
        }
        for (family, _) in currents(&Sums::default()) {
            for metric in [2, 3] {
                let sum = ["small_pool", "large_pool"].map(|s| self.values[&format!("{family}.{s}")][metric]);
                self.values.entry(format!("{family}.all")).or_default()[metric] = sum[0] + sum[1];
            }
        }
    }

    fn reset_peak(&mut self) {
        self.values.values_mut().for_each(|entry| entry[1] = entry[0]);
    }

    fn reset_accumulated(&mut self) {
        self.values.values_mut().for_each(|entry| (entry[2], entry[3]) = (0, 0));
    }
}

fn currents(sums: &Sums) -> [(&'static str, i64); 9] {
    let signed = |value: u64| i64::try_from(value).unwrap();
    [
        ("allocation", signed(sums.live_blocks)),
        ("active", signed(sums.live_blocks)),
        ("segment", signed(sums.segments)),
        ("allocated_bytes", signed(sums.allocated)),
        ("reserved_bytes", signed(sums.reserved)),
        ("active_bytes", signed(sums.active)),
        ("requested_bytes", signed(sums.active)),
        ("inactive_split", sums.inactive_split_blocks),
        ("inactive_split_bytes", sums.inactive_split_bytes),
    ]
}

#[track_caller]
fn compare(device: &Device, expected: &Expected) {
    let map = device.memory_stats().to_map();
    for (prefix, values) in &expected.values {
        let ours = ["current", "peak", "allocated", "freed"].map(|metric| map[&format!("{prefix}.{metric}")]);
        assert_eq!(ours, *values, "{prefix}");
    }
    let usage = device.usage();
    assert_eq!(usage.reserved_bytes, usage.allocated_bytes + usage.padding_bytes + usage.cached_free_bytes);
    assert!(usage.reserved_bytes >= usage.allocated_bytes && usage.allocated_bytes >= usage.active_bytes);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn facade_and_oracle_agree(rules in rules(), steps in steps()) {
        let config = config(&rules);
        let runtime = Falling { next: AtomicU64::new(TOP) };
        let allocator = Allocator::builder().runtime(runtime).config(config).build().unwrap();
        let device = allocator.device(DeviceId(0)).unwrap();
        let stream = device.default_stream();
        let mut oracle = Oracle::new(rules);
        let mut next_address = TOP;
        let mut live: Vec<(Block, (usize, u64))> = Vec::new();
        let mut expected = Expected::default();
        expected.observe(&oracle);
        for step in steps {
            match step {
                Step::Allocate(0) => prop_assert_eq!(allocator.allocate(0, &stream).unwrap().address(), 0),
                Step::Allocate(bytes) => {
                    let block = allocator.allocate(bytes, &stream).unwrap();
                    let placed = oracle.allocate(bytes, |segment_bytes| {
                        next_address = below(next_address, segment_bytes);
                        next_address
                    });
                    prop_assert_eq!((block.address(), block.block_bytes()), (placed.address, placed.block_bytes));
                    live.push((block, placed.name));
                }
                Step::Free(pick) => {
                    if !live.is_empty() {
                        let (block, name) = live.swap_remove(pick.index(live.len()));
                        drop(block);
                        oracle.free(name);
                    }
                }
                Step::EmptyCache => {
                    let released = device.empty_cache().unwrap();
                    prop_assert_eq!(released.segments, oracle.release().len() as u64);
                }
                Step::ResetPeak => {
                    device.reset_peak_memory_stats();
                    expected.reset_peak();
                }
                Step::ResetAccumulated => {
                    device.reset_accumulated_memory_stats();
                    expected.reset_accumulated();
                }
            }
            expected.observe(&oracle);
            compare(device, &expected);
        }
    }
}

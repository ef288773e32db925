//! What both tests over the plain allocator need: a runtime whose addresses fall, and every statistic as
//! it follows from sums that are taken after each step.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use neuronx_mem::runtime::{MemoryInfo, RuntimeError, SegmentAllocation, SegmentHandle, SliceHandle};
use neuronx_mem::{Device, DeviceId, DeviceRuntime};

use crate::oracle::{Oracle, Sums};

pub(crate) const TOP: u64 = 1 << 40;

/// Hands out falling addresses, so that age and address of segments disagree.
#[derive(Debug)]
pub(crate) struct Falling {
    next: AtomicU64,
}

pub(crate) fn below(address: u64, bytes: u64) -> u64 {
    (address - bytes) / 64 * 64
}

impl Falling {
    pub(crate) fn new() -> Self {
        Self { next: AtomicU64::new(TOP) }
    }
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

/// current, peak, allocated, freed of each key prefix, kept by looking at sums after each step.
#[derive(Default)]
pub(crate) struct Expected {
    values: BTreeMap<String, [i64; 4]>,
}

impl Expected {
    pub(crate) fn observe(&mut self, oracle: &Oracle) {
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

    /// A block of one pool became another one in its place: (block bytes, requested) before and after.
    #[allow(dead_code, reason = "only streams take blocks over")]
    pub(crate) fn exchange(&mut self, is_small: bool, before: (u64, u64), after: (u64, u64)) {
        let pool = if is_small { "small_pool" } else { "large_pool" };
        let sums = |(allocated, active)| Sums { live_blocks: 1, allocated, active, ..Sums::default() };
        for ((family, before), (_, after)) in currents(&sums(before)).into_iter().zip(currents(&sums(after)))
        {
            for scope in [pool, "all"] {
                let entry = self.values.entry(format!("{family}.{scope}")).or_default();
                *entry = [entry[0] - before + after, entry[1], entry[2] + after, entry[3] + before];
            }
        }
    }

    pub(crate) fn reset_peak(&mut self) {
        self.values.values_mut().for_each(|entry| entry[1] = entry[0]);
    }

    pub(crate) fn reset_accumulated(&mut self) {
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
pub(crate) fn compare(device: &Device, expected: &Expected) {
    let map = device.memory_stats().to_map();
    for (prefix, values) in &expected.values {
        let ours = ["current", "peak", "allocated", "freed"].map(|metric| map[&format!("{prefix}.{metric}")]);
        assert_eq!(ours, *values, "{prefix}");
    }
    let usage = device.usage();
    assert_eq!(usage.reserved_bytes, usage.allocated_bytes + usage.padding_bytes + usage.cached_free_bytes);
    assert!(usage.reserved_bytes >= usage.allocated_bytes && usage.allocated_bytes >= usage.active_bytes);
}

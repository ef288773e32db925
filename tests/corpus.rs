//! The trace corpus under the default configuration: the exact figures of an independent model,
//! and the laws of allocator semantics §1 after every single event.
//!
//! The sums on one side of a law are the device's own statistics. Those on the other side are
//! added up here from the handles that the replay was given, and asked of the simulated runtime;
//! a walk over all blocks confirms both every so often.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::path::Path;

use neuronx_mem::pool::Usage;
use neuronx_mem::stats::{Family, MemoryStats, Scope, StatsReader};
use neuronx_mem::{Device, Handle};
use neuronx_mem_replay::{Event, OpenedTrace, Outcome, Progress, Replay, ReplayOptions, TraceInput};

/// Events between two walks over all blocks.
const WALK_EVERY: u64 = 2_000;

struct Expected {
    events: u64,
    active_peak: u64,
    allocated_peak: u64,
    reserved_peak: u64,
}

fn open(name: &str) -> OpenedTrace {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/traces");
    TraceInput::File(folder.join(format!("{name}.csv.zst"))).open().unwrap()
}

/// Sums over the live blocks, from their handles.
#[derive(Default)]
struct Sums {
    allocated: u64,
    extents: u64,
    active: u64,
    /// What each live tensor asked for; the corpus numbers its tensors densely.
    requested: Vec<u64>,
}

impl Sums {
    fn follow(&mut self, progress: &Progress<'_>) {
        let Handle { block_bytes, extent_bytes, .. } = match progress.handle {
            Some(handle) => handle,
            None => return,
        };
        match *progress.event {
            Event::Allocate { id, bytes, .. } => {
                self.allocated += block_bytes;
                self.extents += extent_bytes;
                self.active += bytes;
                *self.slot(id) = bytes;
            }
            Event::Free { id } => {
                self.allocated -= block_bytes;
                self.extents -= extent_bytes;
                self.active -= *self.slot(id);
            }
            _ => {}
        }
    }

    fn slot(&mut self, id: u64) -> &mut u64 {
        let idx = usize::try_from(id).unwrap();
        if idx >= self.requested.len() {
            self.requested.resize(idx + 1, 0);
        }
        &mut self.requested[idx]
    }

    /// What a walk over all blocks must find, when the runtime holds `reserved` bytes for it.
    fn usage(&self, reserved: u64) -> Usage {
        Usage {
            reserved_bytes: reserved,
            allocated_bytes: self.allocated,
            active_bytes: self.active,
            cached_free_bytes: reserved - self.extents,
            padding_bytes: self.extents - self.allocated,
            pending_bytes: 0,
        }
    }
}

fn reader_of<'a>(slot: &'a mut Option<StatsReader>, device: &Device) -> &'a StatsReader {
    slot.get_or_insert_with(|| device.stats_reader())
}

/// `reserved >= allocated >= active`, and the identity that pads the difference.
#[track_caller]
fn check_usage(usage: Usage) {
    let Usage { reserved_bytes, allocated_bytes, active_bytes, cached_free_bytes, padding_bytes, .. } = usage;
    assert!(reserved_bytes >= allocated_bytes && allocated_bytes >= active_bytes, "{usage:?}");
    assert_eq!(reserved_bytes, allocated_bytes + padding_bytes + cached_free_bytes, "{usage:?}");
}

#[track_caller]
fn check_returned(device: &Device) {
    let stats = device.memory_stats();
    let current = |family| stats.values(family, Scope::All).current;
    assert!(stats.is_settled());
    assert_eq!((current(Family::Allocation), current(Family::AllocatedBytes)), (0, 0));
    assert_eq!((current(Family::ActiveBytes), current(Family::InactiveSplit)), (0, 0));
    assert_eq!(device.usage().cached_free_bytes, device.memory_reserved());
    device.inspect(|pool| pool.validate()).unwrap();
    let released = device.empty_cache().unwrap();
    assert_eq!(released.bytes, stats.values(Family::ReservedBytes, Scope::All).current);
    assert_eq!((device.memory_reserved(), device.memory_info().unwrap().used_bytes), (0, 0));
}

#[track_caller]
fn check_corpus(name: &str, expected: &Expected) {
    let mut sums = Sums::default();
    let mut reader = None;
    let mut check = |progress: &Progress<'_>| {
        sums.follow(progress);
        let (device, number) = (progress.device, progress.number);
        let reader = reader_of(&mut reader, device);
        let now = (reader.memory_reserved(), reader.memory_allocated(), reader.memory_active());
        let (reserved, allocated, active) = now;
        assert!(reserved >= allocated && allocated >= active, "{name} event {number}: {now:?}");
        // Every byte of the runtime's is in a live block's extent or cached, none in both.
        assert_eq!((allocated, active), (sums.allocated, sums.active), "{name} event {number}");
        let held = device.memory_info().unwrap().used_bytes;
        assert_eq!(reserved, held, "{name} event {number}");
        check_usage(sums.usage(held));
        if number.is_multiple_of(WALK_EVERY) {
            assert_eq!(device.usage(), sums.usage(held), "{name} event {number}");
        }
    };
    let Outcome { report, device, .. } =
        Replay::new(ReplayOptions::default()).observe(open(name), &mut check).unwrap();
    assert_eq!(device.usage(), sums.usage(report.reserved_bytes));
    assert_eq!(report.trace_name.as_deref(), Some(name));
    assert_eq!((report.events, report.num_ooms, report.num_alloc_retries), (expected.events, 0, 0));
    assert_eq!(report.active_peak_bytes, expected.active_peak);
    assert_eq!(report.allocated_peak_bytes, expected.allocated_peak);
    assert_eq!(report.reserved_peak_bytes, expected.reserved_peak);
    assert_eq!((report.allocated_bytes, report.active_bytes), (0, 0));
    check_returned(&device);
}

#[test]
fn gpt2_bf16() {
    let expected = Expected {
        events: 9_881,
        active_peak: 10_103_844_648,
        allocated_peak: 10_154_600_960,
        reserved_peak: 10_617_880_576,
    };
    check_corpus("gpt2_bf16", &expected);
}

#[test]
fn llama1b_ckpt() {
    let expected = Expected {
        events: 25_163,
        active_peak: 14_055_600_392,
        allocated_peak: 14_055_601_152,
        reserved_peak: 18_765_316_096,
    };
    check_corpus("llama1b_ckpt", &expected);
}

#[test]
fn resnet50() {
    let expected = Expected {
        events: 6_737,
        active_peak: 5_762_142_352,
        allocated_peak: 5_823_930_624,
        reserved_peak: 6_908_018_688,
    };
    check_corpus("resnet50", &expected);
}

#[test]
fn int64_small() {
    let expected = Expected {
        events: 9_399,
        active_peak: 2_051_401_512,
        allocated_peak: 2_051_645_184,
        reserved_peak: 2_204_106_752,
    };
    check_corpus("int64_small", &expected);
}

#[test]
fn varlen_ft() {
    let expected = Expected {
        events: 103_617,
        active_peak: 8_362_057_656,
        allocated_peak: 8_455_001_088,
        reserved_peak: 17_276_338_176,
    };
    check_corpus("varlen_ft", &expected);
}

#[test]
fn moe_train() {
    let expected = Expected {
        events: 35_947,
        active_peak: 13_055_643_652,
        allocated_peak: 13_055_830_272,
        reserved_peak: 15_663_628_288,
    };
    check_corpus("moe_train", &expected);
}

#[test]
fn llama7b_decode() {
    let expected = Expected {
        events: 719_455,
        active_peak: 16_573_309_440,
        allocated_peak: 16_573_309_440,
        reserved_peak: 16_684_941_312,
    };
    check_corpus("llama7b_decode", &expected);
}

#[test]
fn fsdp_llama1b() {
    let expected = Expected {
        events: 17_895,
        active_peak: 15_873_760_904,
        allocated_peak: 15_875_858_432,
        reserved_peak: 18_008_244_224,
    };
    check_corpus("fsdp_llama1b", &expected);
}

fn values(stats: &MemoryStats) -> [u64; 3] {
    let families = [Family::ReservedBytes, Family::AllocatedBytes, Family::ActiveBytes];
    families.map(|family| stats.values(family, Scope::All).current)
}

#[test]
fn fsdp_llama1b_with_work_in_flight() {
    let options = ReplayOptions { in_flight: 64, memory_bytes: Some(64 << 30), ..ReplayOptions::default() };
    let mut sums = Sums::default();
    let mut most_pending = 0;
    let Outcome { report, device, .. } = Replay::new(options)
        .observe(open("fsdp_llama1b"), |progress| {
            sums.follow(progress);
            let (device, number) = (progress.device, progress.number);
            let usage = device.usage();
            check_usage(usage);
            let Usage { reserved_bytes, allocated_bytes, active_bytes, pending_bytes, .. } = usage;
            assert_eq!(values(&device.memory_stats()), [reserved_bytes, allocated_bytes, active_bytes]);
            // A freed block is live until its deallocation has run, and pending until then.
            assert_eq!(allocated_bytes, sums.allocated + pending_bytes, "event {number}");
            if matches!(progress.event, Event::Synchronize) {
                assert_eq!(pending_bytes, 0, "event {number}");
            }
            most_pending = most_pending.max(pending_bytes);
        })
        .unwrap();
    assert_eq!((report.events, report.num_ooms, report.num_alloc_retries), (17_895, 0, 0));
    assert!(most_pending > 1 << 30, "frees are delayed: {most_pending}");
    // Delayed frees can only hold more at once.
    assert!(report.active_peak_bytes > 15_873_760_904);
    assert_eq!((report.allocated_bytes, report.active_bytes, report.pending_bytes), (0, 0, 0));
    check_returned(&device);
}

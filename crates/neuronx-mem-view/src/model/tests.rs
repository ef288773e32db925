//! Ranges and inferred block sizes, checked by hand.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem_snapshot::{Snapshot, Value};

use super::allocations::STILL_LIVE;
use super::carve::{Carver, Held, Rules};
use super::divisions::Divisions;
use super::segments::{Ranges, SegmentLife};

fn range(address: u64, bytes: u64, birth: u64) -> SegmentLife {
    let (is_small, is_private, stream) = (None, false, None);
    SegmentLife { address, bytes, birth, death: STILL_LIVE, is_small, is_private, stream }
}

#[test]
fn a_range_cut_in_the_middle_goes_on_as_two() {
    let mut ranges = Ranges::default();
    ranges.add(range(100, 60, 1));
    ranges.remove(120, 20, 5);
    let held: Vec<_> = ranges.held().map(|it| (it.address, it.bytes, it.birth)).collect();
    assert_eq!(held, [(100, 20, 5), (140, 20, 5)]);
    assert_eq!(ranges.reserved_bytes, 40);
    assert_eq!(ranges.at(139), None);
    assert_eq!(ranges.at(159).unwrap().address, 140);
    let lives: Vec<_> = ranges.into_lives().iter().map(|it| (it.address, it.birth, it.death)).collect();
    assert_eq!(lives, [(100, 1, 5), (100, 5, STILL_LIVE), (140, 5, STILL_LIVE)]);
}

#[test]
fn one_removal_may_end_many_ranges() {
    let mut ranges = Ranges::default();
    for address in [0, 10, 30, 50] {
        ranges.add(range(address, 10, 1));
    }
    ranges.remove(5, 40, 2);
    let held: Vec<_> = ranges.held().map(|it| (it.address, it.bytes)).collect();
    assert_eq!(held, [(0, 5), (50, 10)]);
    assert_eq!(ranges.reserved_bytes, 15);
}

#[test]
fn pytorch_keeps_a_small_rest_with_a_large_block() {
    const MIB: u64 = 1 << 20;
    let rules = Rules::of(&Snapshot::new());
    assert!(!rules.is_own());
    let mut carver = Carver::new(rules);
    let held = Some(Held { end: 20 * MIB, is_fresh: true });
    // 20 MiB - 19.5 MiB is less than a large block may leave over.
    assert_eq!(carver.take(0, 19 * MIB + MIB / 2, None, held), 20 * MIB);
    carver.give(0);
    assert_eq!(carver.take(0, 19 * MIB - 1, None, held), 19 * MIB + MIB, "exactly 1 MiB is not enough");
    carver.give(0);
    assert_eq!(carver.take(0, 2 * MIB + 1, None, held), 2 * MIB + 512);
    // The next block bounds what is free.
    assert_eq!(carver.take(4 * MIB, MIB + 512, None, held), MIB + 512);
    assert_eq!(carver.take(3 * MIB, MIB - 100, None, held), MIB);
    assert_eq!(carver.take(9 * MIB, 100, Some(4096), held), 4096, "what the file says is right");
}

#[test]
fn pytorch_rounds_as_its_settings_say() {
    const MIB: u64 = 1 << 20;
    let plain = Divisions::of(&Snapshot::new());
    assert_eq!(
        [0, 1, 512, 513, MIB + 1].map(|bytes| plain.round(bytes)),
        [512, 512, 512, 1024, MIB + 512].map(Some)
    );
    assert_eq!(plain.round(u64::MAX), None);
    let mut snapshot = Snapshot::new();
    let parts = [("1", 4), ("4", 8), ("32768", 1)].map(|(size, parts)| (size, Value::Int(parts)));
    snapshot.set_setting("roundup_power2_divisions", Value::dict(parts));
    let divided = Divisions::of(&snapshot);
    // Sizes below 1 MiB go with 1 MiB; those of at most 512 bytes a part stay as they are.
    assert_eq!(divided.round(2048), Some(2048));
    assert_eq!(divided.round(2049), Some(2560));
    assert_eq!(divided.round(1_300_000), Some(MIB + MIB / 4));
    assert_eq!(divided.round(MIB), Some(MIB));
    assert_eq!(divided.round(2 * MIB + 1), Some(2 * MIB + 512), "2 MiB has none of its own");
    assert_eq!(divided.round(5 * MIB + 1), Some(5 * MIB + MIB / 2));
    assert_eq!(divided.round(u64::MAX), None);
}

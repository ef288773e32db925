//! The shadow against a plain one: bytes of a small address space, each with the block that holds it or
//! was freed there last. And the limits, and the one-line texts.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem_detector::{Access, Detector, DetectorOptions, FindingKind, NewBlock};
use proptest::prelude::*;

const BYTES: u64 = 512;

fn access(address: u64, bytes: u64) -> Access {
    Access { address, bytes, stream: 0, ticket: 1 }
}

fn block(key: u64, address: u64, extent_bytes: u64, requested_bytes: u64) -> NewBlock {
    NewBlock { key, address, extent_bytes, requested_bytes, stream: 0 }
}

/// What a byte belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Byte {
    Unknown,
    Live(u64),
    Freed(u64),
}

#[derive(Clone, Debug)]
enum Step {
    Allocate { at: u64, extent: u64, requested: u64 },
    Free(prop::sample::Index),
    Release { at: u64 },
    Use { at: u64, bytes: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..BYTES / 32, 1u64..4, 0u64..32).prop_map(|(at, extent, unused)| Step::Allocate {
            at: at * 32,
            extent: extent * 32,
            requested: extent * 32 - unused,
        }),
        2 => any::<prop::sample::Index>().prop_map(Step::Free),
        1 => (0..4u64).prop_map(|at| Step::Release { at: at * BYTES / 4 }),
        4 => (0..BYTES, 1u64..40).prop_map(|(at, bytes)| Step::Use { at, bytes }),
    ];
    prop::collection::vec(step, 1..100)
}

proptest! {
    #[test]
    fn the_shadow_and_plain_bytes_agree(steps in steps()) {
        let mut detector = Detector::<u64>::new(0, DetectorOptions::default());
        let mut plain = vec![Byte::Unknown; usize::try_from(BYTES).unwrap() + 128];
        let mut live: Vec<NewBlock> = Vec::new();
        let mut keys = 0;
        let range = |at: u64, bytes: u64| usize::try_from(at).unwrap()..usize::try_from(at + bytes).unwrap();
        for step in steps {
            match step {
                Step::Allocate { at, extent, requested } => {
                    let bytes = &mut plain[range(at, extent)];
                    if bytes.iter().any(|byte| matches!(byte, Byte::Live(_))) {
                        continue;
                    }
                    let was_filled = bytes.iter().filter(|byte| matches!(byte, Byte::Freed(_))).count() as u64;
                    keys += 1;
                    bytes.fill(Byte::Live(keys));
                    let new = block(keys, at, extent, requested);
                    let poisoned = detector.allocated(&new, None);
                    prop_assert_eq!(poisoned.iter().map(|p| p.bytes).sum::<u64>(), was_filled);
                    live.push(new);
                }
                Step::Free(pick) if !live.is_empty() => {
                    let freed = live.swap_remove(pick.index(live.len()));
                    prop_assert_eq!(detector.free_requested(freed.key, None), vec![]);
                    detector.freed(freed.key, true);
                    plain[range(freed.address, freed.extent_bytes)].fill(Byte::Freed(freed.key));
                }
                Step::Free(_) => {}
                Step::Release { at } => {
                    let bytes = &mut plain[range(at, BYTES / 4)];
                    if bytes.iter().any(|byte| matches!(byte, Byte::Live(_))) {
                        continue;
                    }
                    detector.released(at, BYTES / 4);
                    // The memory is gone; who was there last is remembered, for bytes of whole blocks.
                    bytes.fill(Byte::Unknown);
                }
                Step::Use { at, bytes } => {
                    let used = &plain[range(at, bytes)];
                    let found = detector.used(&access(at, bytes), None).map(|finding| finding.kind);
                    match used[0] {
                        Byte::Live(key) => {
                            let owner = live.iter().find(|block| block.key == key).unwrap();
                            let is_inside = at + bytes <= owner.address + owner.requested_bytes;
                            prop_assert_eq!(found.is_none(), is_inside);
                            let is_bounds = matches!(found, None | Some(FindingKind::OutOfBounds { .. }));
                            prop_assert!(is_bounds);
                        }
                        Byte::Freed(_) => {
                            let is_first = matches!(found,
                                Some(FindingKind::UseAfterFree { address, .. }) if address == at);
                            prop_assert!(is_first, "{found:?}");
                        }
                        Byte::Unknown => prop_assert!(found.is_some()),
                    }
                }
            }
        }
    }
}

#[test]
fn the_oldest_freed_blocks_are_forgotten() {
    let options = DetectorOptions::default().with_max_freed_blocks(2);
    let mut detector = Detector::<u64>::new(0, options);
    for key in 1..=3 {
        detector.allocated(&block(key, key * 64, 64, 64), None);
        detector.free_requested(key, None);
        detector.freed(key, true);
    }
    assert_eq!(detector.all_poisoned().len(), 2);
    assert_eq!(detector.free_refused(1, 64, None).kind, FindingKind::InvalidFree { address: 64 });
    assert_eq!(detector.free_refused(2, 128, None).kind, FindingKind::DoubleFree);
    assert_eq!(detector.used(&access(64, 1), None).unwrap().kind.name(), "unknown-address");
}

#[test]
fn findings_beyond_the_limit_are_counted_and_repeated_ones_are_one() {
    let options = DetectorOptions::default().with_max_findings(2);
    let mut detector = Detector::<u64>::new(0, options);
    for place in [1, 2, 2, 3] {
        detector.used(&access(64, 1), Some(place));
    }
    let times: Vec<_> = detector.findings().iter().map(|finding| (finding.number, finding.times)).collect();
    assert_eq!((times, detector.n_seen()), (vec![(1, 1), (2, 2)], 4));
}

#[test]
fn every_kind_is_one_line() {
    let mut detector = Detector::<u64>::new(3, DetectorOptions::default());
    let mut lines = Vec::new();
    let side = Access { address: 64, bytes: 64, stream: 1, ticket: 2 };
    detector.allocated(&block(1, 64, 64, 64), None);
    assert_eq!(detector.used(&side, None), None);
    lines.extend(detector.used(&access(100, 60), None).map(|finding| finding.to_string()));
    lines.extend(detector.free_requested(1, None).iter().map(ToString::to_string));
    lines.extend(detector.used(&access(100, 4), None).map(|finding| finding.to_string()));
    lines.push(detector.free_refused(1, 64, None).to_string());
    detector.taken_over(1, 7);
    detector.allocated(&block(2, 64, 64, 64), None);
    lines.extend(detector.used(&side, None).map(|finding| finding.to_string()));
    detector.free_requested(2, None);
    detector.freed(2, true);
    let poisoned = detector.all_poisoned();
    lines.push(detector.poison_broken(&poisoned[0], 66, 0, None).to_string());
    lines.push(detector.free_refused(9, 4096, None).to_string());
    lines.extend(detector.used(&access(4096, 4), None).map(|finding| finding.to_string()));
    insta::assert_snapshot!(lines.join("\n"));
}

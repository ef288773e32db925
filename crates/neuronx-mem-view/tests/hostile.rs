//! Snapshots that make no sense: every one becomes a recording and a page, and nothing breaks.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem_replay::{Input, ReplayOptions};
use neuronx_mem_snapshot::{Action, Block, BlockState, Segment, Snapshot, TraceEntry};
use neuronx_mem_view::{PageOptions, Recording, write_page};
use proptest::prelude::*;

/// Address, bytes, bytes asked for, and the number of a state.
type MadeBlock = (u64, u64, u64, usize);

/// Address, whether it is of the small pool, and its blocks.
type MadeSegment = (u64, bool, Vec<MadeBlock>);

/// Numbers near every edge, and some that meet each other.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(1),
        Just(64),
        Just(4096),
        Just(8192),
        Just(1 << 20),
        Just(u64::MAX / 2),
        Just(u64::MAX - 63),
        Just(u64::MAX),
        any::<u64>(),
    ]
}

fn snapshot(segments: &[MadeSegment], entries: &[(usize, u64, u64, u64)]) -> Snapshot {
    const STATES: [BlockState; 3] =
        [BlockState::ActiveAllocated, BlockState::ActivePendingFree, BlockState::Inactive];
    let mut snapshot = Snapshot::new();
    snapshot.set_n_devices(1);
    for (address, is_small, blocks) in segments {
        let block = |(address, bytes, requested, state): &MadeBlock| {
            Block::new(*address, *bytes, STATES[*state]).with_requested_bytes(*requested)
        };
        snapshot.segments.push(Segment::from_blocks(
            0,
            *address,
            *is_small,
            blocks.iter().map(block).collect(),
        ));
    }
    for (action, address, bytes, time_us) in entries {
        let entry = TraceEntry::new(Action::ALL[*action]).with_addr(*address).with_size_bytes(*bytes);
        snapshot.push_entry(0, entry.with_time_us(*time_us).with_stream(*time_us));
    }
    snapshot
}

proptest! {
    #[test]
    fn no_snapshot_breaks_a_recording(
        segments in prop::collection::vec(
            (number(), any::<bool>(), prop::collection::vec((number(), number(), number(), 0_usize..3), 0..6)),
            0..5,
        ),
        entries in prop::collection::vec((0_usize..10, number(), number(), number()), 0..40),
        max_allocations in 0_usize..8,
        max_points in 0_usize..8,
    ) {
        let n_entries = entries.len() as u64;
        let input = Input::from_snapshot(Box::new(snapshot(&segments, &entries)), None, "made up").unwrap();
        let recording = Recording::of(&input, &ReplayOptions::default()).unwrap();
        prop_assert!((n_entries..=n_entries + 2).contains(&recording.n_events()));
        let timeline = &recording.timeline;
        let n_points = timeline.reserved_bytes.len();
        prop_assert_eq!(timeline.allocated_bytes.len(), n_points);
        prop_assert_eq!(recording.events.kinds.len(), n_points - 1);
        prop_assert!(timeline.times_us.is_empty() || timeline.times_us.len() == n_points);
        prop_assert!(timeline.times_us.is_sorted());
        for event in 0..=recording.n_events() {
            let map = recording.map_at(event);
            let reserved = map.iter().map(|held| held.segment.bytes).fold(0, u64::saturating_add);
            let idx = usize::try_from(event).unwrap();
            // Beyond 64 bits the sums saturate, and what comes after them is no sum any more.
            if timeline.reserved_bytes[..=idx].iter().all(|bytes| *bytes < u64::MAX / 2) {
                prop_assert_eq!(reserved, timeline.reserved_bytes[idx], "event {}", event);
            }
            let _ = recording.top_sites_at(event);
        }
        let mut options = PageOptions::default();
        options.max_allocations = max_allocations;
        options.max_points = max_points;
        let mut page = Vec::new();
        write_page(&recording, &options, &mut page).unwrap();
        prop_assert!(page.ends_with(b"</html>\n"));
    }
}

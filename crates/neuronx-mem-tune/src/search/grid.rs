//! Settings that are known to help somewhere, sized for the inputs at hand. Where a search starts.

use neuronx_mem::AllocatorConfig;
use neuronx_mem::config::ConfigKey as Key;

use super::space::{Space, thousandths, whole};

/// Slack over the peak of live bytes at which a single arena is tried, thousandths.
const ARENA_SLACK: [u64; 16] =
    [1001, 1002, 1003, 1005, 1010, 1015, 1020, 1030, 1040, 1050, 1060, 1080, 1100, 1130, 1170, 1200];

/// Where the small pool ends, for arenas: nowhere, or at sizes that hold little memory in all.
const ARENA_BOUNDARIES: [u64; 5] = [1, 512, 4 << 10, 64 << 10, 1 << 20];

const SMALL_SPLIT: u64 = 256;

/// All of them that may be proposed; `live_peaks` are those of the inputs, at least one.
pub(crate) fn known(space: &Space, live_peaks: &[u64]) -> Vec<AllocatorConfig> {
    let mut configs = Vec::new();
    rounding(&mut configs, space);
    shared_segments(&mut configs, space);
    unsplit(&mut configs, space);
    arenas(&mut configs, space, live_peaks);
    configs
}

/// Finer or coarser size classes alone.
fn rounding(configs: &mut Vec<AllocatorConfig>, space: &Space) {
    for divisions in [1, 2, 8, 16, 32, 64] {
        for split in [SMALL_SPLIT, 1 << 20] {
            configs.extend(
                space.changed(&[(Key::RoundupPower2Divisions, divisions), (Key::LargeSplitThreshold, split)]),
            );
        }
    }
}

/// Larger shared segments for more of the requests.
fn shared_segments(configs: &mut Vec<AllocatorConfig>, space: &Space) {
    let segments = (4..=33).map(|power| 1u64 << (power + 20)).take_while(|s| *s <= space.max_segment_bytes);
    for segment in segments {
        for shift in [0, 1, 2, 4, 6, 9] {
            for divisions in [4, 64] {
                for alignment in [64 << 10, 2 << 20] {
                    let threshold = segment >> shift;
                    configs.extend(space.changed(&[
                        (Key::MediumSegmentSize, segment),
                        (Key::MediumThreshold, threshold),
                        (Key::RoundupPower2Divisions, divisions),
                        (Key::SegmentAlignment, alignment),
                    ]));
                }
            }
        }
    }
}

/// Large blocks that stay whole.
fn unsplit(configs: &mut Vec<AllocatorConfig>, space: &Space) {
    for limit in [64u64 << 20, 128 << 20, 256 << 20, 512 << 20, 1 << 30] {
        for waste in [0u64, 4 << 20, 20 << 20, 64 << 20] {
            for divisions in [4, 64] {
                configs.extend(space.changed(&[
                    (Key::MaxSplitSizeBytes, limit),
                    (Key::MaxNonSplitRoundingBytes, waste),
                    (Key::RoundupPower2Divisions, divisions),
                ]));
            }
        }
    }
}

/// One segment just over the peak, from which everything is served. Where inputs differ too much in
/// size there is no such segment.
fn arenas(configs: &mut Vec<AllocatorConfig>, space: &Space, live_peaks: &[u64]) {
    let largest = live_peaks.iter().copied().max().unwrap_or(0);
    let smallest = live_peaks.iter().copied().min().unwrap_or(0);
    if !is_one_program(smallest, largest) {
        return;
    }
    for slack in ARENA_SLACK {
        let arena = whole(thousandths(largest, slack));
        for boundary in ARENA_BOUNDARIES {
            for split in [SMALL_SPLIT, 1 << 20] {
                let small_segment = (2 * boundary).next_power_of_two().max(8 << 10);
                configs.extend(space.changed(&[
                    (Key::MediumSegmentSize, arena),
                    (Key::MediumThreshold, arena),
                    (Key::RoundupPower2Divisions, 64),
                    (Key::LargeSplitThreshold, split),
                    (Key::PoolBoundary, boundary),
                    (Key::SmallSegmentSize, small_segment),
                ]));
            }
        }
    }
}

/// Whether peaks are so close that the inputs may be runs of one program.
pub(crate) fn is_one_program(smallest: u64, largest: u64) -> bool {
    largest / 4 <= smallest / 3
}

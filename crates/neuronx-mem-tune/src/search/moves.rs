//! How a good setting is varied: one key or two at a time, or the better halves of two settings.

use neuronx_mem::AllocatorConfig;
use neuronx_mem::config::ConfigKey as Key;

use super::random::Random;
use super::space::{Space, Values, thousandths, values_of, whole};

/// Factors by which sizes of segments and thresholds are tried, thousandths.
const FACTORS: [u64; 20] = [
    250, 500, 750, 900, 950, 980, 990, 995, 998, 999, 1001, 1002, 1005, 1010, 1020, 1050, 1100, 1250, 2000,
    4000,
];

const DIVISIONS: [u64; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];
const BOUNDARIES: [u64; 11] =
    [1, 256, 512, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20];
const SPLITS: [u64; 8] = [64, 256, 1 << 10, 16 << 10, 256 << 10, 1 << 20, 2 << 20, 8 << 20];
const WASTES: [u64; 6] = [0, 1 << 20, 4 << 20, 20 << 20, 64 << 20, 256 << 20];
const MIN_SIZES: [u64; 5] = [256, 512, 1 << 10, 4 << 10, 16 << 10];

/// Varies settings; holds what the variations draw from.
pub(crate) struct Moves<'a> {
    pub(crate) space: Space,
    /// Distinct sizes of the inputs, bytes, ascending: thresholds matter only between them.
    pub(crate) sizes: &'a [u64],
    pub(crate) random: Random,
}

impl Moves<'_> {
    /// Up to `n` variations of the elite that may be proposed, best parents first. May repeat some.
    pub(crate) fn vary(&mut self, elite: &[AllocatorConfig], n: usize) -> Vec<AllocatorConfig> {
        let mut varied = Vec::with_capacity(n);
        // A move may be refused, and a setting may have no admissible neighbour at all.
        for attempt in 0..n * 4 {
            // The first of the elite is varied most often.
            let rank = self.random.below(elite.len()).min(self.random.below(elite.len()));
            let Some(parent) = elite.get(rank) else { break };
            let mut values = values_of(parent);
            match attempt % 4 {
                0 | 1 => self.change(&mut values),
                2 => {
                    self.change(&mut values);
                    self.change(&mut values);
                }
                _ => self.cross(&mut values, elite),
            }
            varied.extend(self.space.config(&values));
            if varied.len() >= n {
                break;
            }
        }
        varied
    }

    /// Takes some keys from another of the elite.
    fn cross(&mut self, values: &mut Values, elite: &[AllocatorConfig]) {
        let Some(other) = self.random.pick(elite).map(values_of) else { return };
        let mask = self.random.next();
        for (idx, value) in values.iter_mut().enumerate() {
            if mask >> idx & 1 == 1 {
                *value = other[idx];
            }
        }
    }

    fn change(&mut self, values: &mut Values) {
        let key = Key::ALL[self.random.below(Key::ALL.len())];
        let at = |key: Key| Key::ALL.iter().position(|other| *other == key).unwrap_or(0);
        let value = values[at(key)];
        values[at(key)] = match key {
            Key::PoolBoundary => self.one_of(&BOUNDARIES),
            Key::SmallSegmentSize => self.scaled(value).checked_next_power_of_two().unwrap_or(value),
            Key::MediumSegmentSize => {
                let segment = whole(self.scaled(value));
                // Where everything shares segments, the threshold goes along.
                if values[at(Key::MediumThreshold)] == value {
                    values[at(Key::MediumThreshold)] = segment;
                }
                segment
            }
            Key::MediumThreshold => match self.random.below(3) {
                0 => self.scaled(value),
                1 => values[at(Key::MediumSegmentSize)],
                _ => self.between_sizes(),
            },
            Key::SegmentAlignment => self.scaled(value).checked_next_power_of_two().unwrap_or(value),
            Key::MinRoundedSize => self.one_of(&MIN_SIZES),
            Key::RoundupPower2Divisions => self.one_of(&DIVISIONS),
            Key::SmallSplitThreshold | Key::LargeSplitThreshold => self.one_of(&SPLITS),
            Key::MaxSplitSizeBytes => match self.random.below(3) {
                0 => u64::MAX,
                1 => values[at(Key::MediumSegmentSize)],
                _ => self.between_sizes(),
            },
            Key::MaxNonSplitRoundingBytes => self.one_of(&WASTES),
        };
    }

    fn one_of(&mut self, values: &[u64]) -> u64 {
        self.random.pick(values).copied().unwrap_or(0)
    }

    fn scaled(&mut self, value: u64) -> u64 {
        let factor = self.one_of(&FACTORS);
        thousandths(value, factor)
    }

    /// Just above one of the sizes.
    fn between_sizes(&mut self) -> u64 {
        self.random.pick(self.sizes).map_or(0, |bytes| bytes.saturating_add(1))
    }
}

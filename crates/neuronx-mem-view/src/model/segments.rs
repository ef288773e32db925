//! The lives of segments. Knows that ranges of one can come and go by themselves, as PyTorch's
//! expandable segments do; knows no blocks.

use std::collections::BTreeMap;

use super::allocations::STILL_LIVE;

/// A segment, or a part of one that came and went as one, from birth to death.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentLife {
    /// First address.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// The event that took it from the runtime; 0 when it was there before the first.
    pub birth: u64,
    /// The event that gave it back; [`STILL_LIVE`] if none did.
    pub death: u64,
    /// Whether it serves the small pool; `None` when that is not known.
    pub is_small: Option<bool>,
    /// Whether it belongs to a private pool.
    pub is_private: bool,
    /// The stream whose requests it serves; `None` when it serves all, or that is not known.
    pub stream: Option<u64>,
}

/// The ranges held at one moment, and all that were ever held. Every operation is
/// O(log segments) and as many as the range touches.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    /// Positions in `lives` by address.
    held: BTreeMap<u64, usize>,
    pub(super) lives: Vec<SegmentLife>,
    /// Wider than any size, so that what comes and goes within one event adds up.
    pub(super) reserved_bytes: u128,
}

impl Ranges {
    /// A range comes. What it overlaps goes first: nothing is held twice.
    pub(super) fn add(&mut self, segment: SegmentLife) {
        if segment.bytes == 0 {
            return;
        }
        self.remove(segment.address, segment.bytes, segment.birth);
        self.held.insert(segment.address, self.lives.len());
        self.reserved_bytes += u128::from(segment.bytes);
        self.lives.push(segment);
    }

    /// A range goes; what is left of those that it cuts goes on.
    pub(super) fn remove(&mut self, address: u64, bytes: u64, event: u64) {
        let end = address.saturating_add(bytes);
        while let Some((&start, &idx)) = self.held.range(..end).next_back() {
            let cut = self.lives[idx];
            let cut_end = start.saturating_add(cut.bytes);
            if cut_end <= address {
                return;
            }
            self.held.remove(&start);
            self.lives[idx].death = event;
            self.reserved_bytes -= u128::from(cut.bytes);
            for (from, to) in [(start, address), (end, cut_end)] {
                if from < to {
                    let rest = SegmentLife { address: from, bytes: to - from, birth: event, ..cut };
                    self.held.insert(from, self.lives.len());
                    self.reserved_bytes += u128::from(rest.bytes);
                    self.lives.push(SegmentLife { death: STILL_LIVE, ..rest });
                }
            }
        }
    }

    /// The range that holds an address.
    pub(super) fn at(&self, address: u64) -> Option<&SegmentLife> {
        let (_, &idx) = self.held.range(..=address).next_back()?;
        let segment = &self.lives[idx];
        (address - segment.address < segment.bytes).then_some(segment)
    }

    /// Those held, in order of address.
    pub(super) fn held(&self) -> impl Iterator<Item = &SegmentLife> {
        self.held.values().map(|idx| &self.lives[*idx])
    }

    /// All lives in order of birth; those that began and ended within one event are none.
    pub(super) fn into_lives(self) -> Vec<SegmentLife> {
        let mut lives = self.lives;
        lives.retain(|life| life.birth < life.death);
        lives.sort_by_key(|life| (life.birth, life.address));
        lives
    }
}

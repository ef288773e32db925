//! A run in columns: what happened at every event, and what memory looked like after it. Knows both
//! kinds of input; draws nothing.

mod allocations;
mod carve;
mod divisions;
mod events;
mod map;
mod marks;
mod replayed;
mod segments;
mod snapshot;
mod stacks;
mod timeline;

#[cfg(test)]
mod tests;

pub use allocations::{Allocation, AllocationId, Allocations, STILL_LIVE};
pub use events::{EventKind, Events};
pub use map::{BlockOnMap, SegmentOnMap};
pub use marks::{Mark, MarkKind, OutOfMemoryMark};
pub use segments::SegmentLife;
pub use stacks::SiteTotal;
pub use timeline::{Timeline, Totals};

use neuronx_mem_replay::{Input, ReadOptions, ReplayOptions, ReplayReport, Sites, TraceInput};

use crate::ViewError;

/// A run, read once.
///
/// Events are numbered from 1; 0 is the moment before the first. Of a trace they are its lines that
/// had an effect, as `replay` counts them; of a snapshot they are the entries of its history, and
/// one more where the memory at the end shows what no entry tells.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Recording {
    /// Name of the input.
    pub name: String,
    /// Where the figures come from.
    pub origin: Origin,
    /// Device memory, capped, bytes; `None` when nobody said.
    pub device_total_bytes: Option<u64>,
    /// The sums of the whole run.
    pub totals: Totals,
    /// What each event was.
    pub events: Events,
    /// The sums after every event.
    pub timeline: Timeline,
    /// Every allocation, in order of birth.
    pub allocations: Allocations,
    /// Every segment, in order of birth, then address.
    pub segments: Vec<SegmentLife>,
    /// Marks, in order.
    pub marks: Vec<Mark>,
    /// Out-of-memory errors, in order.
    pub ooms: Vec<OutOfMemoryMark>,
    /// Where allocations come from.
    pub sites: Sites,
    /// Lines left out by `--lenient`.
    pub n_skipped: u64,
    /// Entries that the recorder's ring lost before the first.
    pub n_dropped: u64,
}

/// Where the figures of a recording come from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Origin {
    /// A trace or a history, replayed through the allocator: every figure is the allocator's own.
    Replay(Box<ReplayReport>),
    /// A snapshot, as recorded.
    Snapshot {
        /// Whether this allocator wrote it; else it is PyTorch's.
        is_own: bool,
        /// The device looked at.
        device_idx: usize,
        /// Blocks whose size the file does not say, because they were freed before it was taken:
        /// worked out from the allocator's rules.
        n_inferred: u64,
    },
}

impl Recording {
    /// Reads an input of any kind.
    ///
    /// # Errors
    ///
    /// As [`Input::read`] and [`Recording::of`].
    pub fn read(input: &TraceInput, read: &ReadOptions, replay: &ReplayOptions) -> Result<Self, ViewError> {
        Self::of(&Input::read(input, read)?, replay)
    }

    /// Takes a snapshot as it is; replays anything else. O(events · log blocks), about 90 bytes an
    /// event.
    ///
    /// # Errors
    ///
    /// As [`Recording::replayed`].
    pub fn of(input: &Input, replay: &ReplayOptions) -> Result<Self, ViewError> {
        match input.snapshot() {
            Some(snapshot) => snapshot::recording(snapshot, input.device_idx(), input.name(), replay),
            None => Self::replayed(input, replay),
        }
    }

    /// Replays an input through the allocator, the history of a snapshot too.
    ///
    /// # Errors
    ///
    /// As [`Replay::run`](neuronx_mem_replay::Replay::run); [`ViewError::TooLarge`].
    pub fn replayed(input: &Input, replay: &ReplayOptions) -> Result<Self, ViewError> {
        replayed::recording(input, replay)
    }

    /// The last event.
    #[must_use]
    pub fn n_events(&self) -> u64 {
        self.timeline.reserved_bytes.len() as u64 - 1
    }

    /// The allocations that an event leaves live, in order of birth. O(allocations born before).
    pub fn live_at(&self, event: u64) -> impl Iterator<Item = AllocationId> + '_ {
        self.allocations.live_at(event)
    }
}

//! Which live blocks to give up so that a request is served, and what else would serve it.

mod cost;
mod cover;
mod device;
mod remedy;
mod rules;
mod window;

use neuronx_mem::fragmentation::BlockUse;

pub use cost::Least;
pub use remedy::{Remedies, Waiting};
pub use rules::{Need, Rules};

use crate::heap::{Heap, HeapBlock};
use cost::Cost;

/// A set of live blocks whose release serves a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Release {
    /// How the request is served then.
    pub serves_by: ServedBy,
    /// The blocks, in order of address; empty when none need be given up. Blocks whose deallocation is
    /// already queued are not among them.
    pub blocks: Vec<HeapBlock>,
    /// Their bytes.
    pub bytes: u64,
    /// No set is smaller than this, in what [`Least`] counts: bytes or blocks.
    pub bound: u64,
    /// Whether deallocations that are already queued must have run, too.
    pub waits: bool,
}

/// Where a request finds its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServedBy {
    /// A free block of a segment that is held.
    CachedBlock {
        /// First address of the free block.
        address: u64,
        /// Its bytes.
        bytes: u64,
    },
    /// A new segment, once `empty_cache` has given back those with nothing live in them.
    NewSegment {
        /// Segments that go back to the runtime for it.
        n_segments: usize,
    },
}

impl Release {
    /// Whether the set is proved to be the smallest.
    #[must_use]
    pub fn is_smallest(&self, least: Least) -> bool {
        self.size(least) == self.bound
    }

    /// What [`Least`] counts: bytes or blocks.
    #[must_use]
    pub fn size(&self, least: Least) -> u64 {
        match least {
            Least::Bytes => self.bytes,
            Least::Blocks => self.blocks.len() as u64,
        }
    }
}

/// The smallest set of live blocks whose release serves a request; `None` when not even all of
/// them would do.
///
/// A request is served in one of two ways: by a cached block, which must lie in one segment, or by a
/// new segment in the memory that `empty_cache` gives back. For the first, every run of neighbouring
/// blocks is looked at. For the second, every run of segments and gaps where the device's addresses
/// are known; where they are not, memory given back counts as one region, and a set of segments is
/// chosen by exact dynamic programming as long as that is affordable, with a bound beyond. The
/// smaller of the two is the answer.
///
/// O(blocks) and, with unknown addresses, O(segments · missing bytes / unit), at most some 10⁸ steps.
///
/// ```
/// use neuronx_mem::AllocatorConfig;
/// use neuronx_mem_explain::{Input, Least, Moment, Replayed, Rules, smallest_release};
/// use neuronx_mem_replay::{ReplayOptions, TraceReader};
///
/// // Two tensors fill a device of 64 MiB but for 4 MiB; giving up the smaller makes room for 20 MiB.
/// let text = "a,1,37748736,0\na,2,25165824,0\n";
/// let input = Input::from_events(TraceReader::new(text.as_bytes(), "full"))?;
/// let options = ReplayOptions { memory_bytes: Some(64 << 20), ..ReplayOptions::default() };
/// let heap = Replayed::at(&input, &options, Moment::End)?.heap;
/// let need = Rules::Neuron(AllocatorConfig::default()).plan(20 << 20, 0)?;
/// let release = smallest_release(&heap, &need, Least::Bytes).expect("there are tensors to give up");
/// assert_eq!(release.bytes, 24 << 20);
/// # Ok::<(), neuronx_mem_explain::ExplainError>(())
/// ```
#[must_use]
pub fn smallest_release(heap: &Heap, need: &Need, least: Least) -> Option<Release> {
    let cached = window::cheapest(heap, need, least);
    let fresh = device::cheapest(heap, need, least);
    match (cached, fresh) {
        (Some(cached), Some(fresh)) => {
            let (cached_cost, fresh_cost) = (Cost::of(&cached, least), Cost::of(&fresh, least));
            let bound = cached.bound.min(fresh.bound);
            let release = if fresh_cost < cached_cost { fresh } else { cached };
            Some(Release { bound, ..release })
        }
        (cached, fresh) => cached.or(fresh),
    }
}

/// Whether the block stays in use until its owner lets it go.
fn is_held(block: &HeapBlock) -> bool {
    block.state == BlockUse::Live
}

//! Memory as it lay after one event. Copies out what it shows.

use super::allocations::AllocationId;
use super::{Recording, SegmentLife};

/// A segment and the blocks in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentOnMap {
    /// The segment.
    pub segment: SegmentLife,
    /// Its live blocks in order of address; between them it is free.
    pub blocks: Vec<BlockOnMap>,
}

/// A live block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockOnMap {
    /// First address.
    pub address: u64,
    /// Bytes that count as allocated.
    pub bytes: u64,
    /// Which allocation it is.
    pub id: AllocationId,
}

impl Recording {
    /// The segments that an event leaves, in order of address, with their blocks.
    /// O(allocations born before · log).
    ///
    /// ```
    /// use neuronx_mem_replay::{Input, ReplayOptions, TraceReader};
    /// use neuronx_mem_view::Recording;
    ///
    /// let input = Input::from_events(TraceReader::new("a,1,4194304,0\nf,1\n".as_bytes(), "tiny"))?;
    /// let recording = Recording::of(&input, &ReplayOptions::default())?;
    /// let map = recording.map_at(1);
    /// assert_eq!((map.len(), map[0].segment.bytes, map[0].blocks[0].bytes), (1, 64 << 20, 4 << 20));
    /// assert!(recording.map_at(2)[0].blocks.is_empty(), "the segment is kept, the block is gone");
    /// # Ok::<(), neuronx_mem_view::ViewError>(())
    /// ```
    #[must_use]
    pub fn map_at(&self, event: u64) -> Vec<SegmentOnMap> {
        let n_born = self.segments.partition_point(|segment| segment.birth <= event);
        let held = self.segments[..n_born].iter().filter(|segment| event < segment.death);
        let mut map: Vec<SegmentOnMap> =
            held.map(|segment| SegmentOnMap { segment: *segment, blocks: Vec::new() }).collect();
        map.sort_by_key(|held| held.segment.address);
        for id in self.live_at(event) {
            let idx = id.0 as usize;
            let (address, bytes) = (self.allocations.addresses[idx], self.allocations.block_bytes[idx]);
            let n_before = map.partition_point(|held| held.segment.address <= address);
            if let Some(held) = n_before.checked_sub(1).and_then(|idx| map.get_mut(idx))
                && address - held.segment.address < held.segment.bytes
                && bytes > 0
            {
                held.blocks.push(BlockOnMap { address, bytes, id });
            }
        }
        map.iter_mut().for_each(|held| held.blocks.sort_by_key(|block| block.address));
        map
    }
}

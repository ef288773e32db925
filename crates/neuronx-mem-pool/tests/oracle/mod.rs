//! A second allocator, as plain as the rules can be written: one ordered set, lists of blocks,
//! every sum by walking. Shares no code with the pool. Included by the facade's test as well.

#![allow(dead_code, reason = "each test that includes this module asks for its own part")]

use std::collections::{BTreeMap, BTreeSet};

use neuronx_mem_config::AllocatorConfig;
use proptest::prelude::*;

/// The eleven keys as plain numbers.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) pool_boundary: u64,
    pub(crate) small_segment: u64,
    pub(crate) medium_segment: u64,
    pub(crate) medium_threshold: u64,
    pub(crate) segment_alignment: u64,
    pub(crate) min_rounded: u64,
    pub(crate) divisions: u64,
    pub(crate) small_split: u64,
    pub(crate) large_split: u64,
    pub(crate) max_split: u64,
    pub(crate) max_non_split_rounding: u64,
}

#[derive(Clone, Debug)]
struct Block {
    offset: u64,
    extent: u64,
    /// (requested, block bytes) while live.
    live: Option<(u64, u64)>,
}

#[derive(Clone, Debug)]
struct Segment {
    is_small: bool,
    address: u64,
    bytes: u64,
    blocks: Vec<Block>,
}

/// Where the oracle put a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) address: u64,
    pub(crate) block_bytes: u64,
    pub(crate) extent: u64,
    /// (age of the segment, offset): the name to free it by.
    pub(crate) name: (usize, u64),
}

/// Every sum that the pool's results can be checked against.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) reserved: u64,
    pub(crate) allocated: u64,
    pub(crate) active: u64,
    pub(crate) cached_free: u64,
    pub(crate) padding: u64,
    pub(crate) inactive_split_blocks: i64,
    pub(crate) inactive_split_bytes: i64,
    pub(crate) segments: u64,
    pub(crate) live_blocks: u64,
}

pub(crate) struct Oracle {
    rules: Rules,
    segments: BTreeMap<usize, Segment>,
    /// (is small, extent, segment age, offset) of every free block.
    free: BTreeSet<(bool, u64, usize, u64)>,
    next_age: usize,
}

impl Oracle {
    pub(crate) fn new(rules: Rules) -> Self {
        Self { rules, segments: BTreeMap::new(), free: BTreeSet::new(), next_age: 0 }
    }

    pub(crate) fn round(&self, n: u64) -> u64 {
        let r = &self.rules;
        if n < r.min_rounded {
            return r.min_rounded;
        }
        if n >= r.medium_threshold {
            return n;
        }
        let floor = 1u64 << n.ilog2();
        (0..=r.divisions).map(|k| floor + (floor * k).div_ceil(r.divisions)).find(|c| *c >= n).unwrap()
    }

    pub(crate) fn is_small(&self, n: u64) -> bool {
        n < self.rules.pool_boundary
    }

    pub(crate) fn segment_bytes(&self, n: u64) -> u64 {
        let r = &self.rules;
        let extent = self.round(n).next_multiple_of(64);
        let bytes = if self.is_small(n) {
            r.small_segment
        } else if n < r.medium_threshold {
            r.medium_segment
        } else {
            n.next_multiple_of(r.segment_alignment)
        };
        if bytes < extent { extent.next_multiple_of(r.segment_alignment) } else { bytes }
    }

    /// Serves a request; `new_segment` gives the address of a segment of so many bytes.
    pub(crate) fn allocate(&mut self, n: u64, new_segment: impl FnOnce(u64) -> u64) -> Placed {
        let is_small = self.is_small(n);
        let needed = self.round(n).next_multiple_of(64);
        let best = self
            .free
            .range((is_small, needed, 0, 0)..=(is_small, u64::MAX, usize::MAX, u64::MAX))
            .next()
            .copied();
        let usable = best.filter(|(_, extent, ..)| {
            *extent <= self.rules.max_split || extent - needed <= self.rules.max_non_split_rounding
        });
        if let Some(entry) = usable {
            self.free.remove(&entry);
            let (_, extent, age, offset) = entry;
            return self.hand_out(n, age, offset, extent <= self.rules.max_split);
        }
        let bytes = self.segment_bytes(n);
        let (age, address) = (self.next_age, new_segment(bytes));
        self.next_age += 1;
        let block = Block { offset: 0, extent: bytes, live: None };
        self.segments.insert(age, Segment { is_small, address, bytes, blocks: vec![block] });
        self.hand_out(n, age, 0, true)
    }

    fn hand_out(&mut self, n: u64, age: usize, offset: u64, may_split: bool) -> Placed {
        let rounded = self.round(n);
        let needed = rounded.next_multiple_of(64);
        let is_small = self.is_small(n);
        let threshold = if is_small { self.rules.small_split } else { self.rules.large_split };
        let segment = self.segments.get_mut(&age).unwrap();
        let i = segment.blocks.iter().position(|b| b.offset == offset).unwrap();
        let extent = segment.blocks[i].extent;
        let rest = extent - needed;
        if may_split && rest > 0 && rest >= threshold {
            segment.blocks[i] = Block { offset, extent: needed, live: Some((n, rounded)) };
            segment.blocks.insert(i + 1, Block { offset: offset + needed, extent: rest, live: None });
            self.free.insert((is_small, rest, age, offset + needed));
        } else {
            segment.blocks[i].live = Some((n, extent));
        }
        let block = &segment.blocks[i];
        Placed {
            address: segment.address + offset,
            block_bytes: block.live.unwrap().1,
            extent: block.extent,
            name: (age, offset),
        }
    }

    pub(crate) fn free(&mut self, name: (usize, u64)) {
        let (age, offset) = name;
        let segment = self.segments.get_mut(&age).unwrap();
        let i = segment.blocks.iter().position(|b| b.offset == offset).unwrap();
        segment.blocks[i].live = None;
        for block in segment.blocks.iter().filter(|b| b.live.is_none()) {
            self.free.remove(&(segment.is_small, block.extent, age, block.offset));
        }
        let mut merged: Vec<Block> = Vec::new();
        for block in segment.blocks.drain(..) {
            match merged.last_mut() {
                Some(last) if last.live.is_none() && block.live.is_none() => last.extent += block.extent,
                _ => merged.push(block),
            }
        }
        for block in merged.iter().filter(|b| b.live.is_none()) {
            self.free.insert((segment.is_small, block.extent, age, block.offset));
        }
        segment.blocks = merged;
    }

    /// Whether a free block would serve a request.
    pub(crate) fn has_room(&self, n: u64) -> bool {
        let needed = self.round(n).next_multiple_of(64);
        let best = self.free.range((self.is_small(n), needed, 0, 0)..).next().copied();
        best.is_some_and(|(is_small, extent, ..)| {
            let rules = &self.rules;
            is_small == self.is_small(n)
                && (extent <= rules.max_split || extent - needed <= rules.max_non_split_rounding)
        })
    }

    /// Gives a live block to another request that needs exactly its extent.
    pub(crate) fn take_over(&mut self, name: (usize, u64), n: u64) -> Placed {
        let needed = self.round(n).next_multiple_of(64);
        let (age, offset) = name;
        let segment = self.segments.get_mut(&age).unwrap();
        let block = segment.blocks.iter_mut().find(|block| block.offset == offset).unwrap();
        assert_eq!(block.extent, needed);
        block.live = Some((n, needed));
        Placed { address: segment.address + offset, block_bytes: needed, extent: needed, name }
    }

    /// Drops fully free segments; their addresses in ascending order.
    pub(crate) fn release(&mut self) -> Vec<u64> {
        let is_free = |s: &Segment| s.blocks.len() == 1 && s.blocks[0].live.is_none();
        let ages: Vec<usize> =
            self.segments.iter().filter(|(_, s)| is_free(s)).map(|(age, _)| *age).collect();
        let mut addresses = Vec::new();
        for age in ages {
            let segment = self.segments.remove(&age).unwrap();
            self.free.remove(&(segment.is_small, segment.bytes, age, 0));
            addresses.push(segment.address);
        }
        addresses.sort_unstable();
        addresses
    }

    pub(crate) fn sums(&self) -> Sums {
        self.sums_where(|_| true)
    }

    /// The sums over one pool.
    pub(crate) fn sums_of(&self, is_small: bool) -> Sums {
        self.sums_where(|segment| segment.is_small == is_small)
    }

    fn sums_where(&self, is_in: impl Fn(&Segment) -> bool) -> Sums {
        let mut sums = Sums::default();
        for segment in self.segments.values().filter(|segment| is_in(segment)) {
            sums.reserved += segment.bytes;
            sums.segments += 1;
            for block in &segment.blocks {
                match block.live {
                    Some((requested, block_bytes)) => {
                        sums.live_blocks += 1;
                        sums.allocated += block_bytes;
                        sums.active += requested;
                        sums.padding += block.extent - block_bytes;
                    }
                    None => {
                        sums.cached_free += block.extent;
                        if segment.blocks.len() > 1 {
                            sums.inactive_split_blocks += 1;
                            sums.inactive_split_bytes += i64::try_from(block.extent).unwrap();
                        }
                    }
                }
            }
        }
        sums
    }

    pub(crate) fn largest_free(&self, is_small: bool) -> u64 {
        self.free
            .iter()
            .filter(|(small, ..)| *small == is_small)
            .map(|(_, extent, ..)| *extent)
            .max()
            .unwrap_or(0)
    }

    /// The extent of the free block that comes closest to serving `n` without serving it:
    /// refused by the cap, else in the other pool, else the largest that is too small.
    pub(crate) fn nearest_extent(&self, n: u64) -> Option<u64> {
        let needed = self.round(n).next_multiple_of(64);
        let first_fit = |is_small: bool| {
            let fitting =
                self.free.iter().filter(|(small, extent, ..)| *small == is_small && *extent >= needed);
            fitting.map(|(_, extent, ..)| *extent).min()
        };
        let is_small = self.is_small(n);
        let largest = Some(self.largest_free(is_small)).filter(|extent| *extent > 0);
        first_fit(is_small).or(first_fit(!is_small)).or(largest)
    }
}

/// Small numbers, so that every rule is met often; combinations may be senseless on purpose.
pub(crate) fn rules() -> impl Strategy<Value = Rules> {
    let sizes = (0u64..20_000, 1u64..70_000, 1u64..200_000, 0u64..100_000, 0u32..14, 0u64..1000);
    let cuts =
        (1u64..=64, 0u64..5000, 0u64..20_000, prop_oneof![Just(u64::MAX), 0u64..100_000], 0u64..50_000);
    (sizes, cuts).prop_map(|(sizes, cuts)| Rules {
        pool_boundary: sizes.0,
        small_segment: sizes.1,
        medium_segment: sizes.2,
        medium_threshold: sizes.3,
        segment_alignment: 1 << sizes.4,
        min_rounded: sizes.5,
        divisions: cuts.0,
        small_split: cuts.1,
        large_split: cuts.2,
        max_split: cuts.3,
        max_non_split_rounding: cuts.4,
    })
}

/// The configuration that says the same.
pub(crate) fn config(rules: &Rules) -> AllocatorConfig {
    let text = format!(
        "kPoolBoundary={},kSmallSegmentSize={},kMediumSegmentSize={},kMediumThreshold={},kSegmentAlignment={},\
         kMinRoundedSize={},kRoundupPower2Divisions={},kSmallSplitThreshold={},kLargeSplitThreshold={},\
         kMaxSplitSizeBytes={},kMaxNonSplitRoundingBytes={}",
        rules.pool_boundary,
        rules.small_segment,
        rules.medium_segment,
        rules.medium_threshold,
        rules.segment_alignment,
        rules.min_rounded,
        rules.divisions,
        rules.small_split,
        rules.large_split,
        rules.max_split,
        rules.max_non_split_rounding,
    );
    AllocatorConfig::parse(&text).config
}

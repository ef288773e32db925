//! The classical shape: best fit over an ordered set of free ranges, and a map from addresses
//! to blocks for the free. One arena, no pools, no rounding.

use std::collections::{BTreeSet, HashMap};

use super::Subject;

const ARENA_BYTES: u64 = 1 << 45;
const SPLIT_BYTES: u64 = 512;

struct Block {
    size: u64,
    prev: u64,
    next: u64,
    is_free: bool,
}

const NONE: u64 = u64::MAX;

pub struct OrderedSet {
    free: BTreeSet<(u64, u64)>,
    blocks: HashMap<u64, Block>,
}

impl OrderedSet {
    pub fn new() -> Self {
        let whole = Block { size: ARENA_BYTES, prev: NONE, next: NONE, is_free: true };
        Self { free: BTreeSet::from([(ARENA_BYTES, 0)]), blocks: HashMap::from([(0, whole)]) }
    }

    fn merge(&mut self, left: u64, right: u64) {
        let Some(absorbed) = self.blocks.remove(&right) else { return };
        if let Some(block) = self.blocks.get_mut(&left) {
            block.size += absorbed.size;
            block.next = absorbed.next;
        }
        if let Some(after) = self.blocks.get_mut(&absorbed.next) {
            after.prev = left;
        }
    }

    fn free_size(&self, address: u64) -> Option<u64> {
        self.blocks.get(&address).filter(|block| block.is_free).map(|block| block.size)
    }
}

impl Subject for OrderedSet {
    type Handle = u64;

    fn allocate(&mut self, bytes: u64) -> u64 {
        let size = bytes.next_multiple_of(SPLIT_BYTES);
        let Some((found, address)) = self.free.range((size, 0)..).next().copied() else { return NONE };
        self.free.remove(&(found, address));
        let Some(block) = self.blocks.get_mut(&address) else { return NONE };
        block.is_free = false;
        if found > size {
            let (rest, next) = (address + size, block.next);
            block.size = size;
            block.next = rest;
            self.blocks.insert(rest, Block { size: found - size, prev: address, next, is_free: true });
            if let Some(after) = self.blocks.get_mut(&next) {
                after.prev = rest;
            }
            self.free.insert((found - size, rest));
        }
        address
    }

    fn free(&mut self, address: u64) {
        let Some(block) = self.blocks.get_mut(&address) else { return };
        block.is_free = true;
        let (prev, next) = (block.prev, block.next);
        let mut start = address;
        if let Some(size) = self.free_size(next) {
            self.free.remove(&(size, next));
            self.merge(address, next);
        }
        if let Some(size) = self.free_size(prev) {
            self.free.remove(&(size, prev));
            self.merge(prev, address);
            start = prev;
        }
        if let Some(size) = self.free_size(start) {
            self.free.insert((size, start));
        }
    }
}

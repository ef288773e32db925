//! Free extents by address and by size: best fit, merging, never across pages.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

#[derive(Debug, Default)]
pub(super) struct Extents {
    by_address: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
    free_bytes: u64,
}

impl Extents {
    pub(super) const fn free_bytes(&self) -> u64 {
        self.free_bytes
    }

    pub(super) fn largest(&self) -> u64 {
        self.by_size.last().map_or(0, |(bytes, _)| *bytes)
    }

    /// Cuts `bytes` off the front of the smallest extent that has them, the lowest of those.
    pub(super) fn take(&mut self, bytes: u64) -> Option<u64> {
        let &(extent, address) = self.by_size.range((bytes, 0)..).next()?;
        self.remove(address, extent);
        if extent > bytes {
            self.insert(address + bytes, extent - bytes);
        }
        Some(address)
    }

    /// Adds an extent and merges it with free neighbours within its page.
    pub(super) fn give_back(&mut self, address: u64, bytes: u64, page: Range<u64>) {
        let (mut address, mut bytes) = (address, bytes);
        if let Some((&next, &next_bytes)) = self.by_address.range(address + bytes..page.end).next()
            && next == address + bytes
        {
            self.remove(next, next_bytes);
            bytes += next_bytes;
        }
        if let Some((&before, &before_bytes)) = self.by_address.range(page.start..address).next_back()
            && before + before_bytes == address
        {
            self.remove(before, before_bytes);
            (address, bytes) = (before, bytes + before_bytes);
        }
        self.insert(address, bytes);
    }

    /// True when one extent is the whole page.
    pub(super) fn is_whole(&self, page: &Range<u64>) -> bool {
        self.by_address.get(&page.start).is_some_and(|bytes| *bytes == page.end - page.start)
    }

    /// Takes a page out that is free as a whole.
    pub(super) fn remove_page(&mut self, page: &Range<u64>) {
        self.remove(page.start, page.end - page.start);
    }

    fn insert(&mut self, address: u64, bytes: u64) {
        self.by_address.insert(address, bytes);
        self.by_size.insert((bytes, address));
        self.free_bytes += bytes;
    }

    fn remove(&mut self, address: u64, bytes: u64) {
        self.by_address.remove(&address);
        self.by_size.remove(&(bytes, address));
        self.free_bytes -= bytes;
    }
}

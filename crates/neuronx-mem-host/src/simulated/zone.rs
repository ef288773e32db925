//! One zone: a buddy allocator over its pages.
//!
//! A request takes the lowest block of the smallest order that holds it and keeps its lower half, as
//! the kernel does; a block that comes back merges with its buddy as long as that is free.

use std::collections::BTreeSet;

use super::ZoneShape;
pub(super) use super::pages::Kind;
use super::pages::{PageState, PageTable};
use crate::{PAGE_BYTES, PageOrder};

/// Orders 0 to 10.
pub(super) const N_ORDERS: usize = PageOrder::MAX.get() as usize + 1;

#[derive(Debug)]
pub(super) struct Zone {
    node: u32,
    name: &'static str,
    base_page: u64,
    min_free_pages: u64,
    pages: PageTable,
    /// First pages of the free blocks of each order.
    free: [BTreeSet<u32>; N_ORDERS],
    free_pages: u64,
}

impl Zone {
    pub(super) fn new(shape: &ZoneShape, base_page: u64) -> Self {
        let n_pages = u32::try_from(shape.bytes / PAGE_BYTES).unwrap_or(0);
        let mut zone = Self {
            node: shape.node,
            name: shape.name,
            base_page,
            min_free_pages: shape.min_free_bytes / PAGE_BYTES,
            pages: PageTable::new(n_pages),
            free: std::array::from_fn(|_| BTreeSet::new()),
            free_pages: 0,
        };
        let block_pages = 1 << PageOrder::MAX.get();
        (0..n_pages).step_by(block_pages).for_each(|page| zone.add_free(page, PageOrder::MAX));
        zone
    }

    pub(super) const fn node(&self) -> u32 {
        self.node
    }

    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    pub(super) const fn free_pages(&self) -> u64 {
        self.free_pages
    }

    pub(super) const fn min_free_pages(&self) -> u64 {
        self.min_free_pages
    }

    pub(super) fn n_pages(&self) -> u32 {
        self.pages.len()
    }

    pub(super) const fn address(&self, page: u32) -> u64 {
        (self.base_page + page as u64) * PAGE_BYTES
    }

    pub(super) fn state(&self, page: u32) -> PageState {
        self.pages.get(page)
    }

    /// How many free blocks there are of each order.
    pub(super) fn free_counts(&self) -> [u64; N_ORDERS] {
        self.free.each_ref().map(|blocks| blocks.len() as u64)
    }

    /// The first page of a block of this order, or `None`: no block, or below the watermark.
    pub(super) fn take(&mut self, order: PageOrder, kind: Kind) -> Option<u32> {
        let left = self.free_pages.checked_sub(order.pages() - 1)?;
        // The kernel's own check: more than the minimum must be left, counted with one page of the block.
        if left <= self.min_free_pages {
            return None;
        }
        let from = (usize::from(order.get())..N_ORDERS).find(|&order| !self.free[order].is_empty())?;
        let page = *self.free[from].first()?;
        self.carve(page, from, order, kind);
        Some(page)
    }

    /// Takes exactly this page, which must be in a free block; false otherwise.
    pub(super) fn take_page(&mut self, page: u32, kind: Kind) -> bool {
        let Some((start, order)) = self.free_block_of(page) else { return false };
        self.remove_free(start, order);
        let (mut start, mut order) = (start, order.get());
        while order > 0 {
            order -= 1;
            let upper = start + (1 << order);
            let (free, next) = if page < upper { (upper, start) } else { (start, upper) };
            self.add_free(free, small(order));
            start = next;
        }
        self.pages.set(page, PageState::Held(kind, small(0)));
        true
    }

    pub(super) fn give_back(&mut self, page: u32, order: PageOrder) {
        let (mut page, mut order) = (page, order.get());
        self.pages.set(page, PageState::Inside);
        while order < PageOrder::MAX.get() {
            let buddy = page ^ (1 << order);
            if self.pages.get(buddy) != PageState::Free(small(order)) {
                break;
            }
            self.remove_free(buddy, small(order));
            page = page.min(buddy);
            order += 1;
        }
        self.add_free(page, small(order));
    }

    /// Gives back every block that is held for this.
    pub(super) fn release_all(&mut self, kind: Kind) {
        for page in 0..self.n_pages() {
            if let PageState::Held(held, order) = self.pages.get(page)
                && held == kind
            {
                self.give_back(page, order);
            }
        }
    }

    /// Splits a free block down to `order`, keeping its lowest part.
    fn carve(&mut self, page: u32, from: usize, order: PageOrder, kind: Kind) {
        let mut at = u8::try_from(from).unwrap_or(0);
        self.remove_free(page, small(at));
        while at > order.get() {
            at -= 1;
            self.add_free(page + (1 << at), small(at));
        }
        self.pages.set(page, PageState::Held(kind, order));
    }

    fn free_block_of(&self, page: u32) -> Option<(u32, PageOrder)> {
        (0..=PageOrder::MAX.get()).find_map(|order| {
            let start = page & !((1 << order) - 1);
            (self.pages.get(start) == PageState::Free(small(order))).then(|| (start, small(order)))
        })
    }

    fn add_free(&mut self, page: u32, order: PageOrder) {
        self.pages.set(page, PageState::Free(order));
        self.free[usize::from(order.get())].insert(page);
        self.free_pages += order.pages();
    }

    fn remove_free(&mut self, page: u32, order: PageOrder) {
        self.pages.set(page, PageState::Inside);
        self.free[usize::from(order.get())].remove(&page);
        self.free_pages -= order.pages();
    }
}

/// An order that is in range because every caller counts between 0 and 10.
fn small(order: u8) -> PageOrder {
    PageOrder::new(order).unwrap_or(PageOrder::MAX)
}

//! The state of each page of a zone, in a byte.

use crate::PageOrder;

/// What a block is held for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Page cache: can be evicted, and moved.
    Cache,
    /// The kernel's own: neither.
    Unmovable,
    /// A run of the page source: neither.
    Dma,
}

/// What a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageState {
    /// Inside a block that starts before it.
    Inside,
    /// The first page of a free block.
    Free(PageOrder),
    /// The first page of a held block.
    Held(Kind, PageOrder),
}

/// One [`PageState`] a page. The low half of a byte is the order, the high half what it is.
#[derive(Debug)]
pub(super) struct PageTable(Vec<u8>);

const INSIDE: u8 = 0;
const FREE: u8 = 1 << 4;
const CACHE: u8 = 2 << 4;
const UNMOVABLE: u8 = 3 << 4;
const DMA: u8 = 4 << 4;

impl PageTable {
    pub(super) fn new(n_pages: u32) -> Self {
        Self(vec![INSIDE; n_pages as usize])
    }

    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn get(&self, page: u32) -> PageState {
        let byte = self.0.get(page as usize).copied().unwrap_or(INSIDE);
        let Some(order) = PageOrder::new(byte & 15) else { return PageState::Inside };
        match byte & !15 {
            FREE => PageState::Free(order),
            CACHE => PageState::Held(Kind::Cache, order),
            UNMOVABLE => PageState::Held(Kind::Unmovable, order),
            DMA => PageState::Held(Kind::Dma, order),
            _ => PageState::Inside,
        }
    }

    pub(super) fn set(&mut self, page: u32, state: PageState) {
        let byte = match state {
            PageState::Inside => INSIDE,
            PageState::Free(order) => FREE | order.get(),
            PageState::Held(Kind::Cache, order) => CACHE | order.get(),
            PageState::Held(Kind::Unmovable, order) => UNMOVABLE | order.get(),
            PageState::Held(Kind::Dma, order) => DMA | order.get(),
        };
        if let Some(cell) = self.0.get_mut(page as usize) {
            *cell = byte;
        }
    }
}

//! Pages and orders: how much contiguous memory a request takes from the kernel.
//!
//! Knows arithmetic only. Asks no kernel and keeps no memory.

use std::fmt;

/// Bytes of one page where nothing else is said.
pub const PAGE_BYTES: u64 = 4096;

/// A block of 2^order pages, as the kernel's buddy allocator counts them.
///
/// ```
/// use neuronx_mem_host::PageOrder;
///
/// // The two requests of the report: both need the largest block there is.
/// assert_eq!(PageOrder::of(2_441_472), Some(PageOrder::MAX));
/// assert_eq!(PageOrder::of(3_292_176), Some(PageOrder::MAX));
/// assert_eq!(PageOrder::of(2 << 20).map(PageOrder::get), Some(9));
/// assert_eq!(PageOrder::MAX.bytes(), 4 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageOrder(u8);

impl PageOrder {
    /// The largest block of a kernel with pages of 4 KiB: 4 MiB.
    pub const MAX: Self = Self(10);

    /// Returns the order of this number; `None` from 52 on, where 4 KiB pages exceed 64 bits. O(1).
    #[must_use]
    pub const fn new(order: u8) -> Option<Self> {
        if order < 52 { Some(Self(order)) } else { None }
    }

    /// Returns the smallest order whose block holds `bytes` in pages of 4 KiB; `None` for 0 bytes and
    /// for more than any order holds. The result may be above [`PageOrder::MAX`]. O(1).
    #[must_use]
    pub const fn of(bytes: u64) -> Option<Self> {
        Self::of_pages(bytes, PAGE_BYTES)
    }

    /// Returns the smallest order whose block holds `bytes` in pages of `page_bytes`, a power of two;
    /// `None` for 0 bytes, for 0 bytes a page and for more than any order holds. O(1).
    #[must_use]
    pub const fn of_pages(bytes: u64, page_bytes: u64) -> Option<Self> {
        if bytes == 0 || page_bytes == 0 {
            return None;
        }
        let pages = bytes.div_ceil(page_bytes);
        let Some(block) = pages.checked_next_power_of_two() else { return None };
        let order = block.trailing_zeros();
        if order >= 52 {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "below 52")]
        let order = order as u8;
        Some(Self(order))
    }

    /// Returns the number. O(1).
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }

    /// Returns the pages of a block: 2 to the power of the order. O(1).
    #[must_use]
    pub const fn pages(self) -> u64 {
        1 << self.0
    }

    /// Returns the bytes of a block in pages of 4 KiB. O(1).
    #[must_use]
    pub const fn bytes(self) -> u64 {
        PAGE_BYTES << self.0
    }
}

impl fmt::Display for PageOrder {
    /// Prints the number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The next multiple of `unit`, a power of two; `None` above 64 bits.
pub(crate) const fn round_up(bytes: u64, unit: u64) -> Option<u64> {
    match bytes.checked_add(unit - 1) {
        Some(sum) => Some(sum & !(unit - 1)),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{PageOrder, round_up};

    #[test]
    fn orders_of_the_edges() {
        let order = |bytes| PageOrder::of(bytes).map(PageOrder::get);
        assert_eq!([0, 1, 4096, 4097].map(order), [None, Some(0), Some(0), Some(1)]);
        assert_eq!([(4 << 20) + 1, u64::MAX].map(order), [Some(11), None]);
        assert_eq!(PageOrder::of_pages(3 << 20, 65_536).map(PageOrder::get), Some(6));
        assert_eq!(PageOrder::of_pages(1, 0), None);
    }

    #[test]
    fn rounding_never_wraps() {
        assert_eq!(round_up(2_441_472, 4096), Some(2_445_312));
        assert_eq!(round_up(u64::MAX, 4096), None);
    }
}

//! A buffer that goes back when it is dropped; a slice of bytes where there is memory behind it.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::{ptr, slice};

use super::StagingAllocator;
use super::block::StagingBlock;
use super::class::SizeClass;
use crate::{BackedRun, PageSource};

/// A buffer of a [`StagingAllocator`].
pub struct StagingBuffer<'a, S: PageSource> {
    allocator: &'a StagingAllocator<S>,
    address: u64,
    bytes: u64,
    class: SizeClass,
}

impl<'a, S: PageSource> StagingBuffer<'a, S> {
    #[inline]
    pub(super) const fn new(
        allocator: &'a StagingAllocator<S>,
        address: u64,
        bytes: u64,
        class: SizeClass,
    ) -> Self {
        Self { allocator, address, bytes, class }
    }

    /// Returns the address of the first byte: a multiple of 64, and of a page from 32 KiB on. O(1).
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// Returns the bytes asked for. O(1).
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the bytes of the block behind it. O(1).
    pub const fn capacity_bytes(&self) -> u64 {
        self.class.bytes()
    }

    /// Takes the block out of its buffer: it no longer goes back by itself. O(1).
    pub fn detach(self) -> StagingBlock {
        let buffer = ManuallyDrop::new(self);
        StagingBlock {
            owner: buffer.allocator.id,
            address: buffer.address,
            bytes: buffer.bytes,
            class: buffer.class,
        }
    }
}

impl<S: PageSource> Drop for StagingBuffer<'_, S> {
    #[inline]
    fn drop(&mut self) {
        self.allocator.give_back(self.address, self.bytes, self.class);
    }
}

impl<S: PageSource> fmt::Debug for StagingBuffer<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, bytes, .. } = self;
        f.debug_struct("StagingBuffer")
            .field("address", address)
            .field("bytes", bytes)
            .finish_non_exhaustive()
    }
}

/// An address or a length of memory of this process as a pointer's number.
#[expect(clippy::cast_possible_truncation, reason = "a mapped run is inside the address space")]
const fn native(number: u64) -> usize {
    number as usize
}

impl<S: PageSource> Deref for StagingBuffer<'_, S>
where
    S::Run: BackedRun,
{
    type Target = [u8];

    #[expect(unsafe_code, reason = "the bytes behind a buffer are known by address")]
    fn deref(&self) -> &[u8] {
        let start: *const u8 = ptr::with_exposed_provenance(native(self.address));
        // SAFETY: the block is inside a run that is `BackedRun`, so its bytes are initialised and readable.
        // The pool keeps the run while a block of it is out, and the allocator, which owns the pool, is
        // borrowed by this buffer. No other buffer has the block: the pool hands an address out once until
        // it is back, a cache gives what it has to one taker, and buffer and block are not cloned.
        unsafe { slice::from_raw_parts(start, native(self.bytes)) }
    }
}

impl<S: PageSource> DerefMut for StagingBuffer<'_, S>
where
    S::Run: BackedRun,
{
    #[expect(unsafe_code, reason = "the bytes behind a buffer are known by address")]
    fn deref_mut(&mut self) -> &mut [u8] {
        let start: *mut u8 = ptr::with_exposed_provenance_mut(native(self.address));
        // SAFETY: as in `deref`; the bytes are writable too, and `&mut self` is the only way to them.
        unsafe { slice::from_raw_parts_mut(start, native(self.bytes)) }
    }
}

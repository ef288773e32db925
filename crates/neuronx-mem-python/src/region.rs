//! A range of host addresses that stands for the memory of one device.
//!
//! Knows pages and what the kernel does with them. Refuses nothing: whether a range is a segment's is
//! checked by its callers.

#![expect(unsafe_code, reason = "maps memory and touches it by address")]

use std::ffi::c_void;
use std::ops::Range;
use std::ptr;

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect};

/// Addresses that belong to this process for ever: a device's memory may be used until the very end.
#[derive(Debug)]
pub(crate) struct Region {
    first: *mut c_void,
    bytes: usize,
    /// Whether pages can be touched only between [`commit`](Self::commit) and
    /// [`give_back`](Self::give_back): on hosts that promise no more memory than they have.
    is_strict: bool,
}

// SAFETY: a `Region` is an address range that no Rust reference points into; system calls on it, and the
// copies below, may come from any thread.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// Reserves addresses; takes no memory, however large.
    ///
    /// # Errors
    ///
    /// Of the system, where it has no addresses left.
    pub(crate) fn reserve(bytes: u64) -> Result<Self, Errno> {
        let bytes = usize::try_from(bytes).map_err(|_| Errno::NOMEM)?;
        let bytes = bytes.checked_next_multiple_of(page_bytes()).ok_or(Errno::NOMEM)?;
        let map = |access| {
            let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
            // SAFETY: a new mapping at an address of the kernel's choice touches no memory that is there.
            unsafe { mmap_anonymous(ptr::null_mut(), bytes, access, flags) }
        };
        match map(ProtFlags::READ | ProtFlags::WRITE) {
            Ok(first) => Ok(Self { first, bytes, is_strict: false }),
            // The kernel counts what may be written (overcommit_memory 2), but not what may not.
            Err(Errno::NOMEM) => map(ProtFlags::empty()).map(|first| Self { first, bytes, is_strict: true }),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn first_address(&self) -> u64 {
        self.first.addr() as u64
    }

    /// Makes a range usable; false where the host has no memory for it.
    pub(crate) fn commit(&self, range: &Range<u64>) -> bool {
        if !self.is_strict {
            return true;
        }
        let page = page_bytes();
        let Some((from, to)) = self.offsets(range) else { return false };
        let (from, to) = (from / page * page, to.next_multiple_of(page).min(self.bytes));
        let access = MprotectFlags::READ | MprotectFlags::WRITE;
        // SAFETY: whole pages inside the mapping, which only become more usable than they were.
        unsafe { mprotect(self.first.wrapping_byte_add(from), to - from, access) }.is_ok()
    }

    /// Gives the pages back that lie in a range as a whole; they read as zero afterwards. Nobody may
    /// use the range while this runs.
    pub(crate) fn give_back(&self, range: &Range<u64>) {
        let page = page_bytes();
        let Some((from, to)) = self.offsets(range) else { return };
        let (from, to) = (from.next_multiple_of(page), to / page * page);
        if from >= to {
            return;
        }
        let first = self.first.wrapping_byte_add(from);
        // SAFETY: whole pages inside the mapping; by the contract nobody uses what they hold.
        let given = unsafe { madvise(first, to - from, Advice::LinuxDontNeed) };
        if let Err(error) = given {
            tracing::warn!(%error, bytes = to - from, "host memory of a freed segment stays in use");
        }
        if self.is_strict {
            // SAFETY: as above. Failure leaves the pages usable, which is no harm.
            let _ = unsafe { mprotect(first, to - from, MprotectFlags::empty()) };
        }
    }

    /// Copies to an address. The range must be committed.
    pub(crate) fn write(&self, address: u64, data: &[u8]) {
        let Some((from, _)) = self.offsets(&(address..address + data.len() as u64)) else { return };
        let target = self.first.wrapping_byte_add(from).cast::<u8>();
        // SAFETY: inside the mapping by `offsets`, usable by the contract; the source is a slice of other
        // memory, since no reference points into the region.
        unsafe { ptr::copy_nonoverlapping(data.as_ptr(), target, data.len()) };
    }

    /// Copies from an address. The range must be committed.
    pub(crate) fn read(&self, address: u64, into: &mut [u8]) {
        let Some((from, _)) = self.offsets(&(address..address + into.len() as u64)) else { return };
        let source = self.first.wrapping_byte_add(from).cast::<u8>();
        // SAFETY: as in `write`, the other way round.
        unsafe { ptr::copy_nonoverlapping(source, into.as_mut_ptr(), into.len()) };
    }

    /// The place of a range of addresses; `None` if it leaves the region.
    fn offsets(&self, range: &Range<u64>) -> Option<(usize, usize)> {
        let from = usize::try_from(range.start.checked_sub(self.first_address())?).ok()?;
        let to = usize::try_from(range.end.checked_sub(self.first_address())?).ok()?;
        (from <= to && to <= self.bytes).then_some((from, to))
    }
}

fn page_bytes() -> usize {
    rustix::param::page_size()
}

//! Real memory: anonymous mappings with huge pages where they are granted, locked and placed on a node
//! where that is asked for.
//!
//! Locked memory stays where it is in the sense of the system, not of a device: no driver is told of it.

#[cfg(target_os = "linux")]
mod node;
mod options;
mod run;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use options::{HugePages, Locking, MappedOptions};
pub use run::{MappedRun, PageKind};

use crate::{HostError, PageRun, PageSource};

/// Bytes of a huge page.
pub const HUGE_PAGE_BYTES: u64 = 2 << 20;

/// A source of memory of this process. Cheap to clone; clones count together.
///
/// ```
/// use neuronx_mem_host::{MappedOptions, MappedPages, PageRun, PageSource};
///
/// let pages = MappedPages::new(MappedOptions::default());
/// let run = pages.allocate(4 << 20)?;
/// assert_eq!(run.address() % 4096, 0);
/// assert_eq!(pages.counts().live_bytes, run.bytes());
/// # Ok::<(), neuronx_mem_host::HostError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MappedPages {
    options: MappedOptions,
    cells: Arc<Cells>,
}

/// What a [`MappedPages`] has out, and what the system refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MappedCounts {
    /// Bytes of all runs.
    pub live_bytes: u64,
    /// Bytes in huge pages that had been reserved.
    pub reserved_huge_bytes: u64,
    /// Bytes for which the kernel was asked to use huge pages as it finds them.
    pub advised_huge_bytes: u64,
    /// Bytes that are locked.
    pub locked_bytes: u64,
    /// Runs that should have been locked and are not.
    pub refused_locks: u64,
    /// Runs that should have been placed on a node and are not.
    pub refused_nodes: u64,
    /// Runs for which there was no reserved huge page left.
    pub refused_huge_pages: u64,
}

#[derive(Debug, Default)]
struct Cells {
    live_bytes: AtomicU64,
    reserved_huge_bytes: AtomicU64,
    advised_huge_bytes: AtomicU64,
    locked_bytes: AtomicU64,
    refused_locks: AtomicU64,
    refused_nodes: AtomicU64,
    refused_huge_pages: AtomicU64,
}

impl MappedPages {
    /// Makes a source; maps nothing yet. O(1).
    #[must_use]
    pub fn new(options: MappedOptions) -> Self {
        Self { options, cells: Arc::default() }
    }

    /// Returns the options. O(1).
    #[must_use]
    pub const fn options(&self) -> MappedOptions {
        self.options
    }

    /// Returns the counts; exact while no other thread is in the source. O(1).
    #[must_use]
    pub fn counts(&self) -> MappedCounts {
        let read = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        MappedCounts {
            live_bytes: read(&self.cells.live_bytes),
            reserved_huge_bytes: read(&self.cells.reserved_huge_bytes),
            advised_huge_bytes: read(&self.cells.advised_huge_bytes),
            locked_bytes: read(&self.cells.locked_bytes),
            refused_locks: read(&self.cells.refused_locks),
            refused_nodes: read(&self.cells.refused_nodes),
            refused_huge_pages: read(&self.cells.refused_huge_pages),
        }
    }
}

impl PageSource for MappedPages {
    type Run = MappedRun;

    /// Maps at least `bytes`; whole huge pages where those are wanted and `bytes` is at least one.
    /// A few system calls, and the time to clear the pages where they are locked or filled at once.
    fn allocate(&self, bytes: u64) -> Result<MappedRun, HostError> {
        run::map(&self.options, &self.cells, bytes)
    }
}

impl Cells {
    /// Counts a run in, or out.
    fn note(&self, run: &MappedRun, is_in: bool) {
        let count = |cell: &AtomicU64| {
            if is_in {
                cell.fetch_add(run.bytes(), Ordering::Relaxed);
            } else {
                cell.fetch_sub(run.bytes(), Ordering::Relaxed);
            }
        };
        count(&self.live_bytes);
        match run.page_kind() {
            PageKind::ReservedHuge => count(&self.reserved_huge_bytes),
            PageKind::AdvisedHuge => count(&self.advised_huge_bytes),
            PageKind::Normal => {}
        }
        if run.is_locked() {
            count(&self.locked_bytes);
        }
    }
}

#[cfg(test)]
mod tests;

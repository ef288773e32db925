//! Whether the host's memory grows: bytes that the heap holds at the end of each epoch, when no block
//! is left. Counts exactly; what the system says of the process is shown beside it.

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Epochs before tables, lists and thread-local buffers have their size.
const WARM_UP: usize = 4;

/// Epochs after them that tell growth from chance.
const ENOUGH: usize = 8;

/// Bytes that the later half may hold more than the earlier one: a list that doubled once.
const TOLERANCE_BYTES: usize = 256 << 10;

#[derive(Debug, Default)]
pub(crate) struct Growth {
    held: Vec<usize>,
}

impl Growth {
    /// Notes what is held at the end of an epoch.
    pub(crate) fn note(&mut self) {
        let stats = HEAP.stats();
        self.held.push(stats.bytes_allocated.saturating_sub(stats.bytes_deallocated));
    }

    pub(crate) fn has_enough(&self) -> bool {
        self.held.len() >= WARM_UP + ENOUGH
    }

    /// A line on the growth, or what is wrong with it.
    pub(crate) fn verdict(&self) -> Result<String, String> {
        let warm = self.held.get(WARM_UP..).unwrap_or_default();
        let (earlier, later) = warm.split_at(warm.len() / 2);
        let most = |half: &[usize]| half.iter().copied().max().unwrap_or_default();
        let (before, after) = (most(earlier), most(later));
        if after > before + TOLERANCE_BYTES {
            return Err(format!("host memory grew from {before} to {after} bytes between epochs: {warm:?}"));
        }
        let resident = resident_kib().map(|kib| format!(", {kib} KiB resident")).unwrap_or_default();
        Ok(format!("host memory {before} bytes, later {after}{resident}"))
    }
}

/// What Linux says of this process.
fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok())
}

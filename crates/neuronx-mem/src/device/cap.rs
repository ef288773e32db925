//! The memory cap: less of the device than there is. Compared with what is reserved before a segment
//! is asked for; it takes nothing back.

use std::sync::atomic::{AtomicU64, Ordering};

use neuronx_mem_runtime::{Operation, RuntimeError, Status};

use super::Device;
use crate::AllocError;

/// No cap.
const UNLIMITED: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct Cap {
    bytes: AtomicU64,
}

impl Cap {
    pub(super) fn new() -> Self {
        Self { bytes: AtomicU64::new(UNLIMITED) }
    }

    pub(super) fn get(&self) -> Option<u64> {
        Some(self.bytes.load(Ordering::Relaxed)).filter(|bytes| *bytes != UNLIMITED)
    }
}

impl Device {
    /// Caps the bytes reserved from the runtime; `None` takes the cap away.
    ///
    /// A cap below the device's memory acts as its total (allocator semantics §6). What is reserved
    /// already stays.
    pub fn set_memory_cap_bytes(&self, bytes: Option<u64>) {
        self.shared.cap.bytes.store(bytes.unwrap_or(UNLIMITED), Ordering::Relaxed);
    }

    /// Caps the bytes reserved from the runtime at a part of the device's memory, 0 to 1.
    ///
    /// # Errors
    ///
    /// [`AllocError::InvalidFraction`] outside that range, [`AllocError::Runtime`] when the runtime
    /// does not say how much memory there is.
    pub fn set_memory_fraction(&self, fraction: f64) -> Result<(), AllocError> {
        if !(0.0..=1.0).contains(&fraction) {
            return Err(AllocError::InvalidFraction { fraction: fraction.to_string() });
        }
        let total = self.memory_info()?.limit_bytes;
        self.set_memory_cap_bytes(Some(part_of(total, fraction)));
        Ok(())
    }

    /// The cap in force where it is below the device's memory, else `None`.
    #[must_use]
    pub fn memory_cap_bytes(&self) -> Option<u64> {
        let cap = self.shared.cap.get()?;
        let total = self.memory_info().map_or(u64::MAX, |info| info.limit_bytes);
        (cap < total).then_some(cap)
    }

    /// Refuses a segment that would exceed the cap, the way the runtime would. The caller holds
    /// the growth lock.
    pub(super) fn check_cap(&self, segment_bytes: u64) -> Result<(), RuntimeError> {
        let Some(cap) = self.shared.cap.get() else { return Ok(()) };
        if self.memory_reserved().saturating_add(segment_bytes) <= cap {
            return Ok(());
        }
        Err(RuntimeError::new(Operation::AllocateSegment, self.id(), Status::RESOURCE, segment_bytes))
    }
}

/// `total * fraction`, rounded down.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "fraction is 0 to 1")]
fn part_of(total: u64, fraction: f64) -> u64 {
    ((total as f64 * fraction) as u64).min(total)
}

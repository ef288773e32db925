//! The same requests against the driver's layout: what would have failed there.
//!
//! The comparison is with a kernel that has no contiguous memory left once the reserve is built, which is
//! when a reserve counts. It keeps sizes and numbers only, and a bounded number of them.

use std::collections::BTreeMap;
use std::fmt;

use crate::{DriverChunk, DriverParameters, DriverPool, HostError, LARGEST_DRIVER_PAGE_BYTES};
use crate::{NumberedPages, NumberedRun};

/// Sizes that are told apart; further ones are counted together.
const MAX_SIZES: usize = 64;

/// What an allocation is in the driver's layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ShadowTicket(Option<u64>);

#[derive(Debug)]
pub(super) struct Shadow {
    driver: DriverPool<NumberedPages>,
    live: BTreeMap<u64, DriverChunk<NumberedRun>>,
    next: u64,
    report: DriverReport,
}

/// What the driver's layout would have made of the requests that a pool served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverReport {
    /// Requests that the pool served.
    pub requests: u64,
    /// Of these, the ones that the driver would have failed.
    pub failed_requests: u64,
    /// Their bytes.
    pub failed_bytes: u64,
    /// The same by size, smallest first.
    pub by_size: BTreeMap<u64, DriverVerdict>,
    /// Failures of sizes that are not in `by_size` because there are too many.
    pub other_failures: u64,
}

/// What the driver would have made of the requests of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverVerdict {
    /// Requests of this size that would have failed.
    pub failures: u64,
    /// Whether no class is so large, so that every request fails; otherwise the reserve was used up.
    pub is_above_all_classes: bool,
}

impl Shadow {
    pub(super) fn new(parameters: DriverParameters) -> Result<Self, HostError> {
        let driver = DriverPool::load(NumberedPages::new(parameters.reserve_bytes()), parameters)?;
        Ok(Self { driver, live: BTreeMap::new(), next: 0, report: DriverReport::default() })
    }

    pub(super) fn allocate(&mut self, bytes: u64) -> ShadowTicket {
        self.report.requests += 1;
        match self.driver.allocate(bytes) {
            Ok(chunk) => {
                let ticket = self.next;
                self.next += 1;
                self.live.insert(ticket, chunk);
                ShadowTicket(Some(ticket))
            }
            Err(_) => {
                self.report.fail(bytes);
                ShadowTicket(None)
            }
        }
    }

    pub(super) fn free(&mut self, ticket: ShadowTicket) {
        if let Some(chunk) = ticket.0.and_then(|ticket| self.live.remove(&ticket)) {
            self.driver.free(chunk);
        }
    }

    pub(super) fn report(&self) -> DriverReport {
        self.report.clone()
    }
}

impl DriverReport {
    fn fail(&mut self, bytes: u64) {
        self.failed_requests += 1;
        self.failed_bytes += bytes;
        if self.by_size.len() >= MAX_SIZES && !self.by_size.contains_key(&bytes) {
            self.other_failures += 1;
            return;
        }
        let verdict = self.by_size.entry(bytes).or_default();
        verdict.failures += 1;
        verdict.is_above_all_classes = bytes > LARGEST_DRIVER_PAGE_BYTES;
    }
}

impl fmt::Display for DriverReport {
    /// Prints one line, and one more a size.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { requests, failed_requests, failed_bytes, .. } = self;
        write!(
            f,
            "with the driver's layout {failed_requests} of {requests} requests ({failed_bytes} bytes) would \
             have failed"
        )?;
        for (bytes, verdict) in &self.by_size {
            let reason = if verdict.is_above_all_classes { "above all classes" } else { "reserve used up" };
            write!(f, "\n  {bytes} bytes: {} times, {reason}", verdict.failures)?;
        }
        if self.other_failures > 0 {
            write!(f, "\n  further sizes: {} times", self.other_failures)?;
        }
        Ok(())
    }
}

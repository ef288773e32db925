//! A source of addresses without memory: a number line with an end.
//!
//! For models, and for tests of what is built on a source. Ranges that come back are merged, and the
//! lowest one that fits is handed out next.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::{PageRun, PageSource};
use crate::HostError;

/// Free ranges of a number line, from address 2^32 on: address to bytes.
type Ranges = Arc<Mutex<BTreeMap<u64, u64>>>;

/// Where the line starts: far from 0, and aligned to anything that a run is made for.
const BASE: u64 = 1 << 32;

/// Runs that are numbers only, up to a capacity.
///
/// ```
/// use neuronx_mem_host::{NumberedPages, PageRun, PageSource};
///
/// let pages = NumberedPages::new(8192);
/// let first = pages.allocate(4096)?;
/// let second = pages.allocate(4096)?;
/// assert_eq!(second.address() - first.address(), 4096);
/// assert!(pages.allocate(4096).is_err());
/// drop(first);
/// assert!(pages.allocate(4096).is_ok());
/// # Ok::<(), neuronx_mem_host::HostError>(())
/// ```
#[derive(Clone, Debug)]
pub struct NumberedPages {
    free: Ranges,
}

/// A run of a [`NumberedPages`].
#[derive(Debug)]
pub struct NumberedRun {
    free: Ranges,
    address: u64,
    bytes: u64,
}

impl NumberedPages {
    /// Makes a source of `capacity_bytes`, at most 2^62. O(1).
    #[must_use]
    pub fn new(capacity_bytes: u64) -> Self {
        let ranges = BTreeMap::from([(BASE, capacity_bytes.min(1 << 62))]);
        Self { free: Arc::new(Mutex::new(ranges)) }
    }
}

impl PageSource for NumberedPages {
    type Run = NumberedRun;

    /// First fit. O(n) over the free ranges.
    fn allocate(&self, bytes: u64) -> Result<Self::Run, HostError> {
        let mut free = self.free.lock();
        let found = free.iter().find(|(_, range)| **range >= bytes).map(|(at, range)| (*at, *range));
        let Some((address, range)) = found.filter(|_| bytes > 0) else {
            return Err(HostError::NoPages { requested_bytes: bytes });
        };
        free.remove(&address);
        if range > bytes {
            free.insert(address + bytes, range - bytes);
        }
        Ok(NumberedRun { free: Arc::clone(&self.free), address, bytes })
    }
}

impl PageRun for NumberedRun {
    fn address(&self) -> u64 {
        self.address
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for NumberedRun {
    fn drop(&mut self) {
        let mut free = self.free.lock();
        let (mut address, mut bytes) = (self.address, self.bytes);
        if let Some(next) = free.remove(&(address + bytes)) {
            bytes += next;
        }
        let before = free.range(..address).next_back().map(|(at, range)| (*at, *range));
        if let Some((at, range)) = before
            && at + range == address
        {
            (address, bytes) = (at, range + bytes);
        }
        free.insert(address, bytes);
    }
}

//! Addresses that come back fragmented: a search that starts anywhere, and reserved pinholes.

use neuronx_mem_runtime::DeviceId;

use super::holding::Holding;
use super::seed::{Purpose, number};
use crate::address_space::{ALIGNMENT_BYTES, AddressSpace};

/// A plan's pinholes: `bytes` reserved at every multiple of `every_mib` of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pinholes {
    pub(crate) every_mib: u32,
    pub(crate) bytes: u64,
}

impl Pinholes {
    /// Takes them all; the parts of the device that are not free are left out. O(pinholes).
    pub(crate) fn take(self, space: &mut AddressSpace) -> Holding {
        let mut holding = Holding::default();
        let step = u64::from(self.every_mib) << 20;
        let bytes = self.bytes.checked_next_multiple_of(ALIGNMENT_BYTES).unwrap_or(step).min(step);
        let range = space.range();
        let mut at = range.start.saturating_add(step);
        while step > 0 && at < range.end {
            let end = at.saturating_add(bytes).min(range.end);
            if let Some(taken) = space.take_exactly(at..end) {
                holding.add(taken);
            }
            at = at.saturating_add(step);
        }
        holding
    }
}

/// Where the search for each segment starts.
#[derive(Debug)]
pub(crate) struct RandomStart {
    seed: u64,
    device: DeviceId,
    n_searches: u64,
}

impl RandomStart {
    pub(crate) fn new(seed: u64, device: DeviceId) -> Self {
        Self { seed, device, n_searches: 0 }
    }

    /// An aligned address of the space, another one each time.
    pub(crate) fn next(&mut self, space: &AddressSpace) -> u64 {
        self.n_searches += 1;
        let range = space.range();
        let length = (range.end - range.start).max(1);
        let drawn = number(self.seed, Purpose::Start, u64::from(self.device.0), self.n_searches) % length;
        range.start + drawn / ALIGNMENT_BYTES * ALIGNMENT_BYTES
    }
}

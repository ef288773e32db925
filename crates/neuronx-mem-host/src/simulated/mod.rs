//! A simulated host: zones of pages under a buddy allocator, to be fragmented on purpose.
//!
//! It has what decides whether contiguous memory can be had: free lists by order, nodes and zones, page
//! cache that can be evicted, and pages that never move. It has no direct compaction, no grouping of
//! pages by mobility, no per-CPU lists and no clock: a request is served from what is free, or not at all.

mod compaction;
mod pages;
mod pressure;
mod random;
mod text;
mod zone;

use std::sync::Arc;

use parking_lot::Mutex;
pub use pressure::PageCachePressure;
use zone::{Kind, Zone};

use crate::order::round_up;
use crate::{HostError, PAGE_BYTES, PageOrder, PageRun, PageSource};

/// The shape of a simulated host: nodes with zones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostShape {
    zones: Vec<ZoneShape>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ZoneShape {
    node: u32,
    name: &'static str,
    bytes: u64,
    min_free_bytes: u64,
}

/// A host whose memory can be taken, filled with page cache, evicted, compacted and looked at. Cheap to
/// clone: all clones are the same host.
///
/// ```
/// use neuronx_mem_host::{HostShape, PageCachePressure, PageSource, SimulatedHost};
///
/// let host = SimulatedHost::new(&HostShape::new().with_zone(0, "Normal", 256 << 20));
/// assert!(host.allocate(3_292_176).is_ok());
/// host.fill_page_cache(&PageCachePressure::with_seed(1));
/// assert!(host.free_bytes() > 32 << 20); // plenty, in small pieces
/// assert!(host.allocate(3_292_176).is_err());
/// host.drop_caches();
/// host.compact();
/// assert!(host.allocate(3_292_176).is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct SimulatedHost {
    zones: Arc<Mutex<Vec<Zone>>>,
    preferred_node: Option<u32>,
}

/// Contiguous memory of a [`SimulatedHost`].
#[derive(Debug)]
pub struct SimulatedRun {
    zones: Arc<Mutex<Vec<Zone>>>,
    zone_idx: usize,
    page: u32,
    order: PageOrder,
    address: u64,
    bytes: u64,
}

impl HostShape {
    /// Makes a host without memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a host like the report's `inf1.2xlarge`: one node with 16 GiB in three zones.
    #[must_use]
    pub fn inf1_2xlarge() -> Self {
        Self::new().with_zone(0, "DMA", 16 << 20).with_zone(0, "DMA32", 3 << 30).with_zone(
            0,
            "Normal",
            13 << 30,
        )
    }

    /// Adds a zone to a node. Bytes are rounded down to blocks of 4 MiB, and to 1 TiB. Requests go to the
    /// zones in the reverse order of adding, the preferred node's first.
    #[must_use]
    pub fn with_zone(mut self, node: u32, name: &'static str, bytes: u64) -> Self {
        let bytes = (bytes & !(PageOrder::MAX.bytes() - 1)).min(1 << 40);
        self.zones.push(ZoneShape { node, name, bytes, min_free_bytes: 0 });
        self
    }

    /// Keeps this many bytes of the last zone free: no request may take them, as below the kernel's
    /// minimum watermark.
    #[must_use]
    pub fn with_min_free_bytes(mut self, bytes: u64) -> Self {
        if let Some(zone) = self.zones.last_mut() {
            zone.min_free_bytes = bytes;
        }
        self
    }
}

impl SimulatedHost {
    /// Boots a host: all of its memory is free, in blocks of 4 MiB. O(pages).
    #[must_use]
    pub fn new(shape: &HostShape) -> Self {
        let mut base_page = 0;
        let mut zones = Vec::new();
        for zone in &shape.zones {
            zones.push(Zone::new(zone, base_page));
            base_page += zone.bytes / PAGE_BYTES;
        }
        Self { zones: Arc::new(Mutex::new(zones)), preferred_node: None }
    }

    /// Returns the same host, seen from a node: requests go to its zones first. O(1).
    #[must_use]
    pub fn on_node(&self, node: u32) -> Self {
        Self { zones: Arc::clone(&self.zones), preferred_node: Some(node) }
    }

    /// Reads files until all memory is page cache, then evicts a part, as seen on hosts that build
    /// container images. May be called again and again. O(pages log pages).
    pub fn fill_page_cache(&self, pressure: &PageCachePressure) {
        pressure::apply(&mut self.zones.lock(), pressure);
    }

    /// Evicts all page cache, as `echo 3 > /proc/sys/vm/drop_caches` does. What cannot be evicted
    /// stays. O(pages log pages).
    pub fn drop_caches(&self) {
        self.zones.lock().iter_mut().for_each(|zone| zone.release_all(Kind::Cache));
    }

    /// Moves movable pages to the end of each zone, as `echo 1 > /proc/sys/vm/compact_memory` does.
    /// O(pages log pages).
    pub fn compact(&self) {
        self.zones.lock().iter_mut().for_each(compaction::compact);
    }

    /// Returns the free bytes of all zones. O(zones).
    #[must_use]
    pub fn free_bytes(&self) -> u64 {
        self.zones.lock().iter().map(|zone| zone.free_pages() * PAGE_BYTES).sum()
    }

    /// Returns the text of `/proc/buddyinfo`. O(zones).
    #[must_use]
    pub fn buddyinfo(&self) -> String {
        text::buddyinfo(&self.zones.lock())
    }

    /// Returns the text of `/proc/zoneinfo`, the lines that matter for a request. O(zones).
    #[must_use]
    pub fn zoneinfo(&self) -> String {
        text::zoneinfo(&self.zones.lock())
    }

    /// Returns the text of `/proc/meminfo`, the lines that matter for a request. O(zones).
    #[must_use]
    pub fn meminfo(&self) -> String {
        text::meminfo(&self.zones.lock())
    }
}

impl PageSource for SimulatedHost {
    type Run = SimulatedRun;

    /// Takes a whole block of the order that holds `bytes`, like the driver's coherent memory.
    /// O(zones × log pages).
    fn allocate(&self, bytes: u64) -> Result<Self::Run, HostError> {
        let no_pages = HostError::NoPages { requested_bytes: bytes };
        let order = PageOrder::of(bytes).filter(|order| *order <= PageOrder::MAX);
        let (Some(order), Some(bytes)) = (order, round_up(bytes, PAGE_BYTES)) else {
            return Err(no_pages);
        };
        let mut zones = self.zones.lock();
        let mut candidates: Vec<usize> = (0..zones.len()).rev().collect();
        candidates.sort_by_key(|&idx| self.preferred_node.is_some_and(|node| node != zones[idx].node()));
        for zone_idx in candidates {
            if let Some(page) = zones[zone_idx].take(order, Kind::Dma) {
                let address = zones[zone_idx].address(page);
                let zones = Arc::clone(&self.zones);
                return Ok(SimulatedRun { zones, zone_idx, page, order, address, bytes });
            }
        }
        Err(no_pages)
    }
}

impl PageRun for SimulatedRun {
    fn address(&self) -> u64 {
        self.address
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for SimulatedRun {
    fn drop(&mut self) {
        self.zones.lock()[self.zone_idx].give_back(self.page, self.order);
    }
}

#[cfg(test)]
mod tests;

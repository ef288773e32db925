//! What a request will meet: by node, by order, with and without the driver's reserve.

use super::remedy::{self, Remedy};
use super::{FreeBlocks, HostReading, ReserveForecast, driver};
use crate::{DriverPool, HostError, NumberedPages, PageOrder};

/// Requests that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Need {
    /// Bytes of one request.
    pub bytes: u64,
    /// How many of them are live at once.
    pub count: u64,
    /// The node they have to be on; `None` where any will do, as for the driver itself.
    pub node: Option<u32>,
}

/// Whether the requests will be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The kernel has contiguous memory for all of them.
    Served,
    /// The kernel does not, and the driver's reserve has place for the rest if nobody uses it.
    ReserveOnly,
    /// Some of them fail.
    Fails,
    /// All of them fail on any host: the kernel has no blocks of that size.
    Impossible,
}

/// What the doctor found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnosis {
    /// What was asked.
    pub need: Need,
    /// The order that one request takes.
    pub order: PageOrder,
    /// Bytes of a block of that order.
    pub block_bytes: u64,
    /// Each node's part.
    pub nodes: Vec<NodeForecast>,
    /// Requests that the kernel can serve now, on the nodes that count.
    pub served: u64,
    /// Requests that the driver's reserve has place for while it is complete and unused; 0 where the
    /// driver is not loaded.
    pub reserve_serves: u64,
    /// What a load of the driver would reserve now; `None` where it is loaded.
    pub reserve: Option<ReserveForecast>,
    /// The most requests that could be served if caches were dropped and memory was compacted.
    pub at_most_after_compaction: u64,
    /// The sum of it all.
    pub verdict: Verdict,
    /// What helps, the gentlest first; empty where nothing is wrong.
    pub remedies: Vec<Remedy>,
}

/// What one node can do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeForecast {
    /// The node.
    pub node: u32,
    /// Whether it counts for the need.
    pub counts: bool,
    /// Free blocks that a request of the kernel may use.
    pub blocks: FreeBlocks,
    /// Requests that it can serve now.
    pub served: u64,
    /// The smallest order with a block for a request; `None` when there is none.
    pub first_order: Option<PageOrder>,
}

impl Need {
    /// One request of `bytes` on any node.
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self { bytes, count: 1, node: None }
    }

    /// Sets how many are live at once. O(1).
    #[must_use]
    pub const fn times(mut self, count: u64) -> Self {
        self.count = count;
        self
    }

    /// Asks for one node only. O(1).
    #[must_use]
    pub const fn on_node(mut self, node: u32) -> Self {
        self.node = Some(node);
        self
    }
}

impl Diagnosis {
    /// Works out what the requests meet. O(zones × orders), and O(pages) of the driver's reserve.
    ///
    /// # Errors
    ///
    /// [`HostError::InvalidSize`] for requests of 0 bytes or above 2^62, [`HostError::NoSuchNode`] for a
    /// node without memory.
    pub fn of(reading: &HostReading, need: &Need) -> Result<Self, HostError> {
        let limit_bytes = 1 << 62;
        let order = PageOrder::of_pages(need.bytes, reading.page_bytes).filter(|_| need.bytes <= limit_bytes);
        let invalid = HostError::InvalidSize { requested_bytes: need.bytes, limit_bytes };
        let order = order.ok_or(invalid)?;
        let nodes = reading.nodes();
        if let Some(node) = need.node.filter(|node| !nodes.contains(node)) {
            return Err(HostError::NoSuchNode { node });
        }
        let is_counted = |node: u32| need.node.is_none_or(|wanted| wanted == node);
        let nodes: Vec<NodeForecast> =
            nodes.iter().map(|&node| forecast(reading, node, order, is_counted(node))).collect();
        let served: u64 = nodes.iter().filter(|node| node.counts).map(|node| node.served).sum();
        let missing = need.count.saturating_sub(served);
        let reserve_serves = reserve_serves(reading, need.bytes, missing);
        let largest = nodes.iter().filter_map(|node| node.blocks.largest_order()).max();
        let verdict = if missing == 0 {
            Verdict::Served
        } else if missing <= reserve_serves {
            Verdict::ReserveOnly
        } else if largest.is_none_or(|largest| largest < order) {
            Verdict::Impossible
        } else {
            Verdict::Fails
        };
        let mut diagnosis = Self {
            need: *need,
            order,
            block_bytes: reading.page_bytes.saturating_mul(order.pages()),
            nodes,
            served,
            reserve_serves,
            reserve: reserve(reading),
            at_most_after_compaction: 0,
            verdict,
            remedies: Vec::new(),
        };
        if verdict != Verdict::Impossible {
            diagnosis.at_most_after_compaction = at_most(reading, diagnosis.block_bytes).max(served);
        }
        diagnosis.remedies = remedy::for_host(reading, &diagnosis);
        Ok(diagnosis)
    }

    /// Returns whether all requests will be served, if need be from the driver's reserve. O(1).
    #[must_use]
    pub const fn is_served(&self) -> bool {
        matches!(self.verdict, Verdict::Served | Verdict::ReserveOnly)
    }
}

fn forecast(reading: &HostReading, node: u32, order: PageOrder, counts: bool) -> NodeForecast {
    let mut sum = FreeBlocks::default();
    let mut served = 0;
    for (blocks, kept_pages) in reading.open_zones(node) {
        served += serves(&blocks, kept_pages, order);
        sum.add(&blocks);
    }
    let from = usize::from(order.get());
    let first = sum.counts().iter().skip(from).position(|count| *count > 0).filter(|_| served > 0);
    let first_order = first.and_then(|idx| PageOrder::new(u8::try_from(from + idx).ok()?));
    NodeForecast { node, counts, blocks: sum, served, first_order }
}

/// The kernel serves a request while more than the kept pages remain, counted with one page of the
/// block itself, and while there is a block.
fn serves(blocks: &FreeBlocks, kept_pages: u64, order: PageOrder) -> u64 {
    let spare =
        blocks.pages().checked_sub(order.pages() - 1).and_then(|left| left.checked_sub(kept_pages + 1));
    let above_mark = spare.map_or(0, |spare| spare / order.pages() + 1);
    blocks.count(order).min(above_mark)
}

/// How many requests the reserve of a loaded driver holds, up to what is needed.
fn reserve_serves(reading: &HostReading, bytes: u64, n_needed: u64) -> u64 {
    if !reading.driver.is_loaded {
        return 0;
    }
    let parameters = reading.driver.parameters;
    let Ok(mut driver) = DriverPool::load(NumberedPages::new(parameters.reserve_bytes()), parameters) else {
        return 0;
    };
    (0..n_needed).take_while(|_| driver.allocate(bytes).is_ok()).count() as u64
}

fn reserve(reading: &HostReading) -> Option<ReserveForecast> {
    if reading.driver.is_loaded {
        return None;
    }
    let mut blocks = FreeBlocks::default();
    for node in reading.nodes() {
        reading.open_zones(node).iter().for_each(|(open, _)| blocks.add(open));
    }
    Some(driver::forecast(blocks, reading.driver.parameters, reading.page_bytes))
}

/// Free memory and caches in whole blocks, no more than the page blocks that can be emptied.
fn at_most(reading: &HostReading, block_bytes: u64) -> u64 {
    let bytes = reading.meminfo.free_bytes.saturating_add(reading.meminfo.droppable_bytes());
    let movable = reading.pagetypeinfo.as_ref().map(|types| {
        let page_block = reading.page_bytes << types.page_block_order;
        types.movable_page_blocks().saturating_mul(page_block)
    });
    bytes.min(movable.unwrap_or(u64::MAX)) / block_bytes
}

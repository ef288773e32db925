//! The lives of all allocations, a column for each thing known. Knows no segments.

use neuronx_mem_replay::SiteId;

/// The end of a life that has not ended.
pub const STILL_LIVE: u64 = u64::MAX;

/// The number of an allocation: its position in order of birth, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AllocationId(pub u32);

/// Everything about one allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Allocation {
    /// Bytes asked for.
    pub bytes: u64,
    /// Bytes that count as allocated; 0 for one of no bytes.
    pub block_bytes: u64,
    /// First address; 0 for one of no bytes, which has no block.
    pub address: u64,
    /// The event that allocated it; 0 when it lived before the first.
    pub birth: u64,
    /// The event that gave its memory back; [`STILL_LIVE`] if none did.
    pub death: u64,
    /// Its stream, by its number in the input.
    pub stream: u64,
    /// Where it was allocated.
    pub site: SiteId,
    /// The runtime's trace id, where the input has one.
    pub trace_id: Option<u64>,
}

/// All allocations in order of birth. Columns are of equal length, but for trace ids.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Allocations {
    /// Bytes asked for.
    pub bytes: Vec<u64>,
    /// Bytes that count as allocated.
    pub block_bytes: Vec<u64>,
    /// First addresses.
    pub addresses: Vec<u64>,
    /// The events that allocated them.
    pub births: Vec<u64>,
    /// The events that gave their memory back.
    pub deaths: Vec<u64>,
    /// Positions in `streams`.
    pub stream_idxs: Vec<u16>,
    /// Where they were allocated.
    pub sites: Vec<SiteId>,
    /// Trace ids; empty when the input has none, 0 where one has none.
    pub trace_ids: Vec<u64>,
    /// The distinct streams, as they first appear.
    pub streams: Vec<u64>,
}

impl Allocations {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// One of them. O(1). `None` for a number of none.
    #[must_use]
    pub fn get(&self, id: AllocationId) -> Option<Allocation> {
        let idx = id.0 as usize;
        Some(Allocation {
            bytes: *self.bytes.get(idx)?,
            block_bytes: self.block_bytes[idx],
            address: self.addresses[idx],
            birth: self.births[idx],
            death: self.deaths[idx],
            stream: self.streams[usize::from(self.stream_idxs[idx])],
            site: self.sites[idx],
            trace_id: self.trace_ids.get(idx).copied().filter(|id| *id != 0),
        })
    }

    /// Those that an event leaves live, in order of birth. O(born before).
    pub fn live_at(&self, event: u64) -> impl Iterator<Item = AllocationId> + '_ {
        let n_born = self.births.partition_point(|birth| *birth <= event);
        let ids = (0_u32..).zip(&self.deaths[..n_born]);
        ids.filter(move |(_, death)| event < **death).map(|(id, _)| AllocationId(id))
    }

    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(capacity),
            block_bytes: Vec::with_capacity(capacity),
            addresses: Vec::with_capacity(capacity),
            births: Vec::with_capacity(capacity),
            deaths: Vec::with_capacity(capacity),
            stream_idxs: Vec::with_capacity(capacity),
            sites: Vec::with_capacity(capacity),
            ..Self::default()
        }
    }

    /// Adds one; births never go down. `None` when there are too many to number.
    pub(super) fn push(&mut self, new: &Allocation) -> Option<AllocationId> {
        let id = u32::try_from(self.len()).ok().filter(|id| *id < u32::MAX)?;
        self.bytes.push(new.bytes);
        self.block_bytes.push(new.block_bytes);
        self.addresses.push(new.address);
        self.births.push(new.birth);
        self.deaths.push(new.death);
        let stream_idx = self.stream_idx(new.stream);
        self.stream_idxs.push(stream_idx);
        self.sites.push(new.site);
        if let Some(trace_id) = new.trace_id {
            self.trace_ids.resize(self.bytes.len() - 1, 0);
            self.trace_ids.push(trace_id);
        }
        Some(AllocationId(id))
    }

    /// Streams beyond the number of a column share its last place.
    fn stream_idx(&mut self, stream: u64) -> u16 {
        let known = self.streams.iter().position(|known| *known == stream);
        let idx = known.unwrap_or_else(|| {
            if self.streams.len() <= usize::from(u16::MAX) {
                self.streams.push(stream);
            }
            self.streams.len() - 1
        });
        u16::try_from(idx).unwrap_or(u16::MAX)
    }
}

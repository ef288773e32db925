//! The sums after every event, and those of the whole run. Knows which event made the peak.

/// The sums, bytes; position `n` is after event `n`, position 0 before the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeline {
    /// Bytes of segments (allocator semantics §1).
    pub reserved_bytes: Vec<u64>,
    /// Block bytes of live allocations.
    pub allocated_bytes: Vec<u64>,
    /// Bytes that live allocations asked for.
    pub active_bytes: Vec<u64>,
    /// Unix times, microseconds, never going down; empty when the input has none.
    pub times_us: Vec<u64>,
}

/// Sums of the whole run, bytes. Of a replay they are the report's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Events that had an effect; of a snapshot, entries.
    pub n_events: u64,
    /// Most bytes of segments.
    pub reserved_peak_bytes: u64,
    /// Most block bytes.
    pub allocated_peak_bytes: u64,
    /// Most bytes asked for.
    pub active_peak_bytes: u64,
    /// Bytes of segments at the end.
    pub reserved_bytes: u64,
    /// Block bytes at the end.
    pub allocated_bytes: u64,
    /// Bytes asked for at the end.
    pub active_bytes: u64,
    /// The event at which allocated memory first reached its peak; 0 when nothing was allocated.
    pub peak_event: u64,
    /// Out-of-memory errors.
    pub n_ooms: u64,
}

impl Timeline {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self {
            reserved_bytes: Vec::with_capacity(capacity),
            allocated_bytes: Vec::with_capacity(capacity),
            active_bytes: Vec::with_capacity(capacity),
            times_us: Vec::new(),
        }
    }

    /// Adds a moment; sums beyond 64 bits, which only nonsense has, become the largest number.
    pub(super) fn push(
        &mut self,
        reserved_bytes: impl TryInto<u64>,
        allocated_bytes: impl TryInto<u64>,
        active_bytes: impl TryInto<u64>,
    ) {
        self.reserved_bytes.push(reserved_bytes.try_into().unwrap_or(u64::MAX));
        self.allocated_bytes.push(allocated_bytes.try_into().unwrap_or(u64::MAX));
        self.active_bytes.push(active_bytes.try_into().unwrap_or(u64::MAX));
    }

    /// The sums of the whole, as the columns show them. O(events).
    pub(super) fn totals(&self, n_events: u64, n_ooms: u64) -> Totals {
        let most = |column: &[u64]| column.iter().copied().max().unwrap_or(0);
        let last = |column: &[u64]| column.last().copied().unwrap_or(0);
        let allocated_peak_bytes = most(&self.allocated_bytes);
        let is_peak = |bytes: &u64| *bytes == allocated_peak_bytes;
        Totals {
            n_events,
            reserved_peak_bytes: most(&self.reserved_bytes),
            allocated_peak_bytes,
            active_peak_bytes: most(&self.active_bytes),
            reserved_bytes: last(&self.reserved_bytes),
            allocated_bytes: last(&self.allocated_bytes),
            active_bytes: last(&self.active_bytes),
            peak_event: self.allocated_bytes.iter().position(is_peak).unwrap_or(0) as u64,
            n_ooms,
        }
    }
}

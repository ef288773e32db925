//! Rows of the tables, as plain numbers, and the columns they fill.
//!
//! Knows the names and the order of the columns. Refuses to compute: what a row says is what the
//! caller put in.

use crate::{Counters, MemoryStats, Scope, StatsPool};

/// One row of a table: a name, columns, and one field for each of them.
///
/// Implemented by the rows of this crate only. Fields are whole numbers and pool names, so that no
/// field needs quotes.
pub trait TableRow: sealed::Sealed {
    /// The table: `memory`, `segments`, `oom` or `streams`.
    const TABLE: &'static str;

    /// The columns of the table after `timestamp_us`, `rank` and `device`, in order.
    fn columns() -> Vec<String>;

    /// The fields, as many as there are columns.
    fn fields(&self) -> Vec<String>;
}

/// A row of `segments`: one segment and how full it is.
///
/// The same figures as an occupancy of the fragmentation analysis (allocator semantics §8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentRow {
    /// First device address.
    pub address: u64,
    /// Bytes taken from the runtime.
    pub segment_bytes: u64,
    /// The pool it serves.
    pub pool: StatsPool,
    /// Live and pending blocks in it; without any it could be released.
    pub n_blocks: u64,
    /// Block bytes of them.
    pub allocated_bytes: u64,
    /// What their owners asked for, bytes.
    pub active_bytes: u64,
    /// Block bytes of pending blocks alone.
    pub pending_bytes: u64,
    /// Bytes of its free blocks.
    pub cached_free_bytes: u64,
    /// Bytes of the largest of them.
    pub largest_free_bytes: u64,
}

/// A row of `oom`: one request that could not be served, with the figures of the error (allocator
/// semantics §6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OomRow {
    /// Asked for.
    pub requested_bytes: u64,
    /// Block size by the rounding rule.
    pub rounded_bytes: u64,
    /// Segment that the runtime was asked for.
    pub segment_bytes: u64,
    /// Device memory, 0 when the runtime did not say.
    pub total_bytes: u64,
    /// Held from the runtime.
    pub reserved_bytes: u64,
    /// Block bytes of live and pending blocks.
    pub allocated_bytes: u64,
    /// What their owners asked for.
    pub active_bytes: u64,
    /// Free inside held segments, both pools.
    pub cached_free_bytes: u64,
    /// Largest free block of the request's pool.
    pub largest_free_bytes: u64,
    /// Bytes whose deallocation waits, all streams.
    pub pending_bytes: u64,
    /// In use on the device by others than this allocator.
    pub used_by_others_bytes: u64,
    /// Recovery steps taken.
    pub n_steps: u64,
    /// Bytes that the steps gained together.
    pub gained_bytes: u64,
    /// Hash of the effective configuration.
    pub config_hash: u64,
}

/// A row of `streams`: the work and the deallocations that are pending on one stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamRow {
    /// The stream.
    pub stream: u64,
    /// Blocks whose deallocation waits for the stream.
    pub pending_blocks: u64,
    /// Block bytes of them.
    pub pending_bytes: u64,
    /// Pieces of work submitted so far.
    pub submitted: u64,
    /// Pieces of work completed so far.
    pub completed: u64,
}

impl SegmentRow {
    const COLUMNS: [&str; 9] = [
        "address",
        "segment_bytes",
        "pool",
        "n_blocks",
        "allocated_bytes",
        "active_bytes",
        "pending_bytes",
        "cached_free_bytes",
        "largest_free_bytes",
    ];
}

impl OomRow {
    /// The figures under the names of their columns.
    pub(crate) fn figures(&self) -> [(&'static str, u64); 14] {
        [
            ("requested_bytes", self.requested_bytes),
            ("rounded_bytes", self.rounded_bytes),
            ("segment_bytes", self.segment_bytes),
            ("total_bytes", self.total_bytes),
            ("reserved_bytes", self.reserved_bytes),
            ("allocated_bytes", self.allocated_bytes),
            ("active_bytes", self.active_bytes),
            ("cached_free_bytes", self.cached_free_bytes),
            ("largest_free_bytes", self.largest_free_bytes),
            ("pending_bytes", self.pending_bytes),
            ("used_by_others_bytes", self.used_by_others_bytes),
            ("n_steps", self.n_steps),
            ("gained_bytes", self.gained_bytes),
            ("config_hash", self.config_hash),
        ]
    }
}

impl StreamRow {
    /// The figures under the names of their columns.
    pub(crate) fn figures(&self) -> [(&'static str, u64); 5] {
        [
            ("stream", self.stream),
            ("pending_blocks", self.pending_blocks),
            ("pending_bytes", self.pending_bytes),
            ("submitted", self.submitted),
            ("completed", self.completed),
        ]
    }
}

/// A reading is a row of `memory`: the 124 keys of [`MemoryStats::to_map`], in their order.
impl TableRow for MemoryStats {
    const TABLE: &'static str = "memory";

    fn columns() -> Vec<String> {
        let zero = Self::from_parts(Default::default(), Default::default(), Counters::default(), true, None);
        zero.to_map().into_keys().collect()
    }

    fn fields(&self) -> Vec<String> {
        self.to_map().into_values().map(|value| value.to_string()).collect()
    }
}

impl TableRow for SegmentRow {
    const TABLE: &'static str = "segments";

    fn columns() -> Vec<String> {
        Self::COLUMNS.map(str::to_owned).into()
    }

    fn fields(&self) -> Vec<String> {
        let pool = Scope::from(self.pool).name().to_owned();
        let numbers = [
            self.n_blocks,
            self.allocated_bytes,
            self.active_bytes,
            self.pending_bytes,
            self.cached_free_bytes,
            self.largest_free_bytes,
        ];
        let mut fields = vec![self.address.to_string(), self.segment_bytes.to_string(), pool];
        fields.extend(numbers.map(|number| number.to_string()));
        fields
    }
}

impl TableRow for OomRow {
    const TABLE: &'static str = "oom";

    fn columns() -> Vec<String> {
        names(&Self::default().figures())
    }

    fn fields(&self) -> Vec<String> {
        numbers(&self.figures())
    }
}

impl TableRow for StreamRow {
    const TABLE: &'static str = "streams";

    fn columns() -> Vec<String> {
        names(&Self::default().figures())
    }

    fn fields(&self) -> Vec<String> {
        numbers(&self.figures())
    }
}

fn names(figures: &[(&'static str, u64)]) -> Vec<String> {
    figures.iter().map(|(name, _)| (*name).to_owned()).collect()
}

fn numbers(figures: &[(&'static str, u64)]) -> Vec<String> {
    figures.iter().map(|(_, number)| number.to_string()).collect()
}

mod sealed {
    /// Keeps the tables to those of this crate, so that columns and fields agree.
    pub trait Sealed {}

    impl Sealed for crate::MemoryStats {}
    impl Sealed for super::SegmentRow {}
    impl Sealed for super::OomRow {}
    impl Sealed for super::StreamRow {}
}

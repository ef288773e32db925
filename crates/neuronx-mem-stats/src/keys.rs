//! The names in the flat dict: families, scopes and metrics. A table, no values.

/// The pool that a block or segment belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StatsPool {
    /// The small pool.
    #[default]
    Small,
    /// The large pool.
    Large,
}

/// What a family's values are summed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Both pools.
    All,
    /// The small pool.
    SmallPool,
    /// The large pool.
    LargePool,
}

impl Scope {
    /// All scopes, the sum first.
    pub const ALL: [Self; 3] = [Self::All, Self::SmallPool, Self::LargePool];

    /// The middle part of a key.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::SmallPool => "small_pool",
            Self::LargePool => "large_pool",
        }
    }
}

impl From<StatsPool> for Scope {
    fn from(pool: StatsPool) -> Self {
        match pool {
            StatsPool::Small => Self::SmallPool,
            StatsPool::Large => Self::LargePool,
        }
    }
}

/// What is counted (allocator semantics §7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// Live blocks.
    Allocation,
    /// Segments held.
    Segment,
    /// Live blocks: the same as [`Allocation`](Self::Allocation) here, since a block is live
    /// until its deallocation has run.
    Active,
    /// Free blocks that share their segment with another block.
    InactiveSplit,
    /// Block bytes of live blocks.
    AllocatedBytes,
    /// Bytes of the segments held.
    ReservedBytes,
    /// Bytes that the owners of live blocks asked for.
    ActiveBytes,
    /// Bytes of the inactive split blocks.
    InactiveSplitBytes,
    /// The same as [`ActiveBytes`](Self::ActiveBytes), under the name PyTorch uses for it.
    RequestedBytes,
}

impl Family {
    /// All families, in the order of allocator semantics §7.
    pub const ALL: [Self; 9] = [
        Self::Allocation,
        Self::Segment,
        Self::Active,
        Self::InactiveSplit,
        Self::AllocatedBytes,
        Self::ReservedBytes,
        Self::ActiveBytes,
        Self::InactiveSplitBytes,
        Self::RequestedBytes,
    ];

    /// The first part of a key.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allocation => "allocation",
            Self::Segment => "segment",
            Self::Active => "active",
            Self::InactiveSplit => "inactive_split",
            Self::AllocatedBytes => "allocated_bytes",
            Self::ReservedBytes => "reserved_bytes",
            Self::ActiveBytes => "active_bytes",
            Self::InactiveSplitBytes => "inactive_split_bytes",
            Self::RequestedBytes => "requested_bytes",
        }
    }

    /// The counter that holds this family's values: two pairs of families share one.
    pub(crate) const fn tracked(self) -> Tracked {
        match self {
            Self::Allocation | Self::Active => Tracked::Blocks,
            Self::Segment => Tracked::Segments,
            Self::InactiveSplit => Tracked::SplitBlocks,
            Self::AllocatedBytes => Tracked::AllocatedBytes,
            Self::ReservedBytes => Tracked::ReservedBytes,
            Self::ActiveBytes | Self::RequestedBytes => Tracked::ActiveBytes,
            Self::InactiveSplitBytes => Tracked::SplitBytes,
        }
    }
}

/// One of the four values of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Now.
    Current,
    /// Most at once since the last reset of peaks.
    Peak,
    /// Sum of all increases since the last reset of accumulated values.
    Allocated,
    /// Sum of all decreases since then.
    Freed,
}

impl Metric {
    /// All metrics, in the order of allocator semantics §7.
    pub const ALL: [Self; 4] = [Self::Current, Self::Peak, Self::Allocated, Self::Freed];

    /// The last part of a key.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Peak => "peak",
            Self::Allocated => "allocated",
            Self::Freed => "freed",
        }
    }
}

/// The counters that are kept by pool; the families are views of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tracked {
    Blocks,
    AllocatedBytes,
    ActiveBytes,
    SplitBlocks,
    SplitBytes,
    Segments,
    ReservedBytes,
}

impl Tracked {
    pub(crate) const ALL: [Self; 7] = [
        Self::Blocks,
        Self::AllocatedBytes,
        Self::ActiveBytes,
        Self::SplitBlocks,
        Self::SplitBytes,
        Self::Segments,
        Self::ReservedBytes,
    ];
}

//! What the configuration says about one request: pool, block size, segment size. Pure
//! arithmetic over a fixed configuration; holds no memory and looks at none.

use neuronx_mem_config::AllocatorConfig;
use neuronx_mem_rounding::RoundingScheme;

use crate::PoolError;
use crate::index::bins::GRANULE_BYTES;

/// One of the two pools. Each has its own segments and its own free blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PoolKind {
    /// Requests below `kPoolBoundary`.
    Small,
    /// All others.
    Large,
}

impl PoolKind {
    /// Both pools, small first.
    pub const ALL: [Self; 2] = [Self::Small, Self::Large];

    /// 0 for small, 1 for large: for tables by pool.
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        match self {
            Self::Small => 0,
            Self::Large => 1,
        }
    }

    /// `"small"` or `"large"`, as a memory snapshot names it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Large => "large",
        }
    }
}

/// A request after the arithmetic, before the search: made by [`PlacementPolicy::plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub(crate) requested: u64,
    pub(crate) extent: u64,
    pub(crate) tag: u64,
    /// `extent` minus the rounded size; below 64.
    pub(crate) padding: u8,
    pub(crate) kind: PoolKind,
}

impl Request {
    /// Bytes the caller asked for.
    #[must_use]
    pub const fn requested_bytes(&self) -> u64 {
        self.requested
    }

    /// The block size by the rounding rule, bytes.
    #[must_use]
    pub const fn rounded_bytes(&self) -> u64 {
        self.extent - self.padding as u64
    }

    /// The block size rounded up to the alignment of addresses, 64 bytes.
    #[must_use]
    pub const fn extent_bytes(&self) -> u64 {
        self.extent
    }

    /// Gives the block a word of the caller's, readable while it is live. 0 unless set.
    #[must_use]
    #[inline]
    pub const fn with_tag(mut self, tag: u64) -> Self {
        self.tag = tag;
        self
    }

    /// The pool that serves it.
    #[must_use]
    pub const fn kind(&self) -> PoolKind {
        self.kind
    }
}

/// The placement rules under one configuration, fixed for the life of a pool.
///
/// Small and `Copy`: planning a request needs no access to the pool, hence no lock.
#[derive(Clone, Copy, Debug)]
pub struct PlacementPolicy {
    rounding: RoundingScheme,
    /// Requests up to this have a block that fits 64 bits and need no second thought.
    plain_bytes: u64,
    pool_boundary: u64,
    medium_threshold: u64,
    segment_alignment: u64,
    /// Segment size of small requests and of large requests below the medium threshold.
    small_segment: u64,
    medium_segment: u64,
    /// Smallest remainder worth a block of its own, by pool; at least 1.
    split_threshold: [u64; 2],
    max_split: u64,
    max_non_split_rounding: u64,
}

impl PlacementPolicy {
    /// Takes the rules from a configuration.
    #[must_use]
    pub fn new(config: &AllocatorConfig) -> Self {
        // The configuration admits 1..=64 divisions only, so the fallback is never taken.
        let rounding = RoundingScheme::new(
            config.min_rounded_bytes(),
            config.roundup_power2_divisions(),
            config.medium_threshold_bytes(),
        )
        .unwrap_or(RoundingScheme::DEFAULT);
        let floor_fits = config.min_rounded_bytes() <= RoundingScheme::ALWAYS_FITS_BYTES;
        Self {
            rounding,
            plain_bytes: if floor_fits { RoundingScheme::ALWAYS_FITS_BYTES } else { 0 },
            pool_boundary: config.pool_boundary_bytes(),
            medium_threshold: config.medium_threshold_bytes(),
            segment_alignment: config.segment_alignment_bytes(),
            small_segment: config.small_segment_bytes(),
            medium_segment: config.medium_segment_bytes(),
            // No remainder at all is never worth a block, whatever the keys say.
            split_threshold: [config.small_split_threshold_bytes(), config.large_split_threshold_bytes()]
                .map(|bytes| bytes.max(1)),
            max_split: config.max_split_bytes(),
            max_non_split_rounding: config.max_non_split_rounding_bytes(),
        }
    }

    /// Works out pool and block size of a request (allocator semantics §2).
    ///
    /// Cost: O(1).
    ///
    /// # Errors
    ///
    /// [`PoolError::ZeroBytes`] for 0, [`PoolError::SizeOverflow`] when the block does not fit
    /// 64 bits.
    #[inline(always)]
    pub fn plan(&self, requested_bytes: u64) -> Result<Request, PoolError> {
        // No bytes and too many, in one comparison.
        let rounded = if requested_bytes.wrapping_sub(1) < self.plain_bytes {
            self.rounding.round_wrapping(requested_bytes)
        } else {
            self.round_at_the_edge(requested_bytes)?
        };
        let extent = rounded.wrapping_add(GRANULE_BYTES - 1) & !(GRANULE_BYTES - 1);
        let kind = if requested_bytes < self.pool_boundary { PoolKind::Small } else { PoolKind::Large };
        let padding = low_byte(extent.wrapping_sub(rounded));
        Ok(Request { requested: requested_bytes, extent, tag: 0, padding, kind })
    }

    /// Bytes of the segment to take from the runtime when no cached block serves the request
    /// (allocator semantics §3). O(1).
    ///
    /// # Errors
    ///
    /// [`PoolError::SizeOverflow`] when the segment does not fit 64 bits.
    pub fn segment_bytes(&self, request: &Request) -> Result<u64, PoolError> {
        let requested_bytes = request.requested;
        let rounded_up = |bytes| {
            round_up(bytes, self.segment_alignment).ok_or(PoolError::SizeOverflow { requested_bytes })
        };
        let segment = match request.kind {
            PoolKind::Small => self.small_segment,
            PoolKind::Large if requested_bytes < self.medium_threshold => self.medium_segment,
            PoolKind::Large => rounded_up(requested_bytes)?,
        };
        if segment >= request.extent { Ok(segment) } else { rounded_up(request.extent) }
    }

    /// The rounding rule in force.
    #[must_use]
    pub fn rounding(&self) -> &RoundingScheme {
        &self.rounding
    }

    /// Blocks above this many bytes are never split, and blocks and segments above it count as
    /// oversize (`kMaxSplitSizeBytes`).
    #[must_use]
    #[inline]
    pub fn max_split_bytes(&self) -> u64 {
        self.max_split
    }

    /// How much larger than the request an unsplittable block may be
    /// (`kMaxNonSplitRoundingBytes`).
    #[must_use]
    pub fn max_non_split_rounding_bytes(&self) -> u64 {
        self.max_non_split_rounding
    }

    /// The block size where it may not fit, with room to round it up to the granule.
    #[cold]
    fn round_at_the_edge(&self, requested_bytes: u64) -> Result<u64, PoolError> {
        if requested_bytes == 0 {
            return Err(PoolError::ZeroBytes);
        }
        let fits = |rounded: &u64| rounded.checked_add(GRANULE_BYTES - 1).is_some();
        let rounded = self.rounding.round(requested_bytes).filter(fits);
        rounded.ok_or(PoolError::SizeOverflow { requested_bytes })
    }

    /// Whether a block of `extent` bytes may be split at all.
    #[inline]
    pub(crate) fn may_split(&self, extent: u64) -> bool {
        extent <= self.max_split
    }

    /// Whether what the request leaves of a block is large enough for a block of its own.
    #[inline]
    pub(crate) fn is_worth_splitting(&self, extent: u64, request: &Request) -> bool {
        extent - request.extent >= self.split_threshold[request.kind.index()]
    }

    /// Whether a free block of `extent` bytes, found as the best fit, may serve the request.
    #[inline]
    pub(crate) fn admits(&self, extent: u64, needed: u64) -> bool {
        extent <= self.max_split || extent - needed <= self.max_non_split_rounding
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "padding is below 64")]
const fn low_byte(padding: u64) -> u8 {
    padding as u8
}

/// Rounds up to a multiple of a power of two.
#[inline]
fn round_up(bytes: u64, power_of_two: u64) -> Option<u64> {
    let mask = power_of_two - 1;
    Some(bytes.checked_add(mask)? & !mask)
}

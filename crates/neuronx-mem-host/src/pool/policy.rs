//! What a pool reserves, how far it grows, and how it splits: data, checked once.

use crate::{DriverParameters, HostError, PAGE_BYTES};

/// The rules of a pool.
///
/// ```
/// use neuronx_mem_host::{ClassPolicy, HostPoolPolicy};
///
/// // As many bytes as the driver reserves for a device, but where they help.
/// assert_eq!(HostPoolPolicy::default().reserve_bytes(), 128 << 20);
///
/// let policy = HostPoolPolicy::new([
///     ClassPolicy::new(1 << 20).with_reserve_bytes(16 << 20),
///     ClassPolicy::new(8 << 20).with_reserve_bytes(64 << 20).with_limit_bytes(128 << 20),
/// ]);
/// assert_eq!(policy.reserve_bytes(), 80 << 20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostPoolPolicy {
    /// The classes, from the smallest page to the largest.
    pub classes: Vec<ClassPolicy>,
    /// How a request is split that no extent holds.
    pub split: SplitPolicy,
    /// Whether a request takes from larger classes before the pool grows, or after.
    pub preference: Preference,
    /// The most that the pool may have from the source.
    pub limit_bytes: u64,
    /// Whether a request above the largest class may have a run of its own.
    pub has_own_runs: bool,
    /// Whether the bytes of pages that a class does not get at the start go to the next smaller class.
    pub spills_down: bool,
    /// The driver whose layout is compared with on each request; `None` for no comparison.
    pub compare_with: Option<DriverParameters>,
}

/// One class of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassPolicy {
    /// Bytes of one page of the class.
    pub page_bytes: u64,
    /// What is reserved at the start and kept.
    pub reserve_bytes: u64,
    /// The most that the class may have.
    pub limit_bytes: u64,
    /// The largest request that makes the class grow.
    pub serves_up_to_bytes: u64,
    /// The unit in which pages are divided, a power of two.
    pub granule_bytes: u64,
}

/// How a request is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SplitPolicy {
    /// Never.
    Never,
    /// Into a bounded number of chunks, none but the last smaller than a bound.
    Bounded {
        /// The most chunks.
        max_chunks: usize,
        /// The smallest chunk, the last one excepted.
        min_chunk_bytes: u64,
    },
}

/// What comes first where the class of a request has no extent for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preference {
    /// Larger classes: growth may no longer be possible when it is needed.
    LargerClasses,
    /// Growth: large pages are kept for large requests.
    Growth,
}

impl Default for HostPoolPolicy {
    /// 128 MiB like the driver's reserve: 96 MiB in pages of 4 MiB, 16 MiB in pages of 2 MiB, and 8 MiB
    /// each in pages of 1 MiB and 256 KiB; growth up to four times that; up to 64 chunks of 64 KiB or
    /// more.
    fn default() -> Self {
        let class = |page_bytes, reserve_bytes| {
            ClassPolicy::new(page_bytes).with_reserve_bytes(reserve_bytes).with_limit_bytes(reserve_bytes * 4)
        };
        Self::new([
            class(256 << 10, 8 << 20),
            class(1 << 20, 8 << 20),
            class(2 << 20, 16 << 20),
            class(4 << 20, 96 << 20),
        ])
        .with_limit_bytes(512 << 20)
    }
}

impl HostPoolPolicy {
    /// Makes a policy of these classes, smallest page first, without a limit beyond theirs. O(classes).
    #[must_use]
    pub fn new(classes: impl IntoIterator<Item = ClassPolicy>) -> Self {
        Self {
            classes: classes.into_iter().collect(),
            split: SplitPolicy::Bounded { max_chunks: 64, min_chunk_bytes: 64 << 10 },
            preference: Preference::LargerClasses,
            limit_bytes: u64::MAX,
            has_own_runs: true,
            spills_down: true,
            compare_with: None,
        }
    }

    /// Sets the most that the pool may have from the source. O(1).
    #[must_use]
    pub const fn with_limit_bytes(mut self, bytes: u64) -> Self {
        self.limit_bytes = bytes;
        self
    }

    /// Sets how requests are split. O(1).
    #[must_use]
    pub const fn with_split(mut self, split: SplitPolicy) -> Self {
        self.split = split;
        self
    }

    /// Sets what comes first where a class is used up. O(1).
    #[must_use]
    pub const fn with_preference(mut self, preference: Preference) -> Self {
        self.preference = preference;
        self
    }

    /// Compares each request with what the driver's layout would do. O(1).
    #[must_use]
    pub const fn compared_with(mut self, parameters: DriverParameters) -> Self {
        self.compare_with = Some(parameters);
        self
    }

    /// Forbids growth: the pool is what it reserves at the start. O(classes).
    #[must_use]
    pub fn without_growth(mut self) -> Self {
        self.classes.iter_mut().for_each(|class| class.limit_bytes = class.reserve_bytes);
        self.limit_bytes = self.reserve_bytes();
        self.has_own_runs = false;
        self
    }

    /// Returns what the pool reserves at the start. O(classes).
    #[must_use]
    pub fn reserve_bytes(&self) -> u64 {
        let reserves = self.classes.iter().map(|class| class.reserve_bytes);
        reserves.fold(0, u64::saturating_add)
    }

    pub(super) fn check(&self) -> Result<(), HostError> {
        let pages = self.classes.iter().map(|class| class.page_bytes);
        if let Some(page_bytes) = pages.clone().zip(pages.skip(1)).find_map(|(a, b)| (a >= b).then_some(b)) {
            return Err(invalid(
                "page_bytes",
                page_bytes,
                "classes go from the smallest page to the largest",
            ));
        }
        self.classes.iter().try_for_each(ClassPolicy::check)?;
        if self.reserve_bytes() > self.limit_bytes {
            return Err(invalid("limit_bytes", self.limit_bytes, "at least what is reserved"));
        }
        match self.split {
            SplitPolicy::Bounded { max_chunks: 0, .. } => Err(invalid("max_chunks", 0, "at least 1")),
            SplitPolicy::Bounded { min_chunk_bytes, .. }
                if !min_chunk_bytes.is_multiple_of(PAGE_BYTES) || min_chunk_bytes == 0 =>
            {
                Err(invalid("min_chunk_bytes", min_chunk_bytes, "a multiple of 4096"))
            }
            _ => Ok(()),
        }
    }
}

impl ClassPolicy {
    /// Makes a class of pages of `page_bytes`, a multiple of [`PAGE_BYTES`]: nothing reserved, no limit,
    /// for requests up to a page, divided in units of [`PAGE_BYTES`]. O(1).
    #[must_use]
    pub const fn new(page_bytes: u64) -> Self {
        Self {
            page_bytes,
            reserve_bytes: 0,
            limit_bytes: u64::MAX,
            serves_up_to_bytes: page_bytes,
            granule_bytes: PAGE_BYTES,
        }
    }

    /// Sets what is reserved at the start; bytes that fill no page are not. O(1).
    #[must_use]
    pub const fn with_reserve_bytes(mut self, bytes: u64) -> Self {
        self.reserve_bytes = bytes;
        self
    }

    /// Sets the most that the class may have. O(1).
    #[must_use]
    pub const fn with_limit_bytes(mut self, bytes: u64) -> Self {
        self.limit_bytes = bytes;
        self
    }

    /// Sets the largest request that makes the class grow. O(1).
    #[must_use]
    pub const fn serving_up_to_bytes(mut self, bytes: u64) -> Self {
        self.serves_up_to_bytes = bytes;
        self
    }

    /// Sets the unit in which pages are divided, a power of two from 64 on. O(1).
    #[must_use]
    pub const fn with_granule_bytes(mut self, bytes: u64) -> Self {
        self.granule_bytes = bytes;
        self
    }

    fn check(&self) -> Result<(), HostError> {
        let Self { page_bytes, granule_bytes, serves_up_to_bytes, .. } = *self;
        if page_bytes == 0 || page_bytes > 1 << 40 || !page_bytes.is_multiple_of(PAGE_BYTES) {
            return Err(invalid("page_bytes", page_bytes, "a multiple of 4096 up to 2^40"));
        }
        if granule_bytes < 64 || !granule_bytes.is_power_of_two() || !page_bytes.is_multiple_of(granule_bytes)
        {
            return Err(invalid(
                "granule_bytes",
                granule_bytes,
                "a power of two from 64 on that divides the page",
            ));
        }
        if serves_up_to_bytes > page_bytes {
            return Err(invalid("serves_up_to_bytes", serves_up_to_bytes, "at most the bytes of a page"));
        }
        if self.reserve_bytes > self.limit_bytes {
            return Err(invalid("limit_bytes", self.limit_bytes, "at least what is reserved"));
        }
        Ok(())
    }
}

const fn invalid(name: &'static str, value: u64, reason: &'static str) -> HostError {
    HostError::InvalidPolicy { name, value, reason }
}

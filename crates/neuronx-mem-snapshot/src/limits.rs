//! What a reader may spend on an input. Knows bounds on bytes, memory, nesting and counts; refuses
//! to trust any length that a file claims.

use std::fmt;

use crate::Error;

/// The deepest nesting that the crate ever reads or writes, whatever [`Limits::max_depth`] says.
///
/// A genuine snapshot nests 7 deep.
pub const MAX_DEPTH: usize = 100;

/// The most frames that a JSON file may repeat in line.
///
/// JSON has no references, so every entry repeats its whole stack. A pickle of some megabytes can
/// describe a JSON file of petabytes; writing it is refused before the first byte.
pub const MAX_INLINE_FRAMES: u64 = 1 << 30;

/// The most keys in one dict of a known kind (genuine ones have at most 13).
pub(crate) const MAX_RECORD_KEYS: usize = 128;

/// Bounds on what reading one input may cost.
///
/// The defaults read genuine files of many gigabytes and hold 10 MB of hostile bytes under
/// 100 MB of memory. Memory may grow with the size of the input, up to a ceiling:
/// `min(max_memory_bytes, memory_floor_bytes + memory_per_input_byte * input)`.
///
/// ```
/// let mut limits = neuronx_mem_snapshot::Limits::default();
/// limits.max_input_bytes = 1 << 20;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Longest input, bytes. Default 64 GiB.
    pub max_input_bytes: u64,
    /// Ceiling of the memory taken for objects, bytes; the input itself is not counted. Default 256 GiB.
    pub max_memory_bytes: u64,
    /// Memory that even a tiny input may take, bytes. Default 4 MiB.
    pub memory_floor_bytes: u64,
    /// Bytes of memory for each byte of input. Default 7; genuine files need 2 to 5.
    pub memory_per_input_byte: u64,
    /// Deepest nesting, at most [`MAX_DEPTH`]. Default 64.
    pub max_depth: usize,
    /// Most containers (lists, dicts, tuples). Default 2^30.
    pub max_items: u64,
    /// Most values under keys that the crate does not know, shared ones counted as often as
    /// they are reachable. Default 2^22.
    pub max_extra_values: u64,
}

/// Which of the [`Limits`] was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitKind {
    /// [`Limits::max_input_bytes`].
    InputBytes,
    /// The memory bounds.
    MemoryBytes,
    /// [`Limits::max_depth`].
    Depth,
    /// [`Limits::max_items`].
    Items,
    /// [`Limits::max_extra_values`].
    ExtraValues,
    /// Keys in one dict (128).
    RecordKeys,
    /// [`MAX_INLINE_FRAMES`].
    InlineFrames,
}

/// Memory taken so far by one reader, against its bound.
#[derive(Debug)]
pub(crate) struct Budget {
    used_bytes: u64,
    limit_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_input_bytes: 64 << 30,
            max_memory_bytes: 256 << 30,
            memory_floor_bytes: 4 << 20,
            memory_per_input_byte: 7,
            max_depth: 64,
            max_items: 1 << 30,
            max_extra_values: 1 << 22,
        }
    }
}

impl Limits {
    /// The memory that an input of `input_bytes` may take, bytes.
    #[must_use]
    pub fn memory_bytes_for(&self, input_bytes: u64) -> u64 {
        self.memory_per_input_byte
            .saturating_mul(input_bytes)
            .saturating_add(self.memory_floor_bytes)
            .min(self.max_memory_bytes)
    }

    pub(crate) fn depth(&self) -> usize {
        self.max_depth.min(MAX_DEPTH)
    }

    /// Containers are numbered with 32 bits.
    pub(crate) fn items(&self) -> u64 {
        self.max_items.min(u64::from(u32::MAX) - 1)
    }

    pub(crate) fn check_input(&self, input_bytes: u64) -> Result<(), Error> {
        if input_bytes > self.max_input_bytes {
            return Err(LimitKind::InputBytes.error(self.max_input_bytes));
        }
        Ok(())
    }
}

impl LimitKind {
    pub(crate) const fn error(self, limit: u64) -> Error {
        Error::LimitExceeded { kind: self, limit, offset: None }
    }
}

impl fmt::Display for LimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InputBytes => "input bytes",
            Self::MemoryBytes => "memory bytes",
            Self::Depth => "nesting depth",
            Self::Items => "containers",
            Self::ExtraValues => "values under unknown keys",
            Self::RecordKeys => "keys in one dict",
            Self::InlineFrames => "frames repeated in json",
        })
    }
}

impl Budget {
    pub(crate) fn new(limits: &Limits, input_bytes: u64) -> Self {
        Self { used_bytes: 0, limit_bytes: limits.memory_bytes_for(input_bytes) }
    }

    /// Accounts for `n_bytes` about to be allocated.
    #[inline]
    pub(crate) fn charge(&mut self, n_bytes: usize) -> Result<(), Error> {
        self.used_bytes = self.used_bytes.saturating_add(n_bytes as u64);
        self.check(0)
    }

    /// Checks the total together with `other_bytes` that are accounted for elsewhere.
    #[inline]
    pub(crate) fn check(&self, other_bytes: usize) -> Result<(), Error> {
        if self.used_bytes.saturating_add(other_bytes as u64) > self.limit_bytes {
            return Err(LimitKind::MemoryBytes.error(self.limit_bytes));
        }
        Ok(())
    }

    /// Appends to a vector, accounting for its growth.
    #[inline]
    pub(crate) fn push<T>(&mut self, items: &mut Vec<T>, item: T) -> Result<(), Error> {
        self.reserve(items, 1)?;
        items.push(item);
        Ok(())
    }

    /// Makes room for `n_more` items, growing by at least half, and accounts for it.
    #[inline]
    pub(crate) fn reserve<T>(&mut self, items: &mut Vec<T>, n_more: usize) -> Result<(), Error> {
        if items.capacity() - items.len() < n_more {
            return self.grow(items, n_more);
        }
        Ok(())
    }

    #[cold]
    fn grow<T>(&mut self, items: &mut Vec<T>, n_more: usize) -> Result<(), Error> {
        let capacity = items.capacity();
        let target = (capacity + capacity / 2).max(items.len().saturating_add(n_more)).max(4);
        self.charge((target - capacity).saturating_mul(size_of::<T>()))?;
        items
            .try_reserve_exact(target - items.len())
            .map_err(|_| LimitKind::MemoryBytes.error(self.limit_bytes))
    }
}

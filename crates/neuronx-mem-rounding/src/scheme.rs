//! The rounding rule itself. Refuses nothing but a scheme without divisions: zero and sizes at
//! the very top of `u64` have defined answers.

use core::fmt;

/// How request sizes become block sizes: a floor, N divisions a power of two, and a threshold
/// from which sizes stay as they are.
///
/// For `min <= n < threshold`, with `F` the largest power of two not above `n`, the block size
/// is the smallest `F + ceil(F * k / N)`, `k` in `0..=N`, that is at least `n`. Waste is below
/// `1 / N` of the request. N need not be a power of two.
///
/// # Example
///
/// ```
/// use neuronx_mem_rounding::RoundingScheme;
///
/// const PURE_POW2: RoundingScheme = match RoundingScheme::new(256, 1, 16 << 20) {
///     Ok(scheme) => scheme,
///     Err(_) => unreachable!(),
/// };
/// const ROUNDED: Option<u64> = PURE_POW2.round(1025);
/// assert_eq!(ROUNDED, Some(2048));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RoundingScheme {
    min_bytes: u64,
    threshold_bytes: u64,
    divisions: u32,
    /// log2 of `divisions` where that is whole, else `NOT_POWER_OF_TWO`: the common case is
    /// then a mask instead of a division.
    divisions_log2: u32,
}

const NOT_POWER_OF_TWO: u32 = u32::MAX;

/// A scheme was asked for with no division at all, or more than [`RoundingScheme::MAX_DIVISIONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidScheme {
    /// The divisions asked for.
    pub divisions: u32,
}

impl fmt::Display for InvalidScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} divisions between powers of two: expected 1 to {}",
            self.divisions,
            RoundingScheme::MAX_DIVISIONS
        )
    }
}

impl core::error::Error for InvalidScheme {}

impl RoundingScheme {
    /// The documented defaults: 256 B floor, 4 divisions, unrounded from 16 MiB.
    pub const DEFAULT: Self =
        Self { min_bytes: 256, threshold_bytes: 16 << 20, divisions: 4, divisions_log2: 2 };

    /// The largest N of the environment variables reference.
    pub const MAX_DIVISIONS: u32 = 64;

    /// Requests up to this many bytes round to a size that fits `u64`, whatever the scheme.
    pub const ALWAYS_FITS_BYTES: u64 = 1 << 62;

    /// Makes a scheme from the floor, the divisions N and the threshold, sizes in bytes.
    ///
    /// Any floor and threshold are accepted; a floor of 0 acts as 1, and the floor wins where
    /// it is above the threshold. Cost: O(1).
    ///
    /// # Errors
    ///
    /// [`InvalidScheme`] unless `1 <= divisions <= 64`.
    pub const fn new(min_bytes: u64, divisions: u32, threshold_bytes: u64) -> Result<Self, InvalidScheme> {
        if divisions == 0 || divisions > Self::MAX_DIVISIONS {
            return Err(InvalidScheme { divisions });
        }
        let divisions_log2 =
            if divisions.is_power_of_two() { divisions.trailing_zeros() } else { NOT_POWER_OF_TWO };
        let min_bytes = if min_bytes == 0 { 1 } else { min_bytes };
        Ok(Self { min_bytes, threshold_bytes, divisions, divisions_log2 })
    }

    /// The smallest block size, bytes.
    #[must_use]
    pub const fn min_bytes(&self) -> u64 {
        self.min_bytes
    }

    /// The size from which requests are not rounded, bytes.
    #[must_use]
    pub const fn threshold_bytes(&self) -> u64 {
        self.threshold_bytes
    }

    /// N: the equal steps between two powers of two.
    #[must_use]
    pub const fn divisions(&self) -> u32 {
        self.divisions
    }

    /// Rounds a request of `bytes` up to its block size.
    ///
    /// Zero rounds to the floor; an allocator that hands out no block for it must ask first.
    /// `None` when the block size does not fit `u64`, which takes a request above `1 << 63`
    /// and a threshold above that. Cost: O(1), no division when N is a power of two.
    #[must_use]
    #[inline]
    pub const fn round(&self, bytes: u64) -> Option<u64> {
        if bytes < self.min_bytes {
            return Some(self.min_bytes);
        }
        if bytes >= self.threshold_bytes {
            return Some(bytes);
        }
        // bytes >= min >= 1 here, so the logarithm exists.
        let octave = bytes.ilog2();
        if self.divisions_log2 <= octave {
            let mask = (1u64 << (octave - self.divisions_log2)) - 1;
            return match bytes.checked_add(mask) {
                Some(sum) => Some(sum & !mask),
                None => None,
            };
        }
        self.round_by_division(bytes, octave)
    }

    /// Rounds a request that is known to fit: as [`round`](Self::round) for requests up to
    /// [`ALWAYS_FITS_BYTES`](Self::ALWAYS_FITS_BYTES), in half the instructions.
    ///
    /// Above that, where `round` says `None`, the answer is some number below the request.
    /// Cost: O(1), no division when N is a power of two.
    ///
    /// ```
    /// use neuronx_mem_rounding::RoundingScheme;
    ///
    /// let scheme = RoundingScheme::DEFAULT;
    /// assert_eq!(scheme.round_wrapping(1025), 1280);
    /// assert_eq!(Some(scheme.round_wrapping(1 << 62)), scheme.round(1 << 62));
    /// ```
    #[must_use]
    #[inline(always)]
    pub const fn round_wrapping(&self, bytes: u64) -> u64 {
        if bytes < self.min_bytes {
            return self.min_bytes;
        }
        if bytes >= self.threshold_bytes {
            return bytes;
        }
        let octave = (bytes | 1).ilog2(); // bytes >= min >= 1: the bit only spares a check
        if self.divisions_log2 <= octave {
            let steps = u64::MAX << (octave - self.divisions_log2);
            return bytes.wrapping_add(!steps) & steps;
        }
        match self.round_by_division(bytes, octave) {
            Some(rounded) => rounded,
            None => 0,
        }
    }

    /// Bytes that rounding adds to a request of `bytes`: internal fragmentation of one block.
    ///
    /// `None` as for [`round`](Self::round). Cost: O(1).
    #[must_use]
    pub const fn waste_bytes(&self, bytes: u64) -> Option<u64> {
        match self.round(bytes) {
            Some(rounded) => Some(rounded - bytes),
            None => None,
        }
    }

    /// Whether requests of `bytes` are given a size class; others keep their own size.
    #[must_use]
    #[inline]
    pub const fn is_classed(&self, bytes: u64) -> bool {
        bytes < self.min_bytes || bytes < self.threshold_bytes
    }

    /// The general rule, for N that is no power of two and for octaves with fewer than N bytes.
    #[cold]
    const fn round_by_division(&self, bytes: u64, octave: u32) -> Option<u64> {
        let floor = 1u64 << octave;
        if bytes == floor {
            return Some(bytes);
        }
        let step = self.step_above(bytes, octave);
        floor.checked_add(self.step_offset(octave, step))
    }

    /// The smallest k with `ceil(F * k / N) >= bytes - F`, for `bytes` above `F = 1 << octave`.
    #[expect(clippy::cast_possible_truncation, reason = "k is at most N, which is at most 64")]
    pub(crate) const fn step_above(&self, bytes: u64, octave: u32) -> u64 {
        let excess = (bytes - (1u64 << octave)) as u128;
        // ceil(F k / N) >= x  <=>  F k > N (x - 1), hence one below the first k that fails.
        (((self.divisions as u128 * (excess - 1)) >> octave) + 1) as u64
    }

    /// `ceil(F * k / N)` for `F = 1 << octave` and `k <= N`: at most F, so it fits.
    #[expect(clippy::cast_possible_truncation, reason = "the offset is at most F, which is a u64")]
    const fn step_offset(&self, octave: u32, step: u64) -> u64 {
        let divisions = self.divisions as u128;
        (((step as u128) << octave).div_ceil(divisions)) as u64
    }
}

impl Default for RoundingScheme {
    fn default() -> Self {
        Self::DEFAULT
    }
}

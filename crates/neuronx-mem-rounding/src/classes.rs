//! The block sizes a scheme can produce, in order, and where a request falls among them.
//! Knows nothing of sizes at or above the threshold: they have no class.

use crate::RoundingScheme;

impl RoundingScheme {
    /// Iterates over all block sizes that rounding can produce, ascending, in bytes.
    ///
    /// The last one may be the threshold itself. Cost: O(1) a step.
    ///
    /// ```
    /// use neuronx_mem_rounding::RoundingScheme;
    ///
    /// let first: Vec<u64> = RoundingScheme::DEFAULT.classes().take(6).collect();
    /// assert_eq!(first, [256, 320, 384, 448, 512, 640]);
    /// ```
    #[must_use]
    pub const fn classes(&self) -> Classes {
        Classes { scheme: *self, next_request_bytes: Some(1) }
    }

    /// The position of a request's block size in [`classes`](Self::classes), from 0.
    ///
    /// `None` for a request that is not rounded, or whose block size does not fit `u64`.
    /// Cost: O(1).
    ///
    /// ```
    /// use neuronx_mem_rounding::RoundingScheme;
    ///
    /// let scheme = RoundingScheme::DEFAULT;
    /// assert_eq!(scheme.class_index(1), Some(0));
    /// assert_eq!(scheme.class_index(257), Some(1));
    /// assert_eq!(scheme.class_index((16 << 20) - 1), Some(64));
    /// assert_eq!(scheme.class_index(16 << 20), None);
    /// ```
    #[must_use]
    pub const fn class_index(&self, bytes: u64) -> Option<u64> {
        if !self.is_classed(bytes) {
            return None;
        }
        let Some(rounded) = self.round(bytes) else {
            return None;
        };
        if rounded == self.min_bytes() {
            return Some(0);
        }
        Some(self.grid_rank(rounded) - self.grid_rank(self.min_bytes()))
    }

    /// The request at or above the floor that rounding serves worst, relative to its size.
    ///
    /// Requests below the floor are left out: their waste is the floor's doing. `None` when no
    /// request at or above the floor is rounded. Cost: O(classes).
    ///
    /// ```
    /// use neuronx_mem_rounding::RoundingScheme;
    ///
    /// let worst = RoundingScheme::DEFAULT.worst_case().unwrap();
    /// assert_eq!((worst.request_bytes, worst.rounded_bytes), (8388609, 10485760));
    /// assert!(worst.ratio() < 0.25);
    /// ```
    #[must_use]
    pub fn worst_case(&self) -> Option<WorstCase> {
        let mut worst: Option<WorstCase> = None;
        let mut request_bytes = self.min_bytes();
        for class in self.classes() {
            if class < request_bytes || !self.is_classed(request_bytes) {
                continue;
            }
            let candidate = WorstCase { request_bytes, rounded_bytes: class };
            if worst.is_none_or(|known| candidate.is_worse_than(&known)) {
                worst = Some(candidate);
            }
            request_bytes = class.saturating_add(1);
        }
        worst
    }

    /// How many grid values `F + ceil(F * k / N)`, over all octaves, lie in `1..=bytes`.
    const fn grid_rank(&self, bytes: u64) -> u64 {
        let octave = bytes.ilog2();
        let floor = 1u64 << octave;
        let below = 1 + self.steps_below_octave(octave);
        if bytes == floor {
            return below;
        }
        let divisions = self.divisions() as u64;
        if floor <= divisions {
            return below + (bytes - floor); // every integer is on the grid here
        }
        let step = self.step_above(bytes, octave);
        // A value between two steps has passed only the lower one.
        let is_on_grid = match self.round_grid(bytes) {
            Some(rounded) => rounded == bytes,
            None => false,
        };
        below + if is_on_grid { step } else { step - 1 }
    }

    /// Rounds on the grid alone, without floor and threshold.
    const fn round_grid(&self, bytes: u64) -> Option<u64> {
        match Self::new(1, self.divisions(), u64::MAX) {
            Ok(grid) => grid.round(bytes),
            Err(_) => None,
        }
    }

    /// Grid values above 1 and up to `1 << octave`: N an octave, or all integers of a short one.
    const fn steps_below_octave(&self, octave: u32) -> u64 {
        let divisions = self.divisions() as u64;
        let short_octaves = divisions.ilog2() + 1; // octaves whose floor is <= N
        if octave <= short_octaves {
            return (1u64 << octave) - 1;
        }
        (1u64 << short_octaves) - 1 + divisions * (octave - short_octaves) as u64
    }
}

/// Iterator over the size classes of a scheme; see [`RoundingScheme::classes`].
#[derive(Clone, Debug)]
pub struct Classes {
    scheme: RoundingScheme,
    /// The smallest request that has not been served by a class yet.
    next_request_bytes: Option<u64>,
}

impl Iterator for Classes {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let request = self.next_request_bytes?;
        if !self.scheme.is_classed(request) {
            self.next_request_bytes = None;
            return None;
        }
        let class = self.scheme.round(request);
        self.next_request_bytes = class.and_then(|bytes| bytes.checked_add(1));
        class
    }
}

impl core::iter::FusedIterator for Classes {}

/// A request and the block size it gets; see [`RoundingScheme::worst_case`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorstCase {
    /// Bytes asked for.
    pub request_bytes: u64,
    /// Bytes of the block.
    pub rounded_bytes: u64,
}

impl WorstCase {
    /// Bytes lost to rounding.
    #[must_use]
    pub const fn waste_bytes(&self) -> u64 {
        self.rounded_bytes - self.request_bytes
    }

    /// Bytes lost per byte asked for: below `1 / N`.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.waste_bytes() as f64 / self.request_bytes as f64
    }

    /// Compares two waste ratios exactly, by cross multiplication.
    const fn is_worse_than(&self, other: &Self) -> bool {
        let own = self.waste_bytes() as u128 * other.request_bytes as u128;
        let others = other.waste_bytes() as u128 * self.request_bytes as u128;
        own > others
    }
}

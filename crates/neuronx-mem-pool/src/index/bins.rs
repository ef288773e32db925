//! Which bin a size belongs to. Monotone by construction: a larger size never has a lower bin.

/// Extents are multiples of this, but for the tail of a segment of odd size.
pub(crate) const GRANULE_BYTES: u64 = 64;

/// A monotone map from extents to bins.
pub(crate) trait SizeBins {
    fn n_bins(&self) -> usize;

    /// The bin of an extent.
    fn bin(&self, extent: u64) -> usize;

    /// Whether every block in `bin` is large enough for every (granular) request that maps to it.
    fn bin_fits(&self, bin: usize) -> bool;
}

/// One bin a granule up to the last, which holds everything larger: the small pool's index.
pub(crate) struct ExactBins {
    last: u64,
}

impl ExactBins {
    /// 64 Ki bins, 256 KiB of roots: exact up to 4 MiB.
    const MOST: u64 = (1 << 16) - 1;

    /// Bins that are exact up to `largest_extent` or 4 MiB, whichever is less.
    pub(crate) fn up_to(largest_extent: u64) -> Self {
        Self { last: (largest_extent / GRANULE_BYTES).saturating_add(1).min(Self::MOST) }
    }
}

impl SizeBins for ExactBins {
    fn n_bins(&self) -> usize {
        as_bin(self.last) + 1
    }

    #[inline]
    fn bin(&self, extent: u64) -> usize {
        as_bin((extent / GRANULE_BYTES).min(self.last))
    }

    #[inline]
    fn bin_fits(&self, bin: usize) -> bool {
        bin < as_bin(self.last)
    }
}

/// 64 classes a doubling over the whole of `u64`: the large pool's index.
pub(crate) struct ClassBins;

impl ClassBins {
    const CLASSES_LOG2: u32 = 6;
    const CLASSES: u64 = 1 << Self::CLASSES_LOG2;
}

impl SizeBins for ClassBins {
    fn n_bins(&self) -> usize {
        self.bin(u64::MAX) + 1
    }

    #[inline]
    fn bin(&self, extent: u64) -> usize {
        let octave = (extent | Self::CLASSES).ilog2() - Self::CLASSES_LOG2;
        let class = extent >> octave; // CLASSES..2 * CLASSES, lower in the first octave
        as_bin(u64::from(octave) * Self::CLASSES + class)
    }

    #[inline]
    fn bin_fits(&self, _bin: usize) -> bool {
        false
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "bins number less than 2^16")]
fn as_bin(number: u64) -> usize {
    number as usize
}

#[cfg(test)]
mod tests {
    use super::{ClassBins, ExactBins, SizeBins};

    #[test]
    fn class_bins_are_monotone_and_dense_at_the_edges() {
        let bins = ClassBins;
        let mut before = 0;
        for shift in 0..64 {
            let floor = 1u64 << shift;
            for extent in [floor - 1, floor, floor + floor / 2, floor + (floor - 1)] {
                let bin = bins.bin(extent);
                assert!(bin >= before, "{extent}");
                before = bin;
            }
        }
        assert_eq!(
            (bins.bin(0), bins.bin(63), bins.bin(64), bins.bin(127), bins.bin(128)),
            (0, 63, 64, 127, 128)
        );
        assert_eq!(bins.n_bins(), 3776);
    }

    #[test]
    fn exact_bins_hold_one_granule_each_and_the_rest_last() {
        let bins = ExactBins::up_to(2 << 20);
        assert_eq!((bins.bin(64), bins.bin(127), bins.bin(128)), (1, 1, 2));
        assert_eq!((bins.bin(2 << 20), bins.bin(u64::MAX)), (32768, 32769));
        assert!(bins.bin_fits(32768) && !bins.bin_fits(32769));
        assert_eq!(ExactBins::up_to(u64::MAX).n_bins(), 65536);
    }
}

//! Which bin a size belongs to. Monotone by construction: a larger size never has a lower bin.

/// Extents are multiples of this, but for the tail of a segment of odd size.
pub(crate) const GRANULE_BYTES: u64 = 64;

/// A monotone map from extents to bins.
pub(crate) trait SizeBins {
    /// The bin of an extent.
    fn bin(&self, extent: u64) -> u16;
}

/// One bin a granule up to 4 MiB; the last bin holds everything larger. The small pool's index:
/// its segments have 2 MiB.
#[derive(Clone, Copy)]
pub(crate) struct ExactBins;

impl ExactBins {
    const LAST: u64 = u16::MAX as u64;
}

impl SizeBins for ExactBins {
    #[inline(always)]
    fn bin(&self, extent: u64) -> u16 {
        as_bin((extent / GRANULE_BYTES).min(Self::LAST))
    }
}

/// 1024 classes a doubling over the whole of `u64`, so fine that two free blocks rarely share one:
/// the large pool's index.
#[derive(Clone, Copy)]
pub(crate) struct ClassBins;

impl ClassBins {
    const CLASSES_LOG2: u32 = 10;
    const CLASSES: u64 = 1 << Self::CLASSES_LOG2;
}

impl SizeBins for ClassBins {
    #[inline(always)]
    fn bin(&self, extent: u64) -> u16 {
        let octave = (extent | Self::CLASSES).ilog2() - Self::CLASSES_LOG2;
        let class = extent >> octave; // CLASSES..2 * CLASSES, lower in the first octave
        as_bin(u64::from(octave) * Self::CLASSES + class)
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "bins number 2^16 at most")]
fn as_bin(number: u64) -> u16 {
    number as u16
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
        let extents = [0, 1023, 1024, 2047, 2048, 2050];
        assert_eq!(extents.map(|extent| bins.bin(extent)), [0, 1023, 1024, 2047, 2048, 2049]);
        assert_eq!(bins.bin(u64::MAX), 56_319);
    }

    #[test]
    fn exact_bins_hold_one_granule_each_and_the_rest_last() {
        let bins = ExactBins;
        assert_eq!((bins.bin(64), bins.bin(127), bins.bin(128)), (1, 1, 2));
        assert_eq!((bins.bin(2 << 20), bins.bin((4 << 20) - 65)), (32768, 65534));
        assert_eq!((bins.bin((4 << 20) - 64), bins.bin(u64::MAX)), (65535, 65535));
    }
}

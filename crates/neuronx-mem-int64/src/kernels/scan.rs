//! The overflow scan.

use crate::arithmetic::low_word;

/// Values counted at once: small enough to stay in the first cache for a second look.
const CHUNK: usize = 1024;

/// What a scan found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Scan {
    /// How many values lie outside the range of `int32`.
    pub count: usize,
    /// The first of them.
    pub first: Option<Outside>,
}

/// A value outside the range of `int32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Outside {
    /// Its place, from 0.
    pub index: usize,
    /// The value.
    pub value: i64,
}

impl Scan {
    /// Says whether every value fits into 32 bits.
    #[must_use]
    pub const fn is_clean(self) -> bool {
        self.count == 0
    }

    /// Puts together what was found in a slice and in the one that follows it `offset` values later.
    #[must_use]
    pub fn followed_by(self, next: Self, offset: usize) -> Self {
        let later = next.first.map(|first| Outside { index: first.index + offset, ..first });
        Self { count: self.count + next.count, first: self.first.or(later) }
    }
}

/// Looks for values outside the range of `int32`: O(n), at the speed of memory, without allocation.
///
/// The high word of a value that fits is the sign of its low word.
///
/// ```
/// use neuronx_mem_int64::kernels::scan;
///
/// let found = scan(&[7, -1, 1 << 31, -(1 << 40)]);
/// assert_eq!(found.count, 2);
/// assert_eq!(found.first.map(|first| (first.index, first.value)), Some((2, 1 << 31)));
/// ```
#[must_use]
pub fn scan(values: &[i64]) -> Scan {
    let mut scan = Scan::default();
    for (number, chunk) in values.chunks(CHUNK).enumerate() {
        let count = count_outside(chunk);
        if count != 0 {
            if scan.first.is_none() {
                scan.first = first_outside(chunk, number * CHUNK);
            }
            scan.count += count;
        }
    }
    scan
}

/// In terms of additions, shifts and no comparison, which the oldest vector units have for 64 bits
/// too: moved up by 2³¹, a value that fits has an empty high word.
fn count_outside(chunk: &[i64]) -> usize {
    let count = chunk.iter().fold(0_u64, |count, value| {
        let high = value.wrapping_add(1 << 31).cast_unsigned() >> 32;
        count + (high.wrapping_neg() >> 63)
    });
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cold]
fn first_outside(chunk: &[i64], offset: usize) -> Option<Outside> {
    let index = chunk.iter().position(|value| i64::from(low_word(*value)) != *value)?;
    Some(Outside { index: offset + index, value: chunk[index] })
}

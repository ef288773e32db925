//! Which of 2^16 bins are occupied: three levels of 64-bit words, so the next one up is three
//! steps away at most. Fixed arrays under 16-bit indexes: no bound is ever checked.

pub(crate) struct Bitmap {
    /// One bit a bin.
    bins: Box<[u64; 1024]>,
    /// One bit a word of `bins`.
    words: [u64; 16],
    /// One bit a word of `words`.
    top: u64,
}

impl Bitmap {
    pub(crate) fn new() -> Self {
        Self { bins: Box::new([0; 1024]), words: [0; 16], top: 0 }
    }

    #[inline]
    pub(crate) fn get(&self, bin: u16) -> bool {
        self.bins[word_of(bin)] & bit(bin) != 0
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, bin: u16) {
        // Always all three: few words hold more than one bin, so to ask first costs more.
        self.bins[word_of(bin)] |= bit(bin);
        self.words[summary_of(bin)] |= bit(bin >> 6);
        self.top |= bit(bin >> 12);
    }

    #[inline(always)]
    pub(crate) fn clear(&mut self, bin: u16) {
        let word = &mut self.bins[word_of(bin)];
        *word &= !bit(bin);
        if *word != 0 {
            return;
        }
        let summary = &mut self.words[summary_of(bin)];
        *summary &= !bit(bin >> 6);
        if *summary == 0 {
            self.top &= !bit(bin >> 12);
        }
    }

    /// The lowest occupied bin above `bin`. O(1).
    pub(crate) fn first_above(&self, bin: u16) -> Option<u16> {
        bin.checked_add(1).and_then(|next| self.first_from(next))
    }

    /// The lowest occupied bin from `bin` up. O(1).
    #[inline(always)]
    pub(crate) fn first_from(&self, bin: u16) -> Option<u16> {
        let rest = self.bins[word_of(bin)] & (u64::MAX << (bin & 63));
        if rest != 0 {
            return Some((bin & !63) | lowest(rest));
        }
        let mut summary = bin >> 12;
        let mut rest = self.words[usize::from(summary)] & bits_above(bin >> 6);
        if rest == 0 {
            let above = self.top & bits_above(summary);
            if above == 0 {
                return None;
            }
            summary = lowest(above) & 15;
            rest = self.words[usize::from(summary)];
        }
        let word = (summary << 6) | lowest(rest);
        Some((word << 6) | lowest(self.bins[usize::from(word & 1023)]))
    }

    /// The highest occupied bin. O(1).
    pub(crate) fn last(&self) -> Option<u16> {
        let summary = highest(self.top)?;
        let word = (summary << 6) | highest(self.words[usize::from(summary)])?;
        Some((word << 6) | highest(self.bins[usize::from(word)])?)
    }

    pub(crate) fn summaries_are_true(&self) -> bool {
        let words_are_true = (0..1024u16).all(|word| {
            (self.words[usize::from(word >> 6)] & bit(word) != 0) == (self.bins[usize::from(word)] != 0)
        });
        words_are_true && (0..16u16).all(|i| (self.top & bit(i) != 0) == (self.words[usize::from(i)] != 0))
    }
}

#[inline]
const fn word_of(bin: u16) -> usize {
    (bin >> 6) as usize
}

#[inline]
const fn summary_of(bin: u16) -> usize {
    (bin >> 12) as usize
}

#[inline]
const fn bit(index: u16) -> u64 {
    1 << (index & 63)
}

/// All bits of a word strictly above `index`'s own.
#[inline]
const fn bits_above(index: u16) -> u64 {
    (u64::MAX << (index & 63)) << 1
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a word has 64 bits")]
const fn lowest(word: u64) -> u16 {
    word.trailing_zeros() as u16
}

fn highest(word: u64) -> Option<u16> {
    word.checked_ilog2().and_then(|index| u16::try_from(index).ok())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::Bitmap;

    proptest! {
        #[test]
        fn answers_like_a_set(limit in 1u16.., steps in prop::collection::vec((any::<u16>(), any::<bool>()), 1..300)) {
            let mut bitmap = Bitmap::new();
            let mut set = BTreeSet::new();
            for (pick, is_set) in steps {
                let bin = pick % limit;
                if is_set {
                    bitmap.set(bin);
                    set.insert(bin);
                } else {
                    bitmap.clear(bin);
                    set.remove(&bin);
                }
                prop_assert_eq!(bitmap.get(bin), is_set);
                let above = bin.checked_add(1).and_then(|next| set.range(next..).next().copied());
                prop_assert_eq!(bitmap.first_above(bin), above);
                prop_assert_eq!(bitmap.last(), set.last().copied());
                prop_assert!(bitmap.summaries_are_true());
            }
        }
    }
}

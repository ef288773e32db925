//! Which bins are occupied: three levels of 64-bit words, so the next one up is three steps
//! away at most. Sizes are fixed at construction.

pub(crate) struct Bitmap {
    /// One bit a bin.
    bins: Vec<u64>,
    /// One bit a word of `bins`.
    words: Vec<u64>,
    /// One bit a word of `words`: up to 2^18 bins.
    top: u64,
}

impl Bitmap {
    pub(crate) fn new(n_bins: usize) -> Self {
        let n_words = n_bins.div_ceil(64);
        let n_summaries = n_words.div_ceil(64);
        debug_assert!(n_summaries <= 64);
        Self { bins: vec![0; n_words], words: vec![0; n_summaries], top: 0 }
    }

    #[inline]
    pub(crate) fn get(&self, bin: usize) -> bool {
        self.bins[bin / 64] & bit(bin) != 0
    }

    #[inline]
    pub(crate) fn set(&mut self, bin: usize) {
        let word = bin / 64;
        self.bins[word] |= bit(bin);
        self.words[word / 64] |= bit(word);
        self.top |= bit(word / 64);
    }

    #[inline]
    pub(crate) fn clear(&mut self, bin: usize) {
        let word = bin / 64;
        self.bins[word] &= !bit(bin);
        if self.bins[word] != 0 {
            return;
        }
        self.words[word / 64] &= !bit(word);
        if self.words[word / 64] == 0 {
            self.top &= !bit(word / 64);
        }
    }

    /// The lowest occupied bin above `bin`. O(1).
    #[inline]
    pub(crate) fn first_above(&self, bin: usize) -> Option<usize> {
        let word = bin / 64;
        let rest = self.bins[word] & bits_above(bin);
        if rest != 0 {
            return Some(word * 64 + lowest(rest));
        }
        let word = self.first_word_above(word)?;
        Some(word * 64 + lowest(self.bins[word]))
    }

    /// The highest occupied bin. O(1).
    pub(crate) fn last(&self) -> Option<usize> {
        let summary = highest(self.top)?;
        let word = summary * 64 + highest(self.words[summary])?;
        Some(word * 64 + highest(self.bins[word])?)
    }

    pub(crate) fn summaries_are_true(&self) -> bool {
        let words_are_true = (0..self.bins.len())
            .all(|word| (self.words[word / 64] & bit(word) != 0) == (self.bins[word] != 0));
        let top_is_true = (0..self.words.len()).all(|i| (self.top & bit(i) != 0) == (self.words[i] != 0));
        words_are_true && top_is_true
    }

    #[inline]
    fn first_word_above(&self, word: usize) -> Option<usize> {
        let summary = word / 64;
        let rest = self.words[summary] & bits_above(word);
        if rest != 0 {
            return Some(summary * 64 + lowest(rest));
        }
        let rest = self.top & bits_above(summary);
        if rest == 0 {
            return None;
        }
        let summary = lowest(rest);
        Some(summary * 64 + lowest(self.words[summary]))
    }
}

#[inline]
const fn bit(index: usize) -> u64 {
    1 << (index % 64)
}

/// All bits of a word strictly above `index`'s own.
#[inline]
const fn bits_above(index: usize) -> u64 {
    (u64::MAX << (index % 64)) << 1
}

#[inline]
const fn lowest(word: u64) -> usize {
    word.trailing_zeros() as usize
}

fn highest(word: u64) -> Option<usize> {
    word.checked_ilog2().map(|index| index as usize)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::Bitmap;

    proptest! {
        #[test]
        fn answers_like_a_set(n_bins in 1usize..70_000, steps in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 1..300)) {
            let mut bitmap = Bitmap::new(n_bins);
            let mut set = BTreeSet::new();
            for (pick, is_set) in steps {
                let bin = pick.index(n_bins);
                if is_set {
                    bitmap.set(bin);
                    set.insert(bin);
                } else {
                    bitmap.clear(bin);
                    set.remove(&bin);
                }
                prop_assert_eq!(bitmap.get(bin), is_set);
                prop_assert_eq!(bitmap.first_above(bin), set.range(bin + 1..).next().copied());
                prop_assert_eq!(bitmap.last(), set.last().copied());
                prop_assert!(bitmap.summaries_are_true());
            }
        }
    }
}

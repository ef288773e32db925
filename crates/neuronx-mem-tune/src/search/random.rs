//! A small generator of pseudo-random numbers (SplitMix64): the same everywhere for a seed, and
//! good enough to choose moves by. Not for anything else.

#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `n`; 0 when `n` is 0. The bias of the remainder does not matter here.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let drawn = self.next().checked_rem(n as u64).unwrap_or(0);
        usize::try_from(drawn).unwrap_or(0)
    }

    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }
}

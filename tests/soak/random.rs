//! Random numbers from a seed: the same on every machine. No other source decides anything here.

/// SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// A stream of numbers of its own for each seed, epoch and thread.
    pub(crate) fn new(seed: u64, epoch: u64, thread: u64) -> Self {
        let mut random = Self { state: seed ^ epoch.wrapping_mul(0xA24B_AED4_963E_E407) };
        random.state = random.next().wrapping_add(thread.wrapping_mul(0x9FB2_1C65_1E98_DF25));
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, 0 when that is 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next().checked_rem(end).unwrap_or(0)
    }

    /// An index below `end`.
    #[expect(clippy::cast_possible_truncation, reason = "below an index")]
    pub(crate) fn index(&mut self, end: usize) -> usize {
        self.below(end as u64) as usize
    }
}

//! Pseudo-random numbers as a pure function of a seed and of what is asked. Keeps no state, so
//! that the order of questions cannot matter.

/// What a number is drawn for: two mechanisms never share a sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Failure = 1,
    Neighbour,
    Start,
    Work,
    Plan,
}

/// The number of `(seed, purpose, place, index)`; all 64 bits are usable.
pub(crate) fn number(seed: u64, purpose: Purpose, place: u64, index: u64) -> u64 {
    [purpose as u64, place, index].into_iter().fold(mixed(seed), |state, part| mixed(state ^ mixed(part)))
}

/// Brings a number into `min..=max`; `min` when that is empty.
pub(crate) fn between(number: u64, min: u64, max: u64) -> u64 {
    match max.saturating_sub(min).checked_add(1) {
        Some(choices) => min + number % choices,
        None => number,
    }
}

/// One step of the SplitMix64 sequence.
fn mixed(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

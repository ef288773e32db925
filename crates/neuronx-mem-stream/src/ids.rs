//! The numbers that the queue speaks in. Each is a type of its own so that they cannot be mixed.

use std::fmt;
use std::num::NonZeroU32;

/// One stream of one device, dense from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u32);

impl StreamId {
    /// The stream every device has: number 0.
    pub const DEFAULT: Self = Self(0);
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One piece of submitted work: the n-th of its stream, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// The set of streams recorded for one block, by number, so that a block record can carry it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordId(NonZeroU32);

impl RecordId {
    pub(crate) fn from_index(index: usize) -> Option<Self> {
        let number = u32::try_from(index).ok()?.checked_add(1)?;
        NonZeroU32::new(number).map(Self)
    }

    pub(crate) fn index(self) -> usize {
        self.0.get() as usize - 1
    }

    /// The number, never 0, so that 0 can stand for "none".
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0.get()
    }

    /// The set of a number from [`get`](Self::get); `None` for 0.
    #[must_use]
    pub const fn from_number(number: u32) -> Option<Self> {
        match NonZeroU32::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }
}

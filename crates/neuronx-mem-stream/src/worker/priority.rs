//! How urgent a stream is. Knows the levels; the state decides what they do.

use super::WorkerError;

/// One of four levels (the two priority bits of a stream's number in the runtime); higher runs
/// first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(u8);

impl Priority {
    /// The level of the default stream, and the lowest.
    pub const DEFAULT: Self = Self(0);
    /// The highest level, 3.
    pub const HIGHEST: Self = Self(3);
    /// How many levels there are.
    pub(super) const N_LEVELS: usize = 4;

    /// The priority of a level, 0 to 3.
    ///
    /// # Errors
    ///
    /// [`WorkerError::PriorityTooHigh`].
    pub const fn new(level: u8) -> Result<Self, WorkerError> {
        if level > Self::HIGHEST.0 {
            return Err(WorkerError::PriorityTooHigh { level, highest: Self::HIGHEST.0 });
        }
        Ok(Self(level))
    }

    /// The priority of a number as PyTorch writes it: 0 is the default, lower is more urgent, and
    /// numbers outside of 0 to -3 count as the nearest.
    ///
    /// ```
    /// use neuronx_mem_stream::worker::Priority;
    ///
    /// assert_eq!(Priority::from_torch(-1).level(), 1);
    /// assert_eq!(Priority::from_torch(5), Priority::DEFAULT);
    /// assert_eq!(Priority::from_torch(-100), Priority::HIGHEST);
    /// ```
    #[must_use]
    pub fn from_torch(number: i32) -> Self {
        let level = number.min(0).unsigned_abs();
        Self(u8::try_from(level).unwrap_or(u8::MAX).min(Self::HIGHEST.0))
    }

    /// The level, 0 to 3.
    #[must_use]
    pub const fn level(self) -> u8 {
        self.0
    }
}

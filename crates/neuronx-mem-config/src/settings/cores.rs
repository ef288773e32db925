//! A set of NeuronCores.
//!
//! Knows the format `0,1,2-5` of the environment variables reference. Refuses indices above 1023, so
//! that a set is small whatever the text.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::ConfigError;
use crate::allocator::quote;
use crate::environment::variables::MAX_CORE_INDEX;
use crate::environment::{item_range, items};

/// Indices of NeuronCores, each once.
///
/// ```
/// use neuronx_mem_config::CoreSet;
///
/// let cores: CoreSet = "0,1,2-5,9".parse()?;
/// assert_eq!(cores.len(), 7);
/// assert!(cores.contains(4) && !cores.contains(6));
/// assert_eq!(cores.to_string(), "0-5,9");
/// # Ok::<(), neuronx_mem_config::ConfigError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoreSet(BTreeSet<u32>);

impl CoreSet {
    /// The largest index that a text may name: beyond any instance.
    pub const MAX_INDEX: u32 = MAX_CORE_INDEX;

    /// Says whether an index is in the set. Cost: O(log n).
    pub fn contains(&self, index: u32) -> bool {
        self.0.contains(&index)
    }

    /// Returns the number of cores, at most 1024.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Says whether there is no core in the set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the indices in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    /// Takes the items that are good, and passes over the others, about which there are findings.
    pub(super) fn of_items(items: &[String]) -> Self {
        let ranges = items.iter().filter_map(|item| item_range(item, Self::MAX_INDEX).ok());
        Self(ranges.flat_map(|(first, last)| first..=last).collect())
    }
}

impl FromStr for CoreSet {
    type Err = ConfigError;

    /// Reads indices and ranges with commas between them, in any order; one core named twice is one.
    ///
    /// # Errors
    ///
    /// [`ConfigError::CoreList`] for the first item that is empty, no number, above
    /// [`MAX_INDEX`](Self::MAX_INDEX), or a range from high to low.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let mut cores = BTreeSet::new();
        for item in items(text) {
            let (first, last) = item_range(item, Self::MAX_INDEX)
                .map_err(|problem| ConfigError::CoreList { text: quote(item), problem })?;
            cores.extend(first..=last);
        }
        Ok(Self(cores))
    }
}

impl fmt::Display for CoreSet {
    /// Prints the shortest text that reads back as this set, such as `0-5,9`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut indices = self.iter().peekable();
        let mut comma = "";
        while let Some(first) = indices.next() {
            let mut last = first;
            while let Some(next) = indices.next_if_eq(&(last + 1)) {
                last = next;
            }
            write!(f, "{comma}{first}")?;
            if last > first {
                write!(f, "-{last}")?;
            }
            comma = ",";
        }
        Ok(())
    }
}

//! Sets of CPUs and of NUMA nodes.
//!
//! Knows bits. Refuses to know what a set means: allowed, wanted and present are the caller's words.

mod list;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;

pub use list::{ListError, ListProblem};

use crate::ids::{CpuId, NodeId};

/// Bits in a word.
const BITS: u32 = u64::BITS;

/// What a set can hold: [`CpuId`] and [`NodeId`].
pub trait SetIndex: Copy + Ord + fmt::Debug + private::Sealed {
    /// The largest number; what Linux can be built for at most.
    const MAX: u32;
    /// What a list of them is called in messages: `cpu` or `node`.
    const NOUN: &'static str;
    /// Makes an index of a number, which is at most [`MAX`](Self::MAX).
    #[doc(hidden)]
    fn of_number(number: u32) -> Self;
    /// Returns the number.
    fn number(self) -> u32;
}

mod private {
    pub trait Sealed {}
    impl Sealed for crate::ids::CpuId {}
    impl Sealed for crate::ids::NodeId {}
}

impl SetIndex for CpuId {
    const MAX: u32 = 8191;
    const NOUN: &'static str = "cpu";
    fn of_number(number: u32) -> Self {
        Self(number)
    }
    fn number(self) -> u32 {
        self.0
    }
}

impl SetIndex for NodeId {
    const MAX: u32 = 1023;
    const NOUN: &'static str = "node";
    fn of_number(number: u32) -> Self {
        Self(number)
    }
    fn number(self) -> u32 {
        self.0
    }
}

/// A set of logical CPUs.
pub type CpuSet = IndexSet<CpuId>;

/// A set of NUMA nodes.
pub type NodeSet = IndexSet<NodeId>;

/// A set of small numbers: one bit each, up to the largest.
///
/// Reads and prints the list format of Linux. Set operations cost O(words), 64 numbers a word.
///
/// ```
/// use neuronx_mem_numa::CpuSet;
///
/// let node: CpuSet = "48-95,144-191".parse()?;
/// let allowed: CpuSet = "90-150".parse()?;
/// assert_eq!((node.len(), node.intersection(&allowed).to_string()), (96, "90-95,144-150".to_owned()));
/// assert!("0-3,2-5".parse::<CpuSet>().is_err());
/// # Ok::<(), neuronx_mem_numa::ListError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexSet<T> {
    /// Bit n of word w is the number 64·w + n. The last word is not zero, so that equal sets are equal.
    words: Vec<u64>,
    marker: PhantomData<T>,
}

impl<T: SetIndex> IndexSet<T> {
    /// Makes an empty set; allocates nothing.
    pub const fn new() -> Self {
        Self { words: Vec::new(), marker: PhantomData }
    }

    /// Says whether an index is in the set. Cost: O(1).
    pub fn contains(&self, index: T) -> bool {
        let number = index.number();
        self.words.get((number / BITS) as usize).is_some_and(|word| word >> (number % BITS) & 1 == 1)
    }

    /// Returns how many indices there are.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Says whether there is none. Cost: O(1).
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the indices in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.numbers().map(T::of_number)
    }

    /// Returns the smallest index.
    pub fn first(&self) -> Option<T> {
        self.iter().next()
    }

    /// Adds an index. Cost: O(1), amortized.
    pub fn insert(&mut self, index: T) {
        let number = index.number();
        let word = (number / BITS) as usize;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (number % BITS);
    }

    /// Returns what is in both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self::of_words(self.words.iter().zip(&other.words).map(|(a, b)| a & b).collect())
    }

    /// Returns what is in this set and not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let others = other.words.iter().copied().chain(std::iter::repeat(0));
        Self::of_words(self.words.iter().zip(others).map(|(a, b)| a & !b).collect())
    }

    /// Adds all of another set.
    pub fn extend_from(&mut self, other: &Self) {
        if other.words.len() > self.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a |= b);
    }

    /// Says whether all of this set is in the other; true for an empty set.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.words.len() <= other.words.len() && self.words.iter().zip(&other.words).all(|(a, b)| a & !b == 0)
    }

    /// Says whether one index is in both.
    pub fn intersects(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    fn of_words(mut words: Vec<u64>) -> Self {
        let len = words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        words.truncate(len);
        Self { words, marker: PhantomData }
    }

    fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).step_by(BITS as usize).zip(&self.words).flat_map(|(start, word)| {
            std::iter::successors(Some(*word), |rest| Some(rest & rest.wrapping_sub(1)))
                .take_while(|rest| *rest != 0)
                .map(move |rest| start + rest.trailing_zeros())
        })
    }
}

impl<T> Default for IndexSet<T> {
    fn default() -> Self {
        Self { words: Vec::new(), marker: PhantomData }
    }
}

impl<T: SetIndex> FromIterator<T> for IndexSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(indices: I) -> Self {
        let mut set = Self::new();
        indices.into_iter().for_each(|index| set.insert(index));
        set
    }
}

impl<T: SetIndex> fmt::Display for IndexSet<T> {
    /// Prints the shortest list, such as `0-2,4,6-7`; nothing for an empty set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut numbers = self.numbers().peekable();
        let mut comma = "";
        while let Some(first) = numbers.next() {
            let mut last = first;
            while let Some(next) = numbers.next_if(|next| next.cmp(&(last + 1)) == Ordering::Equal) {
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

impl<T: SetIndex> fmt::Debug for IndexSet<T> {
    /// Prints the list in braces: `{0-2,4}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

#[cfg(feature = "serde")]
impl<T: SetIndex> serde::Serialize for IndexSet<T> {
    /// Writes the numbers in ascending order, as `get_numa_status` does.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.numbers())
    }
}

//! Numbers that stand for texts, frames and stacks. Knows how to turn an index into a number that
//! cannot be confused with another kind; refuses to say whether the table has such an item.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::num::NonZeroU32;

/// The number of an item in a [`StackTable`](crate::StackTable); `T` says which kind of item.
///
/// Four bytes, also inside an `Option`. It means something only together with its table.
pub struct Id<T>(NonZeroU32, PhantomData<fn() -> T>);

/// Kinds of items that an [`Id`] can stand for.
pub(crate) mod kind {
    /// A text.
    #[derive(Debug)]
    pub enum Text {}
    /// A frame of a call stack.
    #[derive(Debug)]
    pub enum Frame {}
    /// A call stack.
    #[derive(Debug)]
    pub enum Stack {}
    /// A private-pool id, two integers.
    #[derive(Debug)]
    pub enum Pool {}
    /// Unknown keys with their values.
    #[derive(Debug)]
    pub(crate) enum Extras {}
    /// An order of keys.
    #[derive(Debug)]
    pub(crate) enum Order {}
}

/// The number of a text.
pub type StrId = Id<kind::Text>;
/// The number of a frame.
pub type FrameId = Id<kind::Frame>;
/// The number of a call stack.
pub type StackId = Id<kind::Stack>;
/// The number of a private-pool id.
pub type PoolId = Id<kind::Pool>;
pub(crate) type ExtrasId = Id<kind::Extras>;
pub(crate) type OrderId = Id<kind::Order>;

impl<T> Id<T> {
    /// The item at this position, from 0, of a table that is yet to be filled in the same order. A
    /// table of four billion items is out of reach; beyond it the last number is reused.
    #[must_use]
    pub const fn from_index(index: usize) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "bounded by the comparison")]
        let number = if index >= u32::MAX as usize { u32::MAX } else { index as u32 + 1 };
        match NonZeroU32::new(number) {
            Some(number) => Self(number, PhantomData),
            None => Self(NonZeroU32::MIN, PhantomData),
        }
    }

    /// Position of the item in its table, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl StackId {
    /// The empty stack, the same in every table.
    pub const EMPTY: Self = Self::from_index(0);
}

impl PoolId {
    /// The default pool `(0, 0)`, the same in every table.
    pub const DEFAULT: Self = Self::from_index(0);
}

// Written by hand: derives would ask the same of the marker type.
impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Id<T> {}

impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T> Eq for Id<T> {}

impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.index())
    }
}

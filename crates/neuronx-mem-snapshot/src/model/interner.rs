//! Stores each distinct item once. Knows hashing and comparing; refuses to forget an item or to
//! let the hash decide any order: items are numbered as they come.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

use hashbrown::{DefaultHashBuilder, HashTable};

/// Distinct items, numbered from 0 in the order of their first appearance.
///
/// The hash is seeded per table, so a file cannot be made to collide.
#[derive(Clone)]
pub(crate) struct Interner<T> {
    items: Vec<T>,
    positions: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl<T: Hash + Eq> Interner<T> {
    pub(crate) fn new() -> Self {
        Self { items: Vec::new(), positions: HashTable::new(), hasher: DefaultHashBuilder::default() }
    }

    /// Position of an item that is there.
    #[inline]
    pub(crate) fn find<Q>(&self, wanted: &Q) -> Option<usize>
    where
        T: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.hasher.hash_one(wanted);
        let position =
            self.positions.find(hash, |&position| self.items[position as usize].borrow() == wanted)?;
        Some(*position as usize)
    }

    /// Position of an item, added when it is new; the flag says so. Cost: O(length) to hash.
    #[inline]
    pub(crate) fn intern<Q>(&mut self, wanted: &Q, make: impl FnOnce() -> T) -> (usize, bool)
    where
        T: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let Self { items, positions, hasher } = self;
        let hash = hasher.hash_one(wanted);
        if let Some(&position) = positions.find(hash, |&position| items[position as usize].borrow() == wanted)
        {
            return (position as usize, false);
        }
        // Beyond four billion items the last one is reused; no machine gets there.
        let Ok(position) = u32::try_from(items.len()) else { return (items.len() - 1, false) };
        items.push(make());
        positions.insert_unique(hash, position, |&other| hasher.hash_one(items[other as usize].borrow()));
        (position as usize, true)
    }

    /// Adds an item under the next number, whether it is there or not; looking it up finds the first.
    pub(crate) fn append(&mut self, item: T) -> usize {
        let Self { items, positions, hasher } = self;
        let Ok(position) = u32::try_from(items.len()) else { return items.len() - 1 };
        let hash = hasher.hash_one(&item);
        let is_new = positions.find(hash, |&position| items[position as usize] == item).is_none();
        items.push(item);
        if is_new {
            positions.insert_unique(hash, position, |&other| hasher.hash_one(&items[other as usize]));
        }
        position as usize
    }

    #[inline]
    pub(crate) fn get(&self, position: usize) -> Option<&T> {
        self.items.get(position)
    }

    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }
}

impl<T> std::fmt::Debug for Interner<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Interner({} items)", self.items.len())
    }
}

//! Distinct sequences of places, numbered as they come. Knows neither names nor Python.

use std::sync::Arc;

use hashbrown::HashTable;

/// Where a frame is: in a code object at an instruction, or at a native address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Address of the code object; 0 for a native frame.
    pub(super) code: usize,
    /// Instruction or line of the code, or native address.
    pub(super) position: usize,
}

impl Place {
    pub(super) fn is_native(&self) -> bool {
        self.code == 0
    }
}

/// Numbers from 1, since 0 is the empty stack of every table.
#[derive(Debug, Default)]
pub(super) struct PlaceTable {
    stacks: Vec<Arc<[Place]>>,
    positions: HashTable<u32>,
}

impl PlaceTable {
    /// The number of a stack, and whether it is new. O(frames); memory only for a new one.
    pub(super) fn number_of(&mut self, places: &[Place]) -> (usize, bool) {
        let Self { stacks, positions } = self;
        let hash = hash(places);
        if let Some(&position) = positions.find(hash, |&position| *stacks[position as usize] == *places) {
            return (position as usize + 1, false);
        }
        // Beyond four billion stacks the last one is reused; no machine gets there.
        let Ok(position) = u32::try_from(stacks.len()) else { return (stacks.len(), false) };
        stacks.push(Arc::from(places));
        positions.insert_unique(hash, position, |&other| self::hash(&stacks[other as usize]));
        (position as usize + 1, true)
    }

    /// All stacks in the order of their numbers.
    pub(super) fn stacks(&self) -> Vec<Arc<[Place]>> {
        self.stacks.clone()
    }

    pub(super) fn len(&self) -> usize {
        self.stacks.len()
    }
}

/// Two multiplications a frame. Addresses are nobody's input: no seed is needed.
fn hash(places: &[Place]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = places.len() as u64;
    for place in places {
        hash = (hash.rotate_left(23) ^ place.code as u64).wrapping_mul(FACTOR);
        hash = (hash.rotate_left(23) ^ place.position as u64).wrapping_mul(FACTOR);
    }
    hash ^ (hash >> 32)
}

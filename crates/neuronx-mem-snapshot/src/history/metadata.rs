//! Texts that programs attach to events. Knows each distinct one once, for as long as a record in
//! the ring refers to it; refuses to keep a text longer, so a text per step does not pile up.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// The number of a text; 0 is the empty one, which is not stored.
pub(super) type MetadataId = u32;

/// Counted texts.
#[derive(Clone)]
pub(super) struct MetadataTable {
    slots: Vec<Slot>,
    /// Slots without a text.
    free: Vec<u32>,
    positions: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

#[derive(Clone)]
struct Slot {
    text: Box<str>,
    n_users: u64,
}

impl MetadataTable {
    pub(super) fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            positions: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// Counts one more user of a text. An allocation only if it is not in use yet.
    #[inline]
    pub(super) fn acquire(&mut self, text: &str) -> MetadataId {
        if text.is_empty() { 0 } else { self.acquire_text(text) }
    }

    fn acquire_text(&mut self, text: &str) -> MetadataId {
        let Self { slots, free, positions, hasher } = self;
        let hash = hasher.hash_one(text);
        if let Some(&position) = positions.find(hash, |&position| *slots[position as usize].text == *text) {
            slots[position as usize].n_users += 1;
            return position + 1;
        }
        let slot = Slot { text: text.into(), n_users: 1 };
        let position = match free.pop() {
            Some(position) => {
                slots[position as usize] = slot;
                position
            }
            None => {
                // One short of the last number, so that adding one cannot wrap.
                let Some(position) = u32::try_from(slots.len()).ok().filter(|&next| next < u32::MAX) else {
                    return 0;
                };
                slots.push(slot);
                position
            }
        };
        positions.insert_unique(hash, position, |&other| hasher.hash_one(&*slots[other as usize].text));
        position + 1
    }

    /// Counts one user less; the last one takes the text along.
    #[inline]
    pub(super) fn release(&mut self, id: MetadataId) {
        if let Some(position) = id.checked_sub(1) {
            self.release_slot(position);
        }
    }

    fn release_slot(&mut self, position: u32) {
        let Some(slot) = self.slots.get_mut(position as usize) else { return };
        slot.n_users = slot.n_users.saturating_sub(1);
        if slot.n_users > 0 {
            return;
        }
        let hash = self.hasher.hash_one(&*slot.text);
        if let Ok(entry) = self.positions.find_entry(hash, |&other| other == position) {
            entry.remove();
            slot.text = Box::default();
            self.free.push(position);
        }
    }

    pub(super) fn text(&self, id: MetadataId) -> &str {
        let slot = id.checked_sub(1).and_then(|position| self.slots.get(position as usize));
        slot.map_or("", |slot| &slot.text)
    }

    /// Number of texts in use.
    #[cfg(test)]
    pub(super) fn n_texts(&self) -> usize {
        self.positions.len()
    }
}

impl std::fmt::Debug for MetadataTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MetadataTable({} texts)", self.positions.len())
    }
}

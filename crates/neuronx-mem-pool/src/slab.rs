//! All block records of a device, reused through a spare list. Checks handles; places nothing.

use std::ops::{Index, IndexMut};

use crate::block::{Block, NONE, State};
use crate::{BlockId, PoolError};

pub(crate) struct Slab {
    records: Vec<Block>,
    /// First spare record; the rest chain through `right`.
    spare: u32,
}

impl Slab {
    pub(crate) fn new() -> Self {
        // Slot 0 stands for no block: never free, never live, its links scratch space.
        Self { records: vec![Block::SPARE], spare: NONE }
    }

    /// Takes a record, with its generation kept. O(1) amortised; [`NONE`] once 2^32 - 1 slots are
    /// taken.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> u32 {
        let slot = self.spare;
        if slot == NONE {
            return self.extend();
        }
        self.spare = self[slot].right;
        slot
    }

    /// Returns a record to the spare list; its handle goes stale.
    #[inline]
    pub(crate) fn retire(&mut self, slot: u32) {
        let spare = self.spare;
        let record = &mut self[slot];
        record.state = State::Spare;
        record.right = spare;
        self.spare = slot;
    }

    /// The slot of a handle whose block is in `state`, or why the handle is refused.
    #[inline]
    pub(crate) fn resolve(&self, id: BlockId, state: State) -> Result<u32, PoolError> {
        let record = self.records.get(id.slot() as usize).ok_or(PoolError::StaleHandle { id })?;
        if record.generation == id.generation() && record.state == state {
            return Ok(id.slot());
        }
        Err(refusal(record, id, state))
    }

    pub(crate) fn id(&self, slot: u32) -> BlockId {
        BlockId::new(slot, self[slot].generation)
    }

    #[cold]
    fn extend(&mut self) -> u32 {
        let Ok(slot) = u32::try_from(self.records.len()) else { return NONE };
        self.records.push(Block::SPARE);
        slot
    }
}

#[cold]
fn refusal(record: &Block, id: BlockId, wanted: State) -> PoolError {
    // One generation on and not live again: nobody has had the slot since.
    let is_just_freed = record.generation == id.generation().wrapping_add(1)
        && matches!(record.state, State::Free | State::Spare);
    let is_pending = record.generation == id.generation() && record.state == State::PendingFree;
    let is_live = record.generation == id.generation() && record.state == State::Live;
    match wanted {
        State::PendingFree if is_live => PoolError::NotPending { id },
        _ if is_just_freed || is_pending => PoolError::DoubleFree { id },
        _ => PoolError::StaleHandle { id },
    }
}

impl Index<u32> for Slab {
    type Output = Block;

    #[inline]
    fn index(&self, slot: u32) -> &Block {
        &self.records[slot as usize]
    }
}

impl IndexMut<u32> for Slab {
    #[inline]
    fn index_mut(&mut self, slot: u32) -> &mut Block {
        &mut self.records[slot as usize]
    }
}

//! Which blocks live at which address. Knows that two live blocks never overlap; takes a new one as
//! proof that the old one was freed.

use std::collections::BTreeMap;

/// A live block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Life {
    pub(super) id: u64,
    pub(super) requested_bytes: u64,
}

/// The live blocks of one device by address. Every operation is O(log blocks).
#[derive(Clone, Debug, Default)]
pub(super) struct Lives {
    by_address: BTreeMap<u64, Life>,
    n_ids: u64,
}

impl Lives {
    /// Begins a life and returns its id. Ids count from 1.
    pub(super) fn begin(&mut self, address: u64, requested_bytes: u64) -> u64 {
        self.n_ids += 1;
        let id = self.n_ids;
        self.by_address.insert(address, Life { id, requested_bytes });
        id
    }

    /// Ends the life of the block at an address.
    pub(super) fn end(&mut self, address: u64) -> Option<Life> {
        self.by_address.remove(&address)
    }

    pub(super) fn at(&self, address: u64) -> Option<Life> {
        self.by_address.get(&address).copied()
    }

    /// Ends one life that a block at an address cannot coexist with; call until there is none.
    pub(super) fn end_overlapping(&mut self, address: u64, requested_bytes: u64) -> Option<Life> {
        let end = address.saturating_add(requested_bytes.max(1));
        let (&start, life) = self.by_address.range(..end).next_back()?;
        let is_overlapping = start >= address || start.saturating_add(life.requested_bytes) > address;
        if is_overlapping { self.by_address.remove(&start) } else { None }
    }

    /// All live blocks in the order of their addresses.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, Life)> + '_ {
        self.by_address.iter().map(|(address, life)| (*address, *life))
    }
}

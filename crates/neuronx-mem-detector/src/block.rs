//! What the detector is told of a block and of its uses, and what it remembers of both.

use crate::BlockFacts;

/// A block that was handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewBlock {
    /// The allocator's name for it, never given twice.
    pub key: u64,
    /// First device address.
    pub address: u64,
    /// Bytes it occupies.
    pub extent_bytes: u64,
    /// Bytes asked for; a use beyond them is out of bounds.
    pub requested_bytes: u64,
    /// The stream it belongs to.
    pub stream: u32,
}

/// Work that uses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// First device address.
    pub address: u64,
    /// Bytes from there.
    pub bytes: u64,
    /// The stream of the work.
    pub stream: u32,
    /// The work's number on its stream, from 1.
    pub ticket: u64,
}

/// Memory that was filled when its block was freed, and has to be unchanged still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Poisoned {
    /// First device address.
    pub address: u64,
    /// Bytes from there.
    pub bytes: u64,
    /// Number of the block that was freed there.
    pub(crate) serial: u64,
}

/// One block's life.
#[derive(Clone, Debug)]
pub(crate) struct Block<S> {
    pub(crate) new: NewBlock,
    /// The n-th block of the device, from 1.
    pub(crate) serial: u64,
    pub(crate) allocated: Option<S>,
    /// The owner has freed it, with this stack if there is one.
    pub(crate) freed: Option<Option<S>>,
    /// Streams recorded for it besides its own.
    pub(crate) recorded: Vec<u32>,
    /// Last use on each other stream.
    pub(crate) uses: Vec<Use<S>>,
    /// Its memory was taken over from a deallocation that waits for this work of its stream.
    pub(crate) ready_after: Option<u64>,
}

/// The last use on one stream.
#[derive(Clone, Debug)]
pub(crate) struct Use<S> {
    pub(crate) stream: u32,
    pub(crate) ticket: u64,
    pub(crate) stack: Option<S>,
}

impl<S: Clone> Block<S> {
    pub(crate) fn facts(&self) -> BlockFacts {
        let NewBlock { address, requested_bytes, stream, .. } = self.new;
        BlockFacts { number: self.serial, address, requested_bytes, stream }
    }

    pub(crate) fn freed_stack(&self) -> Option<S> {
        self.freed.clone().flatten()
    }

    pub(crate) fn note_use(&mut self, access: &Access, stack: Option<S>) {
        if access.stream == self.new.stream {
            return;
        }
        let (stream, ticket) = (access.stream, access.ticket);
        match self.uses.iter_mut().find(|known| known.stream == stream) {
            Some(known) if known.ticket > ticket => {}
            Some(known) => *known = Use { stream, ticket, stack },
            None => self.uses.push(Use { stream, ticket, stack }),
        }
    }
}

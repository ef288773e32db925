//! Streams, callbacks and addresses by their numbers, for owners that cannot keep a value of Rust: C and Python.

use std::ops::Range;

use neuronx_mem_stream::StreamId;

use super::{CallbackId, Device};
use crate::{AllocError, Stream};

impl Device {
    /// The addresses that its segments can have; `None` where the runtime does not tell.
    #[must_use]
    pub fn address_range(&self) -> Option<Range<u64>> {
        self.shared.runtime.address_range(self.shared.id)
    }

    /// The stream of this number.
    ///
    /// # Errors
    ///
    /// [`AllocError::Stream`] for a stream that this device does not have.
    pub fn stream(&self, id: StreamId) -> Result<Stream, AllocError> {
        if id != StreamId::DEFAULT {
            self.shared.state.lock().queue.is_idle(id)?; // known at all?
        }
        Ok(Stream::new(self.clone(), id))
    }
}

impl CallbackId {
    /// The number, for callers that pass it through C.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// The callback of a number from [`to_bits`](Self::to_bits); any other names none.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

//! A stream of one device: where work, allocations and frees have their order. Runs no work.

use neuronx_mem_stream::{StreamId, Ticket};

use crate::{AllocError, Device};

/// Names one stream of one device; cheap to clone.
///
/// Whoever executes work reports it here: [`submit`](Self::submit) when it is queued,
/// [`complete`](Self::complete) when the device has done it. A block freed in between is reused
/// only after the work before it (guidelines for memory management).
#[derive(Clone, Debug)]
pub struct Stream {
    device: Device,
    id: StreamId,
}

impl Stream {
    pub(crate) fn new(device: Device, id: StreamId) -> Self {
        Self { device, id }
    }

    /// The device it belongs to.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Its number on the device, from 0 for the default stream.
    #[must_use]
    pub fn id(&self) -> StreamId {
        self.id
    }

    /// Notes that one more piece of work was queued. With launch blocking on it is complete when
    /// this returns. O(1).
    ///
    /// # Errors
    ///
    /// Never for a stream that a device made; the queue's error otherwise.
    pub fn submit(&self) -> Result<Ticket, AllocError> {
        self.device.submit(self.id)
    }

    /// Notes that work up to `ticket` has completed; deallocations behind it run now.
    ///
    /// # Errors
    ///
    /// [`AllocError::Stream`] for a ticket that was not given out, [`AllocError::DrivenByWorker`]
    /// where the device's worker completes work.
    pub fn complete(&self, ticket: Ticket) -> Result<(), AllocError> {
        self.device.complete(self.id, ticket)
    }

    /// Waits for all its work; without a worker, says that the caller has. Work that failed is
    /// logged here; [`try_synchronize`](Self::try_synchronize) returns it.
    pub fn synchronize(&self) {
        if let Err(error) = self.try_synchronize() {
            tracing::error!(%error, stream = self.id.0, "work on the stream has failed");
        }
    }

    /// As [`synchronize`](Self::synchronize), and returns what failed.
    ///
    /// # Errors
    ///
    /// `AllocError::Worker` for work that panicked, or when called from such work.
    pub fn try_synchronize(&self) -> Result<(), AllocError> {
        self.device.synchronize_stream(self.id)
    }

    /// Whether nothing that was submitted is still running.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.device.is_idle(self.id)
    }

    /// Blocks that wait for this stream, and their bytes.
    #[must_use]
    pub fn pending(&self) -> (usize, u64) {
        self.device.pending_on(self.id)
    }
}

//! Without the worker: the caller completes all work, and waiting means that it has waited.

use neuronx_mem_stream::{StreamId, Ticket};

use crate::AllocError;

/// Drives nothing.
#[derive(Debug)]
pub(in crate::device) struct Driver;

impl Driver {
    pub(in crate::device) fn new() -> Self {
        Self
    }

    pub(in crate::device) fn is_driving(&self) -> bool {
        false
    }

    /// Submits empty work to the worker; `None` without one.
    pub(in crate::device) fn submit(&self, _stream: StreamId) -> Option<Result<Ticket, AllocError>> {
        None
    }

    /// Waits for a stream's work; `None` without a worker.
    pub(in crate::device) fn wait_for_stream(&self, _stream: StreamId) -> Option<Result<(), AllocError>> {
        None
    }

    /// Waits for all work; `None` without a worker.
    pub(in crate::device) fn wait_for_device(&self) -> Option<Result<(), AllocError>> {
        None
    }
}

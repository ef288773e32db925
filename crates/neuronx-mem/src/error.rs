//! What an allocation, a free or the set-up can fail with. Out of memory has a page of its own.

use neuronx_mem_pool::PoolError;
use neuronx_mem_runtime::{DeviceId, RuntimeError};
use neuronx_mem_stream::{StreamError, StreamId};

use crate::OutOfMemory;

/// Why an operation on device memory failed. Nothing has changed then, but for the recovery that
/// an allocation tried.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AllocError {
    /// The device has no memory for the request, also after recovery.
    #[error(transparent)]
    OutOfMemory(Box<OutOfMemory>),
    /// The runtime failed for another reason; no recovery was tried.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The block for this request does not fit 64 bits.
    #[error("request of {requested_bytes} bytes is too large for any device")]
    SizeOverflow {
        /// Bytes asked for.
        requested_bytes: u64,
    },
    /// There is no such device.
    #[error("device {device} is unknown: there are {n_devices}")]
    UnknownDevice {
        /// The device named.
        device: DeviceId,
        /// How many there are, from 0.
        n_devices: usize,
    },
    /// The stream belongs to another device or another allocator.
    #[error("stream of device {stream_device} does not belong to the allocator of device {block_device}")]
    ForeignStream {
        /// The stream's device.
        stream_device: DeviceId,
        /// The block's device.
        block_device: DeviceId,
    },
    /// A part of the device's memory that is not between 0 and 1.
    #[error("memory fraction {fraction} is not between 0 and 1")]
    InvalidFraction {
        /// The fraction asked for, as text.
        fraction: String,
    },
    /// The pool refused a handle, or a segment that the runtime returned.
    #[error(transparent)]
    Pool(PoolError),
    /// The device has a worker, which completes work; the caller must not.
    #[error("work of stream {stream} is completed by the device's worker, not by its caller")]
    DrivenByWorker {
        /// The stream.
        stream: StreamId,
    },
    /// The device has no worker to run work.
    #[error("the device has no worker to run work: build the allocator with one")]
    NoWorker,
    /// The worker refused, or work on the stream has failed.
    #[cfg(feature = "worker")]
    #[error(transparent)]
    Worker(#[from] neuronx_mem_stream::worker::WorkerError),
    /// The stream queue refused a stream or a completion.
    #[error(transparent)]
    Stream(#[from] StreamError),
}

impl AllocError {
    /// Whether this is [`OutOfMemory`](Self::OutOfMemory).
    #[must_use]
    pub const fn is_out_of_memory(&self) -> bool {
        matches!(self, Self::OutOfMemory(_))
    }
}

impl From<PoolError> for AllocError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::SizeOverflow { requested_bytes } => Self::SizeOverflow { requested_bytes },
            other => Self::Pool(other),
        }
    }
}

/// Why an allocator could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No runtime was given.
    #[error("no runtime was given to take device memory from")]
    NoRuntime,
    /// The runtime has no device.
    #[error("the runtime has no device")]
    NoDevice,
    /// A device's worker could not be started.
    #[cfg(feature = "worker")]
    #[error(transparent)]
    Worker(neuronx_mem_stream::worker::WorkerError),
}

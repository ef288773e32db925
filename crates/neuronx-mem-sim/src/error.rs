//! What the simulator's own calls can fail with. The runtime trait has an error of its own.

use neuronx_mem_runtime::{DeviceId, Status};

use crate::ModelHandle;

/// Why a plan could not be read, or a hook of the simulator failed. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulatorError {
    /// There is no fault of this name.
    #[error("fault {item:?} is unknown")]
    UnknownFault {
        /// The item of the plan's text.
        item: String,
    },
    /// A fault's value cannot be read.
    #[error("fault {item:?} has a value that cannot be read")]
    InvalidFault {
        /// The item of the plan's text.
        item: String,
    },
    /// A fault that can be set once is there twice.
    #[error("fault {item:?} is set twice")]
    RepeatedFault {
        /// The second item of the plan's text.
        item: String,
    },
    /// A model could not be loaded.
    #[error(
        "load of a model of {bytes} bytes on device {device} failed: {status}, largest gap {largest_gap_bytes} bytes"
    )]
    ModelLoad {
        /// The device.
        device: DeviceId,
        /// Bytes of the model.
        bytes: u64,
        /// [`RESOURCE`](Status::RESOURCE) for want of a gap; else the runtime's state or
        /// [`INVALID`](Status::INVALID) for an empty model or no such device.
        status: Status,
        /// The largest gap of the device.
        largest_gap_bytes: u64,
    },
    /// A model is not loaded on the device.
    #[error("model {} is not loaded on device {device}", model.0)]
    UnknownModel {
        /// The device.
        device: DeviceId,
        /// The model.
        model: ModelHandle,
    },
    /// The runtime was closed, which is final.
    #[error("runtime cannot be initialised: {}", Status::CLOSED)]
    Closed,
}

//! What can go wrong with libnrt, with the numbers. One line each; the status is always at hand.

use std::path::PathBuf;

use neuronx_mem_runtime::{DeviceId, SegmentHandle, SliceHandle, Status};

use crate::{NrtStatus, NrtVersion, Symbol};

/// An answer of libnrt that cannot be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Garbage {
    /// Success, and no tensor.
    #[error("success without a tensor")]
    NullTensor,
    /// A tensor that is already held under another name.
    #[error("a tensor that is already in use")]
    TensorInUse,
    /// A tensor without an address.
    #[error("a tensor at address 0")]
    NullAddress,
    /// An address that no block can lie at.
    #[error("address {address:#x}, which is no multiple of 64")]
    Misaligned {
        /// The address.
        address: u64,
    },
    /// Addresses that belong to another segment, or go beyond the last one.
    #[error("addresses from {address:#x} that overlap another segment or wrap")]
    Overlap {
        /// First address.
        address: u64,
    },
    /// Less memory than was asked for.
    #[error("a tensor of {bytes} bytes")]
    Short {
        /// Its size.
        bytes: u64,
    },
    /// A slice that does not lie where it was asked for.
    #[error("a slice at {address:#x}")]
    Moved {
        /// Its address.
        address: u64,
    },
    /// Fewer bytes of figures than the oldest version has.
    #[error("{bytes} bytes of memory figures")]
    ShortFigures {
        /// How many.
        bytes: usize,
    },
}

/// Why libnrt could not be opened, or a call was refused or failed. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NrtError {
    /// The library is not there, or is no library.
    #[error("cannot open {}: {reason}; install the package {package} or set {variable}", path.display())]
    LibraryNotFound {
        /// What was to be opened; a name without folder is looked for by the system.
        path: PathBuf,
        /// What the system says.
        reason: String,
        /// The package that brings the library.
        package: &'static str,
        /// The variable that names another path.
        variable: &'static str,
    },
    /// The library lacks a function that is needed.
    #[error("{} has no function {symbol}: it is no libnrt, or one of another age", path.display())]
    MissingSymbol {
        /// The library.
        path: PathBuf,
        /// The function.
        symbol: Symbol,
    },
    /// The library's major version is not the one that this crate knows.
    #[error("{} is libnrt {version}; version {supported} is supported", path.display())]
    UnsupportedVersion {
        /// The library.
        path: PathBuf,
        /// What it says.
        version: NrtVersion,
        /// The major version that is.
        supported: u64,
    },
    /// `nrt_init` failed.
    #[error("nrt_init failed: {status}")]
    InitFailed {
        /// With this status.
        status: NrtStatus,
    },
    /// No logical core is visible to the process.
    #[error("libnrt shows no logical core to this process")]
    NoDevice,
    /// More logical cores than TorchNeuron knows.
    #[error("libnrt shows {n_devices} logical cores; {most} is the most")]
    TooManyDevices {
        /// How many.
        n_devices: u32,
        /// The limit.
        most: u32,
    },
    /// The runtime was closed before.
    #[error("the Neuron runtime of this process is closed")]
    Closed,
    /// The caller is a fork of the process that started the runtime.
    #[error(
        "Cannot re-initialize Neuron runtime in forked subprocess. To use Neuron with multiprocessing, \
         use the 'spawn' start method"
    )]
    Forked {
        /// The process that started it.
        started_in: u32,
        /// The process that calls.
        called_from: u32,
    },
    /// There is no such device.
    #[error("device {device} is unknown: there are {n_devices}")]
    UnknownDevice {
        /// The device named.
        device: DeviceId,
        /// How many there are.
        n_devices: u32,
    },
    /// A call failed.
    #[error("{} failed: {status}", call(*symbol, *device, *bytes))]
    Call {
        /// The function.
        symbol: Symbol,
        /// The device.
        device: DeviceId,
        /// Bytes of the call; 0 where it has none.
        bytes: u64,
        /// What it returned.
        status: NrtStatus,
    },
    /// A call that is known to overflow in this version was not made.
    #[error("{bytes} bytes in one allocation overflow in libnrt {version}: update it, or stay below 4 GiB")]
    OverflowingRuntime {
        /// Bytes asked for.
        bytes: u64,
        /// The version.
        version: NrtVersion,
    },
    /// An answer that cannot be true.
    #[error("{} returned {garbage}", call(*symbol, *device, *bytes))]
    Garbage {
        /// The function.
        symbol: Symbol,
        /// The device.
        device: DeviceId,
        /// Bytes of the call.
        bytes: u64,
        /// What it returned.
        garbage: Garbage,
    },
    /// The library is too old for this.
    #[error("this libnrt has no {symbol}")]
    Unsupported {
        /// The function that it lacks.
        symbol: Symbol,
    },
    /// A segment that is not held.
    #[error("segment {} is not held", segment.0)]
    UnknownSegment {
        /// Its name.
        segment: SegmentHandle,
    },
    /// A slice that is not held.
    #[error("slice {} is not held", slice.0)]
    UnknownSlice {
        /// Its name.
        slice: SliceHandle,
    },
    /// A range that is not inside one segment or tensor, or is empty.
    #[error("{bytes} bytes at {address:#x} are not inside a segment of device {device}")]
    OutOfBounds {
        /// The device.
        device: DeviceId,
        /// First address.
        address: u64,
        /// Bytes.
        bytes: u64,
    },
    /// A copy between two HBM stacks, which libnrt cannot make.
    #[error("cannot copy from device {from} to device {to}: their memory is not on the same HBM")]
    DifferentHbm {
        /// Device of the source.
        from: DeviceId,
        /// Device of the destination.
        to: DeviceId,
    },
    /// A copy onto itself.
    #[error("cannot copy {bytes} bytes from {from:#x} to {to:#x}: the ranges overlap")]
    OverlappingCopy {
        /// Address of the source.
        from: u64,
        /// Address of the destination.
        to: u64,
        /// Bytes.
        bytes: u64,
    },
}

impl NrtError {
    /// The status that fits best; that of the failed call where there was one.
    #[must_use]
    pub fn status(&self) -> Status {
        match self {
            Self::Call { status, .. } | Self::InitFailed { status } => Status::from(*status),
            Self::Closed => Status::CLOSED,
            Self::Forked { .. } | Self::LibraryNotFound { .. } => Status::UNINITIALIZED,
            Self::UnknownSegment { .. } | Self::UnknownSlice { .. } | Self::Garbage { .. } => {
                Status::INVALID_HANDLE
            }
            Self::OutOfBounds { .. }
            | Self::UnknownDevice { .. }
            | Self::DifferentHbm { .. }
            | Self::OverlappingCopy { .. }
            | Self::OverflowingRuntime { .. } => Status::INVALID,
            _ => Status::FAILURE,
        }
    }

    /// Whether the device has no memory left.
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, Self::Call { status, .. } if status.is_out_of_memory())
    }
}

fn call(symbol: Symbol, device: DeviceId, bytes: u64) -> String {
    if bytes == 0 {
        return format!("{symbol} on device {device}");
    }
    format!("{symbol} of {bytes} bytes on device {device}")
}

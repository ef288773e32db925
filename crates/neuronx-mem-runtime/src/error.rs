//! What failed, where, with which status and how many bytes. Judges nothing.

use std::fmt;

use crate::{DeviceId, Status};

/// The runtime call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// [`DeviceRuntime::allocate_segment`](crate::DeviceRuntime::allocate_segment).
    AllocateSegment,
    /// [`DeviceRuntime::free_segment`](crate::DeviceRuntime::free_segment).
    FreeSegment,
    /// [`DeviceRuntime::slice`](crate::DeviceRuntime::slice).
    Slice,
    /// [`DeviceRuntime::free_slice`](crate::DeviceRuntime::free_slice).
    FreeSlice,
    /// [`DeviceRuntime::memory_info`](crate::DeviceRuntime::memory_info).
    MemoryInfo,
    /// [`DeviceRuntime::read_memory`](crate::DeviceRuntime::read_memory).
    ReadMemory,
    /// [`DeviceRuntime::write_memory`](crate::DeviceRuntime::write_memory).
    WriteMemory,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AllocateSegment => "allocate segment",
            Self::FreeSegment => "free segment",
            Self::Slice => "slice segment",
            Self::FreeSlice => "free slice",
            Self::MemoryInfo => "read memory info",
            Self::ReadMemory => "read memory",
            Self::WriteMemory => "write memory",
        })
    }
}

/// A failed runtime call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.line())]
pub struct RuntimeError {
    /// The call.
    pub operation: Operation,
    /// The device it was for.
    pub device: DeviceId,
    /// What the runtime answered.
    pub status: Status,
    /// Bytes of the call; 0 where it has none.
    pub bytes: u64,
}

impl RuntimeError {
    /// Puts the four facts together.
    #[must_use]
    pub const fn new(operation: Operation, device: DeviceId, status: Status, bytes: u64) -> Self {
        Self { operation, device, status, bytes }
    }

    fn line(&self) -> String {
        let Self { operation, device, status, bytes } = self;
        if *bytes == 0 {
            return format!("{operation} on device {device} failed: {status}");
        }
        format!("{operation} of {bytes} bytes on device {device} failed: {status}")
    }
}

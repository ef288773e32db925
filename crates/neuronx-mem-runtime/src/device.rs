//! The trait and the plain values it speaks. Holds no state and no policy.

use std::fmt;
use std::ops::Range;

use crate::memory;
use crate::{Operation, RuntimeError, Status};

/// The ordinal of a device: one logical NeuronCore, as PyTorch counts `neuron:0`, `neuron:1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(pub u32);

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A runtime's name for one segment it handed out; opaque, compared only for equality.
///
/// A runtime over libnrt stores the tensor's address here, the simulator a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentHandle(pub u64);

/// A runtime's name for one slice of a segment; opaque, compared only for equality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SliceHandle(pub u64);

/// What a successful segment allocation returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentAllocation {
    /// Name to free it by.
    pub handle: SegmentHandle,
    /// First device address; a multiple of 64 bytes, never 0.
    pub address: u64,
}

/// Device memory as the runtime sees it, all users included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes in use on the device by everybody.
    pub used_bytes: u64,
    /// Bytes of the device: at LNC 1 on trn2 and trn3 the whole HBM stack, which two cores share.
    pub limit_bytes: u64,
}

impl MemoryInfo {
    /// Bytes nobody uses. Zero when a runtime reports more in use than there is.
    #[must_use]
    pub const fn free_bytes(&self) -> u64 {
        self.limit_bytes.saturating_sub(self.used_bytes)
    }
}

/// Where segments come from.
///
/// Calls may come from any thread, and from several at once; an allocator never holds its lock
/// across one. Implementations must not call back into the allocator.
pub trait DeviceRuntime: fmt::Debug + Send + Sync {
    /// How many devices can be named; valid ids are `0..n_devices`.
    fn n_devices(&self) -> u32;

    /// Takes `bytes` of device memory.
    ///
    /// # Errors
    ///
    /// Status [`RESOURCE`](crate::Status::RESOURCE) when no contiguous region is left: the one
    /// failure that an allocator may recover from. Any other status for any other failure.
    fn allocate_segment(&self, device: DeviceId, bytes: u64) -> Result<SegmentAllocation, RuntimeError>;

    /// Gives a segment back. Its slices must no longer be used by work on the device.
    ///
    /// # Errors
    ///
    /// [`INVALID_HANDLE`](crate::Status::INVALID_HANDLE) for a segment that is not held.
    fn free_segment(&self, device: DeviceId, segment: SegmentHandle) -> Result<(), RuntimeError>;

    /// Makes a view of `bytes` at `offset_bytes` of a segment, for one block.
    ///
    /// # Errors
    ///
    /// [`INVALID`](crate::Status::INVALID) when the range is not inside the segment,
    /// [`INVALID_HANDLE`](crate::Status::INVALID_HANDLE) for a segment that is not held.
    fn slice(
        &self,
        device: DeviceId,
        segment: SegmentHandle,
        offset_bytes: u64,
        bytes: u64,
    ) -> Result<SliceHandle, RuntimeError>;

    /// Drops a view. The memory stays with its segment.
    ///
    /// # Errors
    ///
    /// [`INVALID_HANDLE`](crate::Status::INVALID_HANDLE) for a slice that is not held.
    fn free_slice(&self, device: DeviceId, slice: SliceHandle) -> Result<(), RuntimeError>;

    /// Reads what is in use on the device and how much there is.
    ///
    /// # Errors
    ///
    /// Whatever the runtime reports; an allocator goes on without the figures.
    fn memory_info(&self, device: DeviceId) -> Result<MemoryInfo, RuntimeError>;

    /// The device addresses that segments can come from, where the runtime can tell.
    fn address_range(&self, device: DeviceId) -> Option<Range<u64>>;

    /// Whether the host can read and write device memory by the four calls below; `false` unless
    /// implemented. Only debugging asks: no allocation needs it.
    fn has_memory_access(&self) -> bool {
        false
    }

    /// Copies `data` to `offset_bytes` of a segment, and waits for it. Refuses unless implemented.
    ///
    /// # Errors
    ///
    /// [`INVALID`](crate::Status::INVALID) when the range is not inside the segment or the runtime
    /// has no memory access, [`INVALID_HANDLE`](crate::Status::INVALID_HANDLE) for a segment that is
    /// not held.
    fn write_memory(
        &self,
        device: DeviceId,
        segment: SegmentHandle,
        offset_bytes: u64,
        data: &[u8],
    ) -> Result<(), RuntimeError> {
        let _ = (segment, offset_bytes);
        Err(RuntimeError::new(Operation::WriteMemory, device, Status::INVALID, data.len() as u64))
    }

    /// Copies from `offset_bytes` of a segment, and waits for it. Refuses unless implemented.
    ///
    /// # Errors
    ///
    /// As [`write_memory`](Self::write_memory).
    fn read_memory(
        &self,
        device: DeviceId,
        segment: SegmentHandle,
        offset_bytes: u64,
        into: &mut [u8],
    ) -> Result<(), RuntimeError> {
        let _ = (segment, offset_bytes);
        Err(RuntimeError::new(Operation::ReadMemory, device, Status::INVALID, into.len() as u64))
    }

    /// Sets `bytes` of a segment to one value. Unless implemented, writes 64 KiB at a time.
    ///
    /// # Errors
    ///
    /// As [`write_memory`](Self::write_memory).
    fn fill_memory(
        &self,
        device: DeviceId,
        segment: SegmentHandle,
        offset_bytes: u64,
        bytes: u64,
        value: u8,
    ) -> Result<(), RuntimeError> {
        let chunk = [value; memory::CHUNK_BYTES];
        memory::chunks(offset_bytes, bytes)
            .try_for_each(|(offset, n_bytes)| self.write_memory(device, segment, offset, &chunk[..n_bytes]))
    }

    /// The first byte of a range of a segment that is not `value`: its offset in the segment, and what
    /// it is. Unless implemented, reads 64 KiB at a time.
    ///
    /// # Errors
    ///
    /// As [`write_memory`](Self::write_memory).
    fn find_other_byte(
        &self,
        device: DeviceId,
        segment: SegmentHandle,
        offset_bytes: u64,
        bytes: u64,
        value: u8,
    ) -> Result<Option<(u64, u8)>, RuntimeError> {
        let mut chunk = [0; memory::CHUNK_BYTES];
        for (offset, n_bytes) in memory::chunks(offset_bytes, bytes) {
            self.read_memory(device, segment, offset, &mut chunk[..n_bytes])?;
            let other = chunk[..n_bytes].iter().zip(offset..).find(|(byte, _)| **byte != value);
            if let Some((byte, at)) = other {
                return Ok(Some((at, *byte)));
            }
        }
        Ok(None)
    }
}

//! Blocks: allocated, recorded on streams, freed. Values with a checked number, not pointers.

use neuronx_mem::Handle;
use neuronx_mem::pool::{BlockId, BlockState};
use neuronx_mem::streams::StreamId;

use crate::allocator::nxm_device;
use crate::errors::{Failure, guard};
use crate::nxm_status;
use crate::pointers::{borrow, put};

/// Device memory for one tensor. To be copied and kept, not to be changed; freeing it twice is an error,
/// never the free of another block.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct nxm_block {
    /// Names the block to its device; 0 for a block of no bytes.
    pub id: u64,
    /// First device address, a multiple of 64; 0 for a block of no bytes.
    pub address: u64,
    /// Bytes asked for.
    pub requested_bytes: u64,
    /// Bytes that count as allocated.
    pub block_bytes: u64,
    /// Bytes that it occupies.
    pub extent_bytes: u64,
    /// Ordinal of its device.
    pub device: u32,
    /// 0.
    pub reserved: u32,
}

impl nxm_block {
    fn of(handle: Option<Handle>, requested_bytes: u64, device: u32) -> Self {
        let empty = Self { requested_bytes, device, ..Self::default() };
        handle.map_or(empty, |handle| Self {
            id: handle.id.to_bits(),
            address: handle.address,
            block_bytes: handle.block_bytes,
            extent_bytes: handle.extent_bytes,
            ..empty
        })
    }

    /// The handle; `None` for no bytes.
    fn handle(&self, device: &nxm_device) -> Result<Option<Handle>, Failure> {
        let own = device.device.id().0;
        if self.device != own {
            let text = format!("the block belongs to device {}, not to device {own}", self.device);
            return Err(Failure::new(nxm_status::NXM_INVALID_BLOCK, text));
        }
        Ok((self.id != 0).then_some(Handle {
            id: BlockId::from_bits(self.id),
            address: self.address,
            block_bytes: self.block_bytes,
            extent_bytes: self.extent_bytes,
        }))
    }
}

/// Allocates `bytes` in the order of a stream (0 is the default one). No bytes give an empty block,
/// without asking the runtime; it may be freed like any other.
///
/// # Safety
///
/// `device` is null or valid, `out` null or a place for a block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_allocate(
    device: *const nxm_device,
    bytes: u64,
    stream: u32,
    out: *mut nxm_block,
) -> nxm_status {
    let allocate = || {
        // SAFETY: by the contract.
        let device = unsafe { borrow(device, "device") }?;
        let handle = device.device.allocate_handle(bytes, StreamId(stream))?;
        Ok(nxm_block::of(handle, bytes, device.device.id().0))
    };
    // SAFETY: by the contract.
    guard(|| unsafe { put(out, allocate) })
}

/// Frees a block in stream order: its memory is used again when the work that was queued before has
/// completed, on its own stream and on each recorded one. NXM_INVALID_BLOCK for a second free.
///
/// # Safety
///
/// `device` and `block` are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_free(device: *const nxm_device, block: *const nxm_block) -> nxm_status {
    guard(|| {
        // SAFETY: by the contract.
        let device = unsafe { borrow(device, "device") }?;
        // SAFETY: by the contract.
        match unsafe { borrow(block, "block") }?.handle(device)? {
            Some(handle) => Ok(device.device.free_handle(handle)?),
            None => Ok(()),
        }
    })
}

/// Says that a stream uses a block too. Its own stream, the same twice, and an empty block do nothing.
///
/// # Safety
///
/// `device` and `block` are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_record_stream(
    device: *const nxm_device,
    block: *const nxm_block,
    stream: u32,
) -> nxm_status {
    guard(|| {
        // SAFETY: by the contract.
        let device = unsafe { borrow(device, "device") }?;
        // SAFETY: by the contract.
        match unsafe { borrow(block, "block") }?.handle(device)? {
            Some(handle) => Ok(device.device.record_stream_handle(handle, StreamId(stream))?),
            None => Ok(()),
        }
    })
}

/// Finds the live block that holds an address, for callers that have nothing else. Takes the device's
/// lock and walks one segment: keep the block instead where you can. NXM_INVALID_BLOCK for an address
/// in no live block.
///
/// # Safety
///
/// `device` is null or valid, `out` null or a place for a block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_find_block(
    device: *const nxm_device,
    address: u64,
    out: *mut nxm_block,
) -> nxm_status {
    let find = || {
        // SAFETY: by the contract.
        let device = unsafe { borrow(device, "device") }?;
        let view = device.device.inspect(|pool| pool.find_block(address));
        let view = view.filter(|view| view.state == BlockState::Live).ok_or_else(|| {
            Failure::new(
                nxm_status::NXM_INVALID_BLOCK,
                format!("no live block holds the address {address:#x}"),
            )
        })?;
        Ok(nxm_block {
            id: view.id.to_bits(),
            address: view.address,
            requested_bytes: view.requested_bytes,
            block_bytes: view.block_bytes,
            extent_bytes: view.extent_bytes,
            device: device.device.id().0,
            reserved: 0,
        })
    };
    // SAFETY: by the contract.
    guard(|| unsafe { put(out, find) })
}

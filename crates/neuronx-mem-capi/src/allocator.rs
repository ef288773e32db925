//! Allocators and their devices: made, found, freed.

use std::sync::Arc;

use neuronx_mem::{Allocator, Device, DeviceId};
use neuronx_mem_nrt::NrtRuntime;

use crate::errors::{Failure, guard};
use crate::nxm_status;
use crate::options::nxm_options;
use crate::pointers::{borrow, put};

/// A caching allocator over one runtime.
#[derive(Debug)]
pub struct nxm_allocator {
    pub(crate) allocator: Allocator,
    /// Never moved or changed: devices are handed out as pointers into it.
    devices: Box<[nxm_device]>,
}

impl nxm_allocator {
    /// Puts an allocator of Rust behind the ABI: its devices can then be used from C as long as this lives.
    /// `nrt` is its runtime, where that is libnrt. O(devices).
    pub fn from_allocator(allocator: Allocator, nrt: Option<Arc<NrtRuntime>>) -> Box<Self> {
        let device = |device: &Device| nxm_device { device: device.clone(), nrt: nrt.clone() };
        let devices = allocator.devices().iter().map(device).collect();
        Box::new(Self { allocator, devices })
    }

    /// Its devices in order, at addresses that do not change.
    pub fn devices(&self) -> &[nxm_device] {
        &self.devices
    }
}

/// A device of an allocator; lives as long as its allocator.
#[derive(Debug)]
pub struct nxm_device {
    pub(crate) device: Device,
    pub(crate) nrt: Option<Arc<NrtRuntime>>,
}

impl nxm_device {
    /// libnrt, or the failure of a device of another runtime.
    pub(crate) fn nrt(&self) -> Result<&NrtRuntime, Failure> {
        let unsupported = || Failure::new(nxm_status::NXM_UNSUPPORTED, "the device's runtime is not libnrt");
        self.nrt.as_deref().ok_or_else(unsupported)
    }
}

/// Makes an allocator by options, which stay the caller's. Starts the runtime; takes no device memory.
///
/// # Safety
///
/// `options` is null or valid, `out` null or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_allocator_new(
    options: *const nxm_options,
    out: *mut *mut nxm_allocator,
) -> nxm_status {
    let make = || {
        // SAFETY: by the contract.
        let options = unsafe { borrow(options, "options") }?;
        let opened = options.runtime.open()?;
        let built = options.builder.clone().shared_runtime(opened.runtime).build();
        let allocator = built.map_err(|error| Failure::new(nxm_status::NXM_LIBRARY, error.to_string()))?;
        Ok(Box::into_raw(nxm_allocator::from_allocator(allocator, opened.nrt)))
    };
    // SAFETY: by the contract.
    guard(|| unsafe { put(out, make) })
}

/// Frees an allocator with its devices and all their memory, blocks that are still held included;
/// nothing for null.
///
/// # Safety
///
/// `allocator` is null or from nxm_allocator_new(), was not freed before, and nobody uses it, its
/// devices or its tensors any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_allocator_free(allocator: *mut nxm_allocator) {
    let free = || {
        if !allocator.is_null() {
            // SAFETY: by the contract, made by `Box::into_raw`.
            drop(unsafe { Box::from_raw(allocator) });
        }
        Ok(())
    };
    guard(free);
}

/// How many devices there are; 0 for null.
///
/// # Safety
///
/// `allocator` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_device_count(allocator: *const nxm_allocator) -> u32 {
    // SAFETY: by the contract.
    let allocator = unsafe { allocator.as_ref() };
    allocator.map_or(0, |allocator| u32::try_from(allocator.devices.len()).unwrap_or(u32::MAX))
}

/// Finds a device by its ordinal, from 0. It belongs to the allocator and is not freed.
///
/// # Safety
///
/// `allocator` is null or valid, `out` null or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_allocator_device(
    allocator: *const nxm_allocator,
    ordinal: u32,
    out: *mut *const nxm_device,
) -> nxm_status {
    let find = || {
        // SAFETY: by the contract.
        let allocator = unsafe { borrow(allocator, "allocator") }?;
        allocator.allocator.device(DeviceId(ordinal))?;
        Ok(&raw const allocator.devices[ordinal as usize])
    };
    // SAFETY: by the contract.
    guard(|| unsafe { put(out, find) })
}

/// The ordinal of a device; 0 for null.
///
/// # Safety
///
/// `device` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_device_ordinal(device: *const nxm_device) -> u32 {
    // SAFETY: by the contract.
    unsafe { device.as_ref() }.map_or(0, |device| device.device.id().0)
}

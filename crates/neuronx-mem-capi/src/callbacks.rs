//! Release callbacks: a program's own caches, which give memory back when the device runs out.

use std::ffi::c_void;

use neuronx_mem::CallbackId;

use crate::allocator::nxm_device;
use crate::errors::{Failure, guard};
use crate::nxm_status;
use crate::pointers::{borrow, put};

/// Frees blocks of a program's own caches, with the data that it was registered with.
pub type nxm_release_callback = Option<unsafe extern "C" fn(data: *mut c_void)>;

/// The data of a callback: the program's, which says that it may be used on another thread.
#[derive(Clone, Copy)]
pub(crate) struct Data(pub(crate) *mut c_void);

impl Data {
    /// A method, so that closures take the whole and not the pointer in it.
    pub(crate) fn get(&self) -> *mut c_void {
        self.0
    }
}

// SAFETY: the pointer is only handed back to the program, whose promise it is that its function may be
// called with it on any thread.
unsafe impl Send for Data {}

// SAFETY: as above, also from several threads at once.
unsafe impl Sync for Data {}

/// Registers a callback that frees blocks when the device is out of memory. It runs on the thread that
/// allocates, with no lock held, in order of registration; it must not throw.
///
/// # Safety
///
/// `device` is null or valid, `out` null or a place for a number; until it is unregistered, `callback`
/// may be called with `data` on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_register_release_callback(
    device: *const nxm_device,
    callback: nxm_release_callback,
    data: *mut c_void,
    out: *mut u64,
) -> nxm_status {
    let register = || {
        // SAFETY: by the contract.
        let device = unsafe { borrow(device, "device") }?;
        let callback = callback.ok_or_else(|| Failure::invalid("callback is null"))?;
        let data = Data(data);
        // SAFETY: by the contract of the registration.
        let id = device.device.register_release_callback(move || unsafe { callback(data.get()) });
        Ok(id.to_bits())
    };
    // SAFETY: by the contract.
    guard(|| unsafe { put(out, register) })
}

/// Removes a callback. A run that has begun on another thread may still be going on when this returns.
/// NXM_INVALID_ARGUMENT for a number that names none.
///
/// # Safety
///
/// `device` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_unregister_release_callback(device: *const nxm_device, id: u64) -> nxm_status {
    guard(|| {
        // SAFETY: by the contract.
        let device = unsafe { borrow(device, "device") }?;
        let is_known = device.device.unregister_release_callback(CallbackId::from_bits(id));
        is_known
            .then_some(())
            .ok_or_else(|| Failure::invalid(format!("no release callback has the number {id}")))
    })
}

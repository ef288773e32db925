//! The calls of libnrt, each behind a safe function. Knows what a call needs to be sound; checks no
//! argument against a device or a segment. Callers hold no lock of a device.
#![expect(unsafe_code, reason = "calls of a C library")]

use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use crate::counters::count;
use crate::ffi::{
    NrtTensor, PLACEMENT_DEVICE, RawAllocationInfo, RawInstanceInfo, RawMemoryStats, RawStatus,
};
use crate::process::Process;
use crate::{NrtError, NrtStatus};

/// A tensor that libnrt has handed out and that nobody else frees. Dropping it frees it, unless the
/// runtime is closed, which has freed it already.
#[derive(Debug)]
pub(crate) struct OwnedTensor {
    process: Arc<Process>,
    raw: NonNull<NrtTensor>,
}

// SAFETY: the pointer is only ever passed to libnrt, whose tensor functions may be called from any
// thread; nothing here reads or writes through it.
unsafe impl Send for OwnedTensor {}

// SAFETY: as above; concurrent use of one tensor by several threads is what libnrt's own tensor API
// allows, and the only call that ends it, `nrt_tensor_free`, needs the last owner.
unsafe impl Sync for OwnedTensor {}

/// What a call came to: a refusal before it, or its status.
#[derive(Debug)]
pub(crate) enum CallError {
    Refused(NrtError),
    Failed(NrtStatus),
    /// Success with a null pointer.
    Null,
}

impl From<NrtError> for CallError {
    fn from(error: NrtError) -> Self {
        Self::Refused(error)
    }
}

fn checked(status: RawStatus) -> Result<(), CallError> {
    match NrtStatus::from_code(status) {
        NrtStatus::Success => Ok(()),
        status => Err(CallError::Failed(status)),
    }
}

fn adopt(process: &Arc<Process>, raw: *mut NrtTensor) -> Result<OwnedTensor, CallError> {
    let raw = NonNull::new(raw).ok_or(CallError::Null)?;
    Ok(OwnedTensor { process: Arc::clone(process), raw })
}

impl Process {
    /// `nrt_tensor_allocate` on the device.
    pub(crate) fn allocate(self: &Arc<Self>, vnc: i32, bytes: usize) -> Result<OwnedTensor, CallError> {
        let _open = self.enter()?;
        count(&self.counters.allocations);
        let mut raw = ptr::null_mut();
        // SAFETY: a null name is allowed; the pointer to the result lives until the call returns.
        let status =
            unsafe { (self.loaded.api.allocate)(PLACEMENT_DEVICE, vnc, bytes, ptr::null(), &raw mut raw) };
        checked(status)?;
        adopt(self, raw)
    }

    /// `nrt_tensor_allocate_slice`.
    pub(crate) fn slice(
        self: &Arc<Self>,
        parent: &OwnedTensor,
        offset: usize,
        bytes: usize,
    ) -> Result<OwnedTensor, CallError> {
        let _open = self.enter()?;
        count(&self.counters.slices);
        let mut raw = ptr::null_mut();
        // SAFETY: the parent is alive while borrowed; a null name is allowed; the pointer to the result
        // lives until the call returns.
        let status =
            unsafe { (self.loaded.api.slice)(parent.raw.as_ptr(), offset, bytes, ptr::null(), &raw mut raw) };
        checked(status)?;
        adopt(self, raw)
    }

    /// `nrt_get_visible_vnc_count`, or its older name.
    pub(crate) fn visible_count(&self) -> Result<u32, CallError> {
        let _open = self.enter()?;
        count(&self.counters.queries);
        let mut n = 0;
        // SAFETY: the pointer to the result lives until the call returns.
        checked(unsafe { (self.loaded.api.visible_count)(&raw mut n) })?;
        Ok(n)
    }

    /// `nrt_get_vnc_memory_stats`: the figures, and how many bytes of them there are; `None` for a
    /// library without.
    pub(crate) fn memory_stats(&self, vnc: u32) -> Result<Option<(RawMemoryStats, usize)>, CallError> {
        let Some(function) = self.loaded.api.memory_stats else { return Ok(None) };
        let _open = self.enter()?;
        count(&self.counters.queries);
        let (mut stats, mut written) = (RawMemoryStats::default(), 0);
        // SAFETY: the function fills at most the size it is given of the struct, and one size; both live
        // until it returns.
        let status = unsafe { function(vnc, &raw mut stats, size_of::<RawMemoryStats>(), &raw mut written) };
        checked(status)?;
        Ok(Some((stats, written)))
    }

    /// `nrt_get_instance_info`: the family's number; `None` for a library without.
    pub(crate) fn instance_family(&self) -> Result<Option<u32>, CallError> {
        let Some(function) = self.loaded.api.instance_info else { return Ok(None) };
        let _open = self.enter()?;
        count(&self.counters.queries);
        let mut info = RawInstanceInfo::default();
        // SAFETY: the function fills at most the size it is given of the struct, which lives until it
        // returns.
        checked(unsafe { function(&raw mut info, size_of::<RawInstanceInfo>()) })?;
        Ok(Some(info.family))
    }

    /// `nrt_get_status_as_str`; `None` for a library without, or for no text.
    pub(crate) fn status_text(&self, status: NrtStatus) -> Option<String> {
        let function = self.loaded.api.status_text?;
        let _open = self.enter().ok()?;
        count(&self.counters.queries);
        // SAFETY: the function takes any number and returns null or a text.
        let text = unsafe { function(status.code()) };
        if text.is_null() {
            return None;
        }
        // SAFETY: not null, and by the header a NUL-terminated text that the library keeps.
        let text = unsafe { CStr::from_ptr(text) };
        Some(text.to_string_lossy().into_owned())
    }

    /// `nrt_debug_log_oom_report`; false for a library without.
    ///
    /// # Safety
    ///
    /// The function must take no argument. It is in no public header.
    pub(crate) unsafe fn log_oom_report(&self) -> Result<bool, CallError> {
        let Some(function) = self.loaded.api.oom_report else { return Ok(false) };
        let _open = self.enter()?;
        count(&self.counters.queries);
        // SAFETY: the caller vouches for the signature.
        unsafe { function() };
        Ok(true)
    }
}

impl OwnedTensor {
    /// The pointer itself: for programs that pass it to libnrt while this lives.
    pub(crate) fn as_ptr(&self) -> *mut NrtTensor {
        self.raw.as_ptr()
    }

    /// Gives up ownership without freeing: for a pointer that turned out to be somebody else's.
    pub(crate) fn forget(self) {
        // Not `mem::forget`, which would also lose the share of the process.
        let mut this = std::mem::ManuallyDrop::new(self);
        // SAFETY: the field is never used again: `this` is not dropped.
        unsafe { ptr::drop_in_place(&raw mut this.process) };
    }

    /// `nrt_tensor_get_va`; 0 for null.
    pub(crate) fn address(&self) -> Result<u64, CallError> {
        let _open = self.process.enter()?;
        count(&self.process.counters.queries);
        // SAFETY: the tensor is alive while `self` is.
        let address = unsafe { (self.process.loaded.api.address)(self.raw.as_ptr()) };
        Ok(address.addr() as u64)
    }

    /// `nrt_tensor_get_size`.
    pub(crate) fn size(&self) -> Result<usize, CallError> {
        let _open = self.process.enter()?;
        count(&self.process.counters.queries);
        // SAFETY: the tensor is alive while `self` is.
        Ok(unsafe { (self.process.loaded.api.size)(self.raw.as_ptr()) })
    }

    /// Index of the HBM stack that it lies on; `None` where the library cannot tell.
    pub(crate) fn hbm(&self) -> Option<i32> {
        let function = self.process.loaded.api.allocation_info?;
        let _open = self.process.enter().ok()?;
        count(&self.process.counters.queries);
        let mut info = RawAllocationInfo::default();
        // SAFETY: the tensor is alive while `self` is, and the struct until the call returns.
        let status = unsafe { function(self.raw.as_ptr(), &raw mut info) };
        checked(status).ok().map(|()| info.hbm_index)
    }

    /// `nrt_tensor_read` into all of `into`, from `offset` on.
    pub(crate) fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), CallError> {
        let _open = self.process.enter()?;
        count(&self.process.counters.transfers);
        let to = into.as_mut_ptr().cast::<c_void>();
        // SAFETY: the function writes `into.len()` bytes to a buffer that is exactly that long and
        // borrowed for writing; the tensor is alive while `self` is.
        checked(unsafe { (self.process.loaded.api.read)(self.raw.as_ptr(), to, offset, into.len()) })
    }

    /// `nrt_tensor_write` of all of `from`, to `offset` on.
    pub(crate) fn write(&self, offset: usize, from: &[u8]) -> Result<(), CallError> {
        let _open = self.process.enter()?;
        count(&self.process.counters.transfers);
        let bytes = from.as_ptr().cast::<c_void>();
        // SAFETY: the function reads `from.len()` bytes of a buffer that is exactly that long and
        // borrowed; the tensor is alive while `self` is.
        checked(unsafe { (self.process.loaded.api.write)(self.raw.as_ptr(), bytes, offset, from.len()) })
    }

    /// `nrt_tensor_memset`; false for a library without.
    pub(crate) fn fill(&self, offset: u64, value: u8, bytes: usize) -> Result<bool, CallError> {
        let Some(function) = self.process.loaded.api.memset else { return Ok(false) };
        let _open = self.process.enter()?;
        count(&self.process.counters.transfers);
        // SAFETY: the tensor is alive while `self` is; the function touches no host memory.
        checked(unsafe { function(self.raw.as_ptr(), offset, i32::from(value), bytes) })?;
        Ok(true)
    }

    /// `nrt_tensor_copy` to another tensor; false for a library without.
    pub(crate) fn copy(
        &self,
        offset: usize,
        to: &Self,
        to_offset: usize,
        bytes: usize,
    ) -> Result<bool, CallError> {
        let Some(function) = self.process.loaded.api.copy else { return Ok(false) };
        let _open = self.process.enter()?;
        count(&self.process.counters.transfers);
        // SAFETY: both tensors are alive while borrowed; the function touches no host memory.
        checked(unsafe { function(self.raw.as_ptr(), offset, to.raw.as_ptr(), to_offset, bytes) })?;
        Ok(true)
    }
}

impl Drop for OwnedTensor {
    fn drop(&mut self) {
        // A closed runtime has freed it; in a fork it is the parent's.
        let Ok(_open) = self.process.enter() else { return };
        count(&self.process.counters.frees);
        let mut raw = self.raw.as_ptr();
        // SAFETY: this is the only owner, so the tensor is freed once; slices of it live on by
        // themselves, since libnrt counts the references to a tensor's memory.
        unsafe { (self.process.loaded.api.free)(&raw mut raw) };
    }
}

//! The C types of libnrt that this crate uses, as the public headers declare them. No calls.

use std::ffi::{c_char, c_int, c_void};
use std::marker::{PhantomData, PhantomPinned};

/// A tensor of libnrt (`nrt_tensor_t`). Opaque: only pointers to it exist.
#[repr(C)]
#[derive(Debug)]
pub struct NrtTensor {
    _private: [u8; 0],
    _not_ours: PhantomData<(*mut u8, PhantomPinned)>,
}

/// `NRT_STATUS`.
pub(crate) type RawStatus = c_int;

/// `NRT_TENSOR_PLACEMENT_DEVICE`.
pub(crate) const PLACEMENT_DEVICE: c_int = 0;

/// `nrt_version_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RawVersion {
    pub(crate) major: u64,
    pub(crate) minor: u64,
    pub(crate) patch: u64,
    pub(crate) maintenance: u64,
    pub(crate) rt_detail: [u8; 128],
    pub(crate) git_hash: [u8; 64],
}

impl RawVersion {
    pub(crate) const ZERO: Self =
        Self { major: 0, minor: 0, patch: 0, maintenance: 0, rt_detail: [0; 128], git_hash: [0; 64] };
}

/// `nrt_vnc_memory_stats_t`: grows only at its end.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct RawMemoryStats {
    pub(crate) bytes_used: usize,
    pub(crate) bytes_limit: usize,
}

/// `nrt_tensor_device_allocation_info_t`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct RawAllocationInfo {
    pub(crate) physical_address: u64,
    pub(crate) size: usize,
    pub(crate) hbm_index: c_int,
}

/// `nrt_instance_info_t`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct RawInstanceInfo {
    pub(crate) family: u32,
    pub(crate) size: u32,
    pub(crate) arch_name: [u8; 16],
    pub(crate) device_revision: [u8; 8],
}

pub(crate) type InitFn = unsafe extern "C" fn(c_int, *const c_char, *const c_char) -> RawStatus;
pub(crate) type CloseFn = unsafe extern "C" fn();
pub(crate) type CountFn = unsafe extern "C" fn(*mut u32) -> RawStatus;
pub(crate) type AllocateFn =
    unsafe extern "C" fn(c_int, c_int, usize, *const c_char, *mut *mut NrtTensor) -> RawStatus;
pub(crate) type FreeFn = unsafe extern "C" fn(*mut *mut NrtTensor);
pub(crate) type SliceFn =
    unsafe extern "C" fn(*const NrtTensor, usize, usize, *const c_char, *mut *mut NrtTensor) -> RawStatus;
pub(crate) type AddressFn = unsafe extern "C" fn(*const NrtTensor) -> *mut c_void;
pub(crate) type SizeFn = unsafe extern "C" fn(*const NrtTensor) -> usize;
pub(crate) type ReadFn = unsafe extern "C" fn(*const NrtTensor, *mut c_void, usize, usize) -> RawStatus;
pub(crate) type WriteFn = unsafe extern "C" fn(*mut NrtTensor, *const c_void, usize, usize) -> RawStatus;
pub(crate) type CopyFn =
    unsafe extern "C" fn(*const NrtTensor, usize, *mut NrtTensor, usize, usize) -> RawStatus;
pub(crate) type MemsetFn = unsafe extern "C" fn(*mut NrtTensor, u64, c_int, usize) -> RawStatus;
pub(crate) type MemoryStatsFn =
    unsafe extern "C" fn(u32, *mut RawMemoryStats, usize, *mut usize) -> RawStatus;
pub(crate) type AllocationInfoFn =
    unsafe extern "C" fn(*const NrtTensor, *mut RawAllocationInfo) -> RawStatus;
pub(crate) type InstanceInfoFn = unsafe extern "C" fn(*mut RawInstanceInfo, usize) -> RawStatus;
pub(crate) type StatusTextFn = unsafe extern "C" fn(RawStatus) -> *const c_char;
pub(crate) type VersionFn = unsafe extern "C" fn(*mut RawVersion, usize) -> RawStatus;
/// Not in the public header; by the release notes it takes nothing.
pub(crate) type ReportFn = unsafe extern "C" fn();

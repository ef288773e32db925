//! All functions as one table, for programs that load the library and look up one symbol. A version's
//! table is frozen once it is released, but for new fields at its end.

use std::ffi::{c_char, c_void};

use crate::*;

/// Every function of version 1 of the ABI, under its name without the prefix. Fields are only added at
/// the end: compare struct_size with the offset of a newer one before using it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct nxm_vtable_v1 {
    /// Size of this table, bytes.
    pub struct_size: usize,
    /// 1.
    pub table_version: u32,
    /// 0.
    pub reserved: u32,
    /// See nxm_abi_version().
    pub abi_version: extern "C" fn() -> u32,
    /// See nxm_version().
    pub version: extern "C" fn() -> *const c_char,
    /// See nxm_status_name().
    pub status_name: extern "C" fn(status: i32) -> *const c_char,
    /// See nxm_last_error_message().
    pub last_error_message: extern "C" fn() -> *const c_char,
    /// See nxm_last_error_report().
    pub last_error_report: extern "C" fn() -> *const c_char,
    /// See nxm_last_error_runtime_status().
    pub last_error_runtime_status: extern "C" fn() -> i32,
    /// See nxm_clear_last_error().
    pub clear_last_error: extern "C" fn(),
    /// See nxm_string_free().
    pub string_free: unsafe extern "C" fn(text: *mut c_char),
    /// See nxm_bytes_free().
    pub bytes_free: unsafe extern "C" fn(bytes: *mut u8, len: usize),
    /// See nxm_options_new().
    pub options_new: unsafe extern "C" fn(out: *mut *mut nxm_options) -> nxm_status,
    /// See nxm_options_free().
    pub options_free: unsafe extern "C" fn(options: *mut nxm_options),
    /// See nxm_options_set_config().
    pub options_set_config:
        unsafe extern "C" fn(options: *mut nxm_options, keys: *const c_char) -> nxm_status,
    /// See nxm_options_use_environment().
    pub options_use_environment: unsafe extern "C" fn(options: *mut nxm_options) -> nxm_status,
    /// See nxm_options_set_oom_recovery().
    pub options_set_oom_recovery:
        unsafe extern "C" fn(options: *mut nxm_options, isenabled: bool) -> nxm_status,
    /// See nxm_options_set_streams().
    pub options_set_streams: unsafe extern "C" fn(options: *mut nxm_options, areenabled: bool) -> nxm_status,
    /// See nxm_options_set_launch_blocking().
    pub options_set_launch_blocking:
        unsafe extern "C" fn(options: *mut nxm_options, isblocking: bool) -> nxm_status,
    /// See nxm_options_use_worker().
    pub options_use_worker: unsafe extern "C" fn(options: *mut nxm_options) -> nxm_status,
    /// See nxm_options_use_libnrt().
    pub options_use_libnrt:
        unsafe extern "C" fn(options: *mut nxm_options, path: *const c_char) -> nxm_status,
    /// See nxm_options_use_simulator().
    pub options_use_simulator: unsafe extern "C" fn(
        options: *mut nxm_options,
        chip: *const c_char,
        lnc: u32,
        devices: u32,
        memorybytes: u64,
    ) -> nxm_status,
    /// See nxm_allocator_new().
    pub allocator_new:
        unsafe extern "C" fn(options: *const nxm_options, out: *mut *mut nxm_allocator) -> nxm_status,
    /// See nxm_allocator_free().
    pub allocator_free: unsafe extern "C" fn(allocator: *mut nxm_allocator),
    /// See nxm_device_count().
    pub device_count: unsafe extern "C" fn(allocator: *const nxm_allocator) -> u32,
    /// See nxm_allocator_device().
    pub allocator_device: unsafe extern "C" fn(
        allocator: *const nxm_allocator,
        ordinal: u32,
        out: *mut *const nxm_device,
    ) -> nxm_status,
    /// See nxm_device_ordinal().
    pub device_ordinal: unsafe extern "C" fn(device: *const nxm_device) -> u32,
    /// See nxm_allocate().
    pub allocate: unsafe extern "C" fn(
        device: *const nxm_device,
        bytes: u64,
        stream: u32,
        out: *mut nxm_block,
    ) -> nxm_status,
    /// See nxm_free().
    pub free: unsafe extern "C" fn(device: *const nxm_device, block: *const nxm_block) -> nxm_status,
    /// See nxm_record_stream().
    pub record_stream:
        unsafe extern "C" fn(device: *const nxm_device, block: *const nxm_block, stream: u32) -> nxm_status,
    /// See nxm_find_block().
    pub find_block:
        unsafe extern "C" fn(device: *const nxm_device, address: u64, out: *mut nxm_block) -> nxm_status,
    /// See nxm_stream_new().
    pub stream_new: unsafe extern "C" fn(device: *const nxm_device, out: *mut u32) -> nxm_status,
    /// See nxm_stream_submit().
    pub stream_submit:
        unsafe extern "C" fn(device: *const nxm_device, stream: u32, out: *mut u64) -> nxm_status,
    /// See nxm_stream_complete().
    pub stream_complete:
        unsafe extern "C" fn(device: *const nxm_device, stream: u32, ticket: u64) -> nxm_status,
    /// See nxm_stream_synchronize().
    pub stream_synchronize: unsafe extern "C" fn(device: *const nxm_device, stream: u32) -> nxm_status,
    /// See nxm_stream_is_idle().
    pub stream_is_idle:
        unsafe extern "C" fn(device: *const nxm_device, stream: u32, out: *mut bool) -> nxm_status,
    /// See nxm_stream_pending_bytes().
    pub stream_pending_bytes:
        unsafe extern "C" fn(device: *const nxm_device, stream: u32, out: *mut u64) -> nxm_status,
    /// See nxm_stream_run().
    pub stream_run: unsafe extern "C" fn(
        device: *const nxm_device,
        stream: u32,
        work: nxm_work,
        data: *mut c_void,
    ) -> nxm_status,
    /// See nxm_stream_wait_stream().
    pub stream_wait_stream:
        unsafe extern "C" fn(device: *const nxm_device, stream: u32, other: u32) -> nxm_status,
    /// See nxm_register_release_callback().
    pub register_release_callback: unsafe extern "C" fn(
        device: *const nxm_device,
        callback: nxm_release_callback,
        data: *mut c_void,
        out: *mut u64,
    ) -> nxm_status,
    /// See nxm_unregister_release_callback().
    pub unregister_release_callback: unsafe extern "C" fn(device: *const nxm_device, id: u64) -> nxm_status,
    /// See nxm_get_memory_info().
    pub get_memory_info:
        unsafe extern "C" fn(device: *const nxm_device, out: *mut nxm_memory_info) -> nxm_status,
    /// See nxm_synchronize().
    pub synchronize: unsafe extern "C" fn(device: *const nxm_device) -> nxm_status,
    /// See nxm_empty_cache().
    pub empty_cache:
        unsafe extern "C" fn(allocator: *const nxm_allocator, out: *mut nxm_released) -> nxm_status,
    /// See nxm_set_memory_fraction().
    pub set_memory_fraction: unsafe extern "C" fn(device: *const nxm_device, fraction: f64) -> nxm_status,
    /// See nxm_set_memory_cap().
    pub set_memory_cap: unsafe extern "C" fn(device: *const nxm_device, bytes: u64) -> nxm_status,
    /// See nxm_reset_peak_memory_stats().
    pub reset_peak_memory_stats: unsafe extern "C" fn(device: *const nxm_device) -> nxm_status,
    /// See nxm_reset_accumulated_memory_stats().
    pub reset_accumulated_memory_stats: unsafe extern "C" fn(device: *const nxm_device) -> nxm_status,
    /// See nxm_get_memory_stats().
    pub get_memory_stats:
        unsafe extern "C" fn(device: *const nxm_device, out: *mut nxm_memory_stats) -> nxm_status,
    /// See nxm_for_each_memory_stat().
    pub for_each_memory_stat: unsafe extern "C" fn(
        device: *const nxm_device,
        visit: nxm_stat_visitor,
        data: *mut c_void,
    ) -> nxm_status,
    /// See nxm_memory_allocated().
    pub memory_allocated: unsafe extern "C" fn(device: *const nxm_device) -> u64,
    /// See nxm_memory_reserved().
    pub memory_reserved: unsafe extern "C" fn(device: *const nxm_device) -> u64,
    /// See nxm_memory_summary().
    pub memory_summary: unsafe extern "C" fn(device: *const nxm_device, out: *mut *mut c_char) -> nxm_status,
    /// See nxm_segment_pool_analysis().
    pub segment_pool_analysis:
        unsafe extern "C" fn(device: *const nxm_device, out: *mut nxm_analysis) -> nxm_status,
    /// See nxm_segment_pool_analysis_summary().
    pub segment_pool_analysis_summary:
        unsafe extern "C" fn(device: *const nxm_device, out: *mut *mut c_char) -> nxm_status,
    /// See nxm_record_memory_history().
    pub record_memory_history: unsafe extern "C" fn(
        device: *const nxm_device,
        enabled: *const c_char,
        context: *const c_char,
        maxentries: usize,
        clearhistory: bool,
    ) -> nxm_status,
    /// See nxm_set_memory_metadata().
    pub set_memory_metadata:
        unsafe extern "C" fn(device: *const nxm_device, metadata: *const c_char) -> nxm_status,
    /// See nxm_dump_snapshot().
    pub dump_snapshot:
        unsafe extern "C" fn(allocator: *const nxm_allocator, path: *const c_char) -> nxm_status,
    /// See nxm_snapshot().
    pub snapshot: unsafe extern "C" fn(
        allocator: *const nxm_allocator,
        asjson: bool,
        out: *mut *mut u8,
        len: *mut usize,
    ) -> nxm_status,
    /// See nxm_config_get().
    pub config_get: unsafe extern "C" fn(
        allocator: *const nxm_allocator,
        key: *const c_char,
        out: *mut u64,
    ) -> nxm_status,
    /// See nxm_config_string().
    pub config_string:
        unsafe extern "C" fn(allocator: *const nxm_allocator, out: *mut *mut c_char) -> nxm_status,
    /// See nxm_config_hash().
    pub config_hash: unsafe extern "C" fn(allocator: *const nxm_allocator, out: *mut u64) -> nxm_status,
    /// See nxm_config_check().
    pub config_check: unsafe extern "C" fn(keys: *const c_char, out: *mut *mut c_char) -> nxm_status,
    /// See nxm_tensor_acquire().
    pub tensor_acquire: unsafe extern "C" fn(
        device: *const nxm_device,
        address: u64,
        bytes: u64,
        out: *mut *mut nxm_tensor,
    ) -> nxm_status,
    /// See nxm_tensor_nrt().
    pub tensor_nrt: unsafe extern "C" fn(tensor: *const nxm_tensor) -> *mut c_void,
    /// See nxm_tensor_release().
    pub tensor_release: unsafe extern "C" fn(tensor: *mut nxm_tensor),
    /// See nxm_read().
    pub read: unsafe extern "C" fn(
        device: *const nxm_device,
        address: u64,
        into: *mut c_void,
        bytes: u64,
    ) -> nxm_status,
    /// See nxm_write().
    pub write: unsafe extern "C" fn(
        device: *const nxm_device,
        address: u64,
        from: *const c_void,
        bytes: u64,
    ) -> nxm_status,
    /// See nxm_fill().
    pub fill:
        unsafe extern "C" fn(device: *const nxm_device, address: u64, value: u8, bytes: u64) -> nxm_status,
    /// See nxm_copy().
    pub copy: unsafe extern "C" fn(
        device: *const nxm_device,
        from: u64,
        todevice: u32,
        to: u64,
        bytes: u64,
    ) -> nxm_status,
    /// See nxm_last_out_of_memory().
    pub last_out_of_memory: unsafe extern "C" fn(out: *mut nxm_out_of_memory) -> nxm_status,
    /// See nxm_get_pool_stats().
    pub get_pool_stats:
        unsafe extern "C" fn(device: *const nxm_device, out: *mut nxm_pool_stats) -> nxm_status,
    /// See nxm_get_address_range().
    pub get_address_range:
        unsafe extern "C" fn(device: *const nxm_device, out: *mut nxm_address_range) -> nxm_status,
}

static V1: nxm_vtable_v1 = nxm_vtable_v1 {
    struct_size: size_of::<nxm_vtable_v1>(),
    table_version: 1,
    reserved: 0,
    abi_version: nxm_abi_version,
    version: nxm_version,
    status_name: nxm_status_name,
    last_error_message: nxm_last_error_message,
    last_error_report: nxm_last_error_report,
    last_error_runtime_status: nxm_last_error_runtime_status,
    clear_last_error: nxm_clear_last_error,
    string_free: nxm_string_free,
    bytes_free: nxm_bytes_free,
    options_new: nxm_options_new,
    options_free: nxm_options_free,
    options_set_config: nxm_options_set_config,
    options_use_environment: nxm_options_use_environment,
    options_set_oom_recovery: nxm_options_set_oom_recovery,
    options_set_streams: nxm_options_set_streams,
    options_set_launch_blocking: nxm_options_set_launch_blocking,
    options_use_worker: nxm_options_use_worker,
    options_use_libnrt: nxm_options_use_libnrt,
    options_use_simulator: nxm_options_use_simulator,
    allocator_new: nxm_allocator_new,
    allocator_free: nxm_allocator_free,
    device_count: nxm_device_count,
    allocator_device: nxm_allocator_device,
    device_ordinal: nxm_device_ordinal,
    allocate: nxm_allocate,
    free: nxm_free,
    record_stream: nxm_record_stream,
    find_block: nxm_find_block,
    stream_new: nxm_stream_new,
    stream_submit: nxm_stream_submit,
    stream_complete: nxm_stream_complete,
    stream_synchronize: nxm_stream_synchronize,
    stream_is_idle: nxm_stream_is_idle,
    stream_pending_bytes: nxm_stream_pending_bytes,
    stream_run: nxm_stream_run,
    stream_wait_stream: nxm_stream_wait_stream,
    register_release_callback: nxm_register_release_callback,
    unregister_release_callback: nxm_unregister_release_callback,
    get_memory_info: nxm_get_memory_info,
    synchronize: nxm_synchronize,
    empty_cache: nxm_empty_cache,
    set_memory_fraction: nxm_set_memory_fraction,
    set_memory_cap: nxm_set_memory_cap,
    reset_peak_memory_stats: nxm_reset_peak_memory_stats,
    reset_accumulated_memory_stats: nxm_reset_accumulated_memory_stats,
    get_memory_stats: nxm_get_memory_stats,
    for_each_memory_stat: nxm_for_each_memory_stat,
    memory_allocated: nxm_memory_allocated,
    memory_reserved: nxm_memory_reserved,
    memory_summary: nxm_memory_summary,
    segment_pool_analysis: nxm_segment_pool_analysis,
    segment_pool_analysis_summary: nxm_segment_pool_analysis_summary,
    record_memory_history: nxm_record_memory_history,
    set_memory_metadata: nxm_set_memory_metadata,
    dump_snapshot: nxm_dump_snapshot,
    snapshot: nxm_snapshot,
    config_get: nxm_config_get,
    config_string: nxm_config_string,
    config_hash: nxm_config_hash,
    config_check: nxm_config_check,
    tensor_acquire: nxm_tensor_acquire,
    tensor_nrt: nxm_tensor_nrt,
    tensor_release: nxm_tensor_release,
    read: nxm_read,
    write: nxm_write,
    fill: nxm_fill,
    copy: nxm_copy,
    last_out_of_memory: nxm_last_out_of_memory,
    get_pool_stats: nxm_get_pool_stats,
    get_address_range: nxm_get_address_range,
};

/// The table of functions of a version of the ABI; null for one that this library does not have. The table
/// of another version starts with the same three fields: cast it. Never freed.
#[unsafe(no_mangle)]
pub extern "C" fn nxm_vtable(version: u32) -> *const nxm_vtable_v1 {
    match version {
        1 => &raw const V1,
        _ => std::ptr::null(),
    }
}

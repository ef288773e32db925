//! The edges of the ABI: null, too small, unknown, unsupported. What it does right is the contract's
//! matter, in the workspace's tests.

#![allow(unsafe_code, reason = "a C ABI")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use neuronx_mem_capi::*;
use nxm_status::{
    NXM_INVALID_ARGUMENT, NXM_INVALID_BLOCK, NXM_LIBRARY, NXM_OK, NXM_OUT_OF_MEMORY, NXM_UNKNOWN_DEVICE,
    NXM_UNSUPPORTED,
};

/// An allocator over a simulated device of 256 MiB.
struct Owner {
    allocator: *mut nxm_allocator,
    device: *const nxm_device,
}

// SAFETY of all calls in this file: pointers come from the library, are to locals, or are null where that
// is what is tested; texts end in NUL.

impl Owner {
    fn new() -> Self {
        Self::with(|_| NXM_OK)
    }

    fn with(change: impl FnOnce(*mut nxm_options) -> nxm_status) -> Self {
        let (mut options, mut allocator, mut device) = (ptr::null_mut(), ptr::null_mut(), ptr::null());
        // SAFETY: as above.
        unsafe {
            assert_eq!(nxm_options_new(&raw mut options), NXM_OK);
            assert_eq!(nxm_options_use_simulator(options, ptr::null(), 0, 2, 256 << 20), NXM_OK);
            assert_eq!(change(options), NXM_OK);
            assert_eq!(nxm_allocator_new(options, &raw mut allocator), NXM_OK);
            nxm_options_free(options);
            assert_eq!(nxm_allocator_device(allocator, 0, &raw mut device), NXM_OK);
        }
        Self { allocator, device }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: as above, once.
        unsafe { nxm_allocator_free(self.allocator) };
    }
}

fn text(pointer: *const c_char) -> String {
    // SAFETY: as above.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap().to_owned()
}

#[track_caller]
fn check(status: nxm_status, expected: nxm_status, message: &str) {
    assert_eq!((status, text(nxm_last_error_message())), (expected, message.to_owned()));
}

#[test]
fn null_is_an_error_and_never_a_crash() {
    let owner = Owner::new();
    let (device, none) = (owner.device, ptr::null());
    let block = nxm_block::default();
    // SAFETY: as above.
    unsafe {
        check(nxm_allocate(none, 1, 0, &mut nxm_block::default()), NXM_INVALID_ARGUMENT, "device is null");
        check(
            nxm_allocate(device, 1, 0, ptr::null_mut()),
            NXM_INVALID_ARGUMENT,
            "the place for the result is null",
        );
        check(nxm_free(device, ptr::null()), NXM_INVALID_ARGUMENT, "block is null");
        check(nxm_free(none, &raw const block), NXM_INVALID_ARGUMENT, "device is null");
        check(
            nxm_memory_summary(device, ptr::null_mut()),
            NXM_INVALID_ARGUMENT,
            "the place for the result is null",
        );
        check(nxm_options_set_config(ptr::null_mut(), c"".as_ptr()), NXM_INVALID_ARGUMENT, "options is null");
        check(nxm_allocator_new(ptr::null(), &mut ptr::null_mut()), NXM_INVALID_ARGUMENT, "options is null");
        check(nxm_dump_snapshot(owner.allocator, ptr::null()), NXM_INVALID_ARGUMENT, "path is null");
        check(nxm_stream_run(device, 0, None, ptr::null_mut()), NXM_INVALID_ARGUMENT, "work is null");
        assert_eq!(
            (nxm_device_count(ptr::null()), nxm_memory_allocated(none), nxm_device_ordinal(none)),
            (0, 0, 0)
        );
        nxm_options_free(ptr::null_mut());
        nxm_allocator_free(ptr::null_mut());
        nxm_string_free(ptr::null_mut());
        nxm_bytes_free(ptr::null_mut(), 0);
        nxm_tensor_release(ptr::null_mut());
        assert!(nxm_tensor_nrt(ptr::null()).is_null());
        // Nothing was allocated on the way.
        assert_eq!(nxm_memory_reserved(device), 0);
    }
}

#[test]
fn values_that_cannot_be_are_named() {
    let owner = Owner::new();
    let mut options = ptr::null_mut();
    let (mut number, mut device) = (0, ptr::null());
    // SAFETY: as above.
    unsafe {
        assert_eq!(nxm_options_new(&raw mut options), NXM_OK);
        let chip = c"trn9".as_ptr();
        let unknown = "trn9: unknown device: expected trn1, inf2, trn2 or trn3";
        check(nxm_options_use_simulator(options, chip, 0, 1, 0), NXM_INVALID_ARGUMENT, unknown);
        let lnc = "lnc is 3, not 0, 1 or 2";
        check(nxm_options_use_simulator(options, ptr::null(), 3, 1, 0), NXM_INVALID_ARGUMENT, lnc);
        let devices = "devices is 0, not 1 to 128";
        check(nxm_options_use_simulator(options, ptr::null(), 0, 0, 0), NXM_INVALID_ARGUMENT, devices);
        let latin1: [c_char; 2] = [-1, 0];
        check(nxm_options_set_config(options, latin1.as_ptr()), NXM_INVALID_ARGUMENT, "keys is not UTF-8");
        nxm_options_free(options);
        let key = c"kPool".as_ptr();
        check(
            nxm_config_get(owner.allocator, key, &raw mut number),
            NXM_INVALID_ARGUMENT,
            "unknown key `kPool`",
        );
        let two = "device 2 is unknown: there are 2";
        check(nxm_allocator_device(owner.allocator, 2, &raw mut device), NXM_UNKNOWN_DEVICE, two);
        let fraction = "memory fraction 1.5 is not between 0 and 1";
        check(nxm_set_memory_fraction(owner.device, 1.5), NXM_INVALID_ARGUMENT, fraction);
        let id = "no release callback has the number 9";
        check(nxm_unregister_release_callback(owner.device, 9), NXM_INVALID_ARGUMENT, id);
    }
    assert_eq!(text(nxm_status_name(0)), "NXM_OK");
    assert_eq!(
        (text(nxm_status_name(99)), text(nxm_version())),
        ("unknown".to_owned(), env!("CARGO_PKG_VERSION").to_owned())
    );
}

#[test]
fn a_missing_libnrt_is_an_error_of_the_library() {
    let (mut options, mut allocator) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: as above.
    unsafe {
        assert_eq!(nxm_options_new(&raw mut options), NXM_OK);
        assert_eq!(nxm_options_use_libnrt(options, c"/nowhere/libnrt.so.1".as_ptr()), NXM_OK);
        assert_eq!(nxm_allocator_new(options, &raw mut allocator), NXM_LIBRARY);
        nxm_options_free(options);
    }
    assert!(allocator.is_null());
    assert!(text(nxm_last_error_message()).contains("install the package aws-neuronx-runtime-lib"));
}

#[test]
fn sized_structs_take_older_and_newer_callers() {
    let owner = Owner::new();
    let mut stats = nxm_memory_stats { ooms: 77, ..nxm_memory_stats::default() };
    // SAFETY: as above.
    unsafe {
        let small = "struct_size is 0: set it to the size of the struct";
        check(nxm_get_memory_stats(owner.device, &raw mut stats), NXM_INVALID_ARGUMENT, small);
        let mut block = nxm_block::default();
        assert_eq!(nxm_allocate(owner.device, 1000, 0, &raw mut block), NXM_OK);
        // An older program knows the first two figures, and the rest is not touched.
        stats.struct_size = 8 + 2 * size_of::<nxm_stat>();
        assert_eq!(nxm_get_memory_stats(owner.device, &raw mut stats), NXM_OK);
        assert_eq!((stats.allocated_bytes.current, stats.active_bytes.current, stats.ooms), (1024, 0, 77));
        // A newer one gets what there is, and the size of it.
        stats.struct_size = 4096;
        assert_eq!(nxm_get_memory_stats(owner.device, &raw mut stats), NXM_OK);
        assert_eq!((stats.struct_size, stats.active_bytes.current), (size_of::<nxm_memory_stats>(), 1000));
        let mut analysis = nxm_analysis { struct_size: size_of::<nxm_analysis>(), ..Default::default() };
        assert_eq!(nxm_segment_pool_analysis(owner.device, &raw mut analysis), NXM_OK);
        assert_eq!((analysis.internal_fragmentation_bytes, analysis.total_bytes), (24, 256 << 20));
        assert_eq!(nxm_free(owner.device, &raw const block), NXM_OK);
    }
}

#[test]
fn blocks_are_found_by_address_and_belong_to_their_device() {
    let owner = Owner::new();
    let (mut block, mut found, mut other) = (nxm_block::default(), nxm_block::default(), ptr::null());
    // SAFETY: as above.
    unsafe {
        assert_eq!(nxm_allocate(owner.device, 5000, 0, &raw mut block), NXM_OK);
        assert_eq!(nxm_find_block(owner.device, block.address + 4999, &raw mut found), NXM_OK);
        assert_eq!(found, block);
        let beyond = block.address + block.extent_bytes;
        assert_eq!(nxm_find_block(owner.device, beyond, &raw mut found), NXM_INVALID_BLOCK);
        assert_eq!(nxm_allocator_device(owner.allocator, 1, &raw mut other), NXM_OK);
        let foreign = "the block belongs to device 0, not to device 1";
        check(nxm_free(other, &raw const block), NXM_INVALID_BLOCK, foreign);
        assert_eq!(nxm_free(owner.device, &raw const block), NXM_OK);
        assert_eq!(nxm_find_block(owner.device, block.address, &raw mut found), NXM_INVALID_BLOCK);
    }
}

#[test]
fn out_of_memory_comes_with_its_report() {
    let owner = Owner::new();
    // SAFETY: as above.
    let status = unsafe { nxm_allocate(owner.device, 512 << 20, 0, &mut nxm_block::default()) };
    assert_eq!((status, nxm_last_error_runtime_status()), (NXM_OUT_OF_MEMORY, 4));
    let report = text(nxm_last_error_report());
    assert!(report.starts_with(&text(nxm_last_error_message())) && report.contains("What would help:"));
    // SAFETY: as above.
    let status = unsafe { nxm_free(owner.device, ptr::null()) };
    assert_eq!((status, text(nxm_last_error_report())), (NXM_INVALID_ARGUMENT, String::new()));
    assert_eq!(nxm_last_error_runtime_status(), -1);
}

#[test]
fn tensors_and_transfers_need_libnrt() {
    let owner = Owner::new();
    let (mut tensor, mut byte) = (ptr::null_mut(), 7_u8);
    let message = "the device's runtime is not libnrt";
    let data = (&raw mut byte).cast::<c_void>();
    // SAFETY: as above.
    unsafe {
        check(nxm_tensor_acquire(owner.device, 64, 64, &raw mut tensor), NXM_UNSUPPORTED, message);
        check(nxm_write(owner.device, 64, data, 1), NXM_UNSUPPORTED, message);
        check(nxm_fill(owner.device, 64, 0, 1), NXM_UNSUPPORTED, message);
        check(nxm_copy(owner.device, 64, 0, 128, 1), NXM_UNSUPPORTED, message);
        check(
            nxm_read(owner.device, 64, ptr::null_mut(), 1),
            NXM_INVALID_ARGUMENT,
            "the host buffer is null",
        );
        check(
            nxm_write(owner.device, 64, data, u64::MAX),
            NXM_INVALID_ARGUMENT,
            "18446744073709551615 bytes are no host buffer",
        );
    }
}

/// Adds to what it is given.
unsafe extern "C" fn add(data: *mut c_void) {
    // SAFETY: the test gives a number and waits for the work.
    unsafe { *data.cast::<u64>() += 1 };
}

#[test]
fn work_runs_on_the_worker_where_there_is_one() {
    if cfg!(feature = "worker") {
        // SAFETY: as above.
        let owner = Owner::with(|options| unsafe { nxm_options_use_worker(options) });
        let (mut n_runs, mut stream) = (0_u64, 0);
        let data = (&raw mut n_runs).cast::<c_void>();
        // SAFETY: as above; the number is read after all work was waited for.
        unsafe {
            assert_eq!(nxm_stream_new(owner.device, &raw mut stream), NXM_OK);
            for _ in 0..10 {
                assert_eq!(nxm_stream_run(owner.device, stream, Some(add), data), NXM_OK);
            }
            assert_eq!(nxm_stream_wait_stream(owner.device, 0, stream), NXM_OK);
            assert_eq!(nxm_stream_complete(owner.device, stream, 1), NXM_UNSUPPORTED);
            assert_eq!(nxm_synchronize(owner.device), NXM_OK);
        }
        assert_eq!(n_runs, 10);
    }
    let owner = Owner::new();
    // SAFETY: as above; the work is refused.
    let status = unsafe { nxm_stream_run(owner.device, 0, Some(add), ptr::null_mut()) };
    assert_eq!(status, NXM_UNSUPPORTED);
}

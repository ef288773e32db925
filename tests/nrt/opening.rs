//! Finding, refusing, starting and closing the library: typed errors, and the process goes on.

use std::fs;

use neuronx_mem::runtime::{DeviceRuntime, Status};
use neuronx_mem::{Allocator, BuildError};
use neuronx_mem_nrt::{Framework, NrtError, NrtRuntime, NrtStatus, NrtVersion, RUNTIME_PACKAGE, Symbol};
use tempfile::TempDir;

use super::standin::Standin;
use super::{DEVICE, MIB, check_returned};

/// Renames a function inside a library, so that nobody finds it.
fn without(symbol: &str) -> impl FnOnce(&mut Vec<u8>) {
    let wanted = format!("\0{symbol}\0").into_bytes();
    move |bytes| {
        let places: Vec<usize> =
            bytes.windows(wanted.len()).enumerate().filter(|(_, w)| *w == wanted).map(|(at, _)| at).collect();
        assert!(!places.is_empty());
        places.into_iter().for_each(|at| bytes[at + 1] = b'X');
    }
}

#[test]
fn a_missing_library_names_its_package_and_the_variable() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("libnrt.so.1");
    let error = NrtRuntime::builder().path(&path).open().unwrap_err();
    let NrtError::LibraryNotFound { path: named, package, variable, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!((named, *package, *variable), (&path, RUNTIME_PACKAGE, "NEURONX_MEM_LIBNRT"));
    let text = error.to_string();
    assert!(text.ends_with("; install the package aws-neuronx-runtime-lib or set NEURONX_MEM_LIBNRT"));
    assert!(!text.contains('\n') && error.status() == Status::UNINITIALIZED);
    // What the system says is its own; the path stands there once.
    assert_eq!(text.matches("libnrt.so.1").count(), 1, "{text}");
    assert!(!text.contains("dlopen failed"), "{text}");
}

#[test]
fn a_file_that_is_no_library_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("libnrt.so.1");
    fs::write(&path, "no library").unwrap();
    assert!(matches!(NrtRuntime::builder().path(&path).open(), Err(NrtError::LibraryNotFound { .. })));
}

#[test]
fn every_required_function_is_missed_by_name_and_nothing_is_started() {
    for symbol in Symbol::ALL.iter().filter(|symbol| symbol.is_required()) {
        let standin = Standin::patched("", without(symbol.name()));
        let error = standin.refused();
        let path = standin.path.clone();
        assert_eq!(error, NrtError::MissingSymbol { path, symbol: *symbol });
        assert_eq!(standin.counters().inits, 0);
    }
    let standin = Standin::patched("", without("nrt_tensor_allocate_slice"));
    insta::assert_snapshot!(standin.text(&standin.refused()), @"…/libnrt.so.1 has no function nrt_tensor_allocate_slice: it is no libnrt, or one of another age");
}

#[test]
fn one_of_the_two_counts_is_enough() {
    let standin = Standin::patched("devices=3", without("nrt_get_visible_vnc_count"));
    assert_eq!(standin.open().n_devices(), 3);
    let standin = Standin::patched("", |bytes| {
        without("nrt_get_visible_vnc_count")(bytes);
        without("nrt_get_visible_nc_count")(bytes);
    });
    assert!(matches!(standin.refused(), NrtError::MissingSymbol { symbol: Symbol::VisibleVncCount, .. }));
}

#[test]
fn optional_functions_are_probed_and_missed_only_where_they_are_used() {
    let standin = Standin::patched("", |bytes| {
        for symbol in ["nrt_get_vnc_memory_stats", "nrt_tensor_copy", "nrt_get_status_as_str"] {
            without(symbol)(bytes);
        }
    });
    let runtime = standin.open();
    assert!(runtime.has(Symbol::TensorMemset) && runtime.has(Symbol::DebugLogOomReport));
    assert!(!runtime.has(Symbol::VncMemoryStats) && !runtime.has(Symbol::DumpDeviceAllocationInfo));
    let unsupported = |symbol| NrtError::Unsupported { symbol };
    assert_eq!(runtime.memory(DEVICE), Err(unsupported(Symbol::VncMemoryStats)));
    let (a, b) = (runtime.allocate(DEVICE, MIB).unwrap(), runtime.allocate(DEVICE, MIB).unwrap());
    let copied = runtime.copy((DEVICE, a.address), (DEVICE, b.address), 64);
    assert_eq!(copied, Err(unsupported(Symbol::TensorCopy)));
    assert_eq!(runtime.status_text(NrtStatus::Resource), "no device memory left");
    // An allocator goes on without the figures.
    let allocator = Allocator::builder().runtime(runtime).build().unwrap();
    let device = allocator.device(DEVICE).unwrap();
    drop(allocator.allocate(MIB, &device.default_stream()).unwrap());
    assert!(device.segment_pool_analysis().assumed_contiguous);
}

#[test]
fn another_major_version_is_refused_before_it_is_started() {
    let standin = Standin::new("version=3.1.0.0");
    let (path, version) = (standin.path.clone(), NrtVersion::new(3, 1, 0, 0));
    assert_eq!(standin.refused(), NrtError::UnsupportedVersion { path, version, supported: 2 });
    assert_eq!(standin.counters().inits, 0);
    insta::assert_snapshot!(standin.text(&standin.refused()), @"…/libnrt.so.1 is libnrt 3.1.0.0; version 2 is supported");
}

#[test]
fn a_failing_start_is_an_error_and_may_be_tried_again() {
    let standin = Standin::new("init=6");
    let failed = NrtError::InitFailed { status: NrtStatus::HardwareError };
    assert_eq!((standin.refused(), standin.refused()), (failed.clone(), failed.clone()));
    assert_eq!(failed.status(), Status::HW_ERROR);
    insta::assert_snapshot!(failed, @"nrt_init failed: NRT_HW_ERROR (6): the hardware failed");
    let counters = standin.counters();
    assert_eq!((counters.inits, counters.closes), (2, 0));
}

#[test]
fn no_device_and_too_many_devices_are_errors() {
    assert_eq!(Standin::new("count=0").refused(), NrtError::NoDevice);
    let (n_devices, most) = (u32::MAX, 128);
    assert_eq!(Standin::new("count=4294967295").refused(), NrtError::TooManyDevices { n_devices, most });
}

#[test]
fn one_library_is_started_once_and_closed_once() {
    let standin = Standin::new("devices=2");
    let first = standin.builder().framework(Framework::PyTorch, "2.15").open().unwrap();
    let second = standin.open();
    assert_eq!((standin.counters().inits, second.n_devices()), (1, 2));
    assert_eq!((first.version(), first.path()), (NrtVersion::new(2, 33, 0, 0), standin.path.as_path()));
    let held = first.allocate(DEVICE, MIB).unwrap();
    let tensor = first.tensor(DEVICE, held.address, 64).unwrap();
    drop(second);
    assert_eq!(standin.counters().closes, 0);
    assert!(first.close() && !first.close());
    assert_eq!(standin.counters().closes, 1);
    // Everything is refused without a call, and closed for good.
    let calls = standin.counters();
    assert_eq!(first.allocate(DEVICE, MIB), Err(NrtError::Closed));
    assert_eq!(first.free(DEVICE, held.handle), Err(NrtError::Closed));
    assert_eq!(first.tensor(DEVICE, held.address, 64).map(|_| ()), Err(NrtError::Closed));
    assert_eq!(first.memory(DEVICE), Err(NrtError::Closed));
    assert_eq!(first.read(DEVICE, held.address, &mut [0]), Err(NrtError::Closed));
    assert_eq!(standin.refused(), NrtError::Closed);
    drop((first, tensor));
    assert_eq!(standin.counters(), calls);
    check_returned(&standin);
}

#[test]
fn an_allocator_over_a_closed_runtime_fails_with_its_status() {
    let standin = Standin::new("");
    let runtime = std::sync::Arc::new(standin.open());
    let allocator = Allocator::builder().shared_runtime(runtime.clone()).build().unwrap();
    let device = allocator.device(DEVICE).unwrap();
    let held = allocator.allocate(MIB, &device.default_stream()).unwrap();
    runtime.close();
    let error = allocator.allocate(100 * MIB, &device.default_stream()).unwrap_err();
    insta::assert_snapshot!(error, @"allocate segment of 104857600 bytes on device 0 failed: NRT_CLOSED (14)");
    drop(held);
    assert!(allocator.empty_cache().is_err());
    assert_eq!(BuildError::NoDevice.to_string(), "the runtime has no device");
    check_returned(&standin);
}

/// The stand-in itself, asked without the crate: it fails as libnrt does.
#[test]
fn the_stand_in_refuses_calls_before_the_start_and_after_the_end() {
    type Init = unsafe extern "C" fn(i32, *const u8, *const u8) -> i32;
    type Allocate = unsafe extern "C" fn(i32, i32, usize, *const u8, *mut usize) -> i32;
    type Stats = unsafe extern "C" fn(u32, *mut [usize; 2], usize, *mut usize) -> i32;
    type Close = unsafe extern "C" fn();
    type Address = unsafe extern "C" fn(usize) -> usize;
    let standin = Standin::new("");
    // SAFETY: loaded already; the types are those of the header, with handles as numbers.
    let library = unsafe { libloading::Library::new(&standin.path) }.unwrap();
    let allocate = |placement: i32, vnc: i32, bytes: usize| {
        let mut tensor = 0;
        // SAFETY: as above; a null name is allowed.
        let status = unsafe {
            let allocate = library.get::<Allocate>("nrt_tensor_allocate").unwrap();
            allocate(placement, vnc, bytes, std::ptr::null(), &raw mut tensor)
        };
        (NrtStatus::from_code(status), tensor)
    };
    let stats = || {
        let (mut figures, mut size) = ([0; 2], 0);
        // SAFETY: as above.
        let stats = unsafe { library.get::<Stats>("nrt_get_vnc_memory_stats").unwrap() };
        // SAFETY: as above.
        NrtStatus::from_code(unsafe { stats(0, &raw mut figures, 16, &raw mut size) })
    };
    let init = || {
        // SAFETY: as above; it does not look at the texts.
        let init = unsafe { library.get::<Init>("nrt_init").unwrap() };
        // SAFETY: as above.
        NrtStatus::from_code(unsafe { init(1, std::ptr::null(), std::ptr::null()) })
    };
    assert_eq!((allocate(0, 0, 64).0, stats()), (NrtStatus::Uninitialized, NrtStatus::Uninitialized));
    assert_eq!((init(), init()), (NrtStatus::Success, NrtStatus::Failure));
    let (status, tensor) = allocate(0, 0, 64);
    // SAFETY: as above.
    let address = unsafe { library.get::<Address>("nrt_tensor_get_va").unwrap() };
    // SAFETY: as above.
    let addresses = unsafe { [address(tensor), address(tensor + 1)] };
    assert!(status == NrtStatus::Success && addresses[0] != 0 && addresses[1] == 0);
    // Host placement, a core that is not there, no bytes.
    for (placement, vnc, bytes) in [(1, 0, 64), (0, 1, 64), (0, -1, 64), (0, 0, 0)] {
        assert_eq!(allocate(placement, vnc, bytes).0, NrtStatus::Invalid);
    }
    // SAFETY: as above.
    unsafe { library.get::<Close>("nrt_close").unwrap()() };
    assert_eq!(
        (allocate(0, 0, 64).0, stats(), init()),
        (NrtStatus::Closed, NrtStatus::Closed, NrtStatus::Closed)
    );
}

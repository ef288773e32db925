//! Bytes there and back, and what is refused before a call.

use neuronx_mem::DeviceId;
use neuronx_mem_nrt::{NrtError, NrtRuntime, NrtStatus, Symbol};

use super::standin::Standin;
use super::{DEVICE, MIB, check_returned};

fn read(runtime: &NrtRuntime, device: DeviceId, address: u64, n: usize) -> Vec<u8> {
    let mut bytes = vec![0xee; n];
    runtime.read(device, address, &mut bytes).unwrap();
    bytes
}

#[test]
fn bytes_come_back_as_they_went() {
    let standin = Standin::new("");
    let runtime = standin.open();
    let a = runtime.allocate(DEVICE, MIB).unwrap().address;
    let b = runtime.allocate(DEVICE, MIB).unwrap().address;
    let pattern: Vec<u8> = (0..10_000u32).map(|i| (i * 7 % 251) as u8).collect();
    runtime.write(DEVICE, a + 4000, &pattern).unwrap();
    assert_eq!(read(&runtime, DEVICE, a + 4000, 10_000), pattern);
    assert_eq!(read(&runtime, DEVICE, a, 4000), vec![0; 4000]);
    runtime.copy((DEVICE, a + 4000), (DEVICE, b), 10_000).unwrap();
    runtime.fill(DEVICE, b + 10, 0xab, 5).unwrap();
    let mut expected = pattern.clone();
    expected[10..15].fill(0xab);
    assert_eq!(read(&runtime, DEVICE, b, 10_000), expected);
    // A slice sees its segment's bytes.
    let tensor = runtime.tensor(DEVICE, b + 64, 4096).unwrap();
    assert_eq!(read(&runtime, DEVICE, tensor.address(), 8), expected[64..72]);
    drop((tensor, runtime));
    check_returned(&standin);
}

#[test]
fn filling_works_without_the_function() {
    let standin = Standin::patched("", |bytes| {
        let name = b"\0nrt_tensor_memset\0";
        let at = bytes.windows(name.len()).position(|window| window == name).unwrap();
        bytes[at + 1] = b'X';
    });
    let runtime = standin.open();
    let at = runtime.allocate(DEVICE, 3 * MIB).unwrap().address;
    runtime.fill(DEVICE, at + 1, 7, 2 * MIB + 5).unwrap();
    assert_eq!((standin.counters().writes, standin.counters().fills), (3, 0));
    let end = at + 1 + 2 * MIB + 5;
    assert_eq!(
        (read(&runtime, DEVICE, at, 3), read(&runtime, DEVICE, end - 2, 4)),
        (vec![0, 7, 7], vec![7, 7, 0, 0])
    );
}

#[test]
fn bounds_are_checked_before_a_call() {
    let standin = Standin::new("");
    let runtime = standin.open();
    let at = runtime.allocate(DEVICE, 4096).unwrap().address;
    let out = |address, bytes| Err(NrtError::OutOfBounds { device: DEVICE, address, bytes });
    assert_eq!(runtime.write(DEVICE, at + 4000, &[0; 97]), out(at + 4000, 97));
    assert_eq!(runtime.read(DEVICE, at - 1, &mut [0; 2]), out(at - 1, 2));
    assert_eq!(runtime.fill(DEVICE, at, 0, u64::MAX), out(at, u64::MAX));
    assert_eq!(runtime.copy((DEVICE, at), (DEVICE, at + 4096), 1), out(at + 4096, 1));
    assert_eq!(runtime.fill(DEVICE, u64::MAX, 0, 1), out(u64::MAX, 1));
    // No bytes are no error and no call, wherever they would go.
    assert_eq!(runtime.write(DEVICE, 1, &[]), Ok(()));
    assert_eq!(runtime.copy((DEVICE, 1), (DEVICE, 2), 0), Ok(()));
    let (from, to, bytes) = (at, at + 10, 11);
    assert_eq!(
        runtime.copy((DEVICE, from), (DEVICE, to), bytes),
        Err(NrtError::OverlappingCopy { from, to, bytes })
    );
    assert_eq!(runtime.copy((DEVICE, from), (DEVICE, to), 10), Ok(()));
    let counters = standin.counters();
    assert_eq!((counters.reads, counters.writes, counters.fills, counters.copies), (0, 0, 0, 1));
}

#[test]
fn a_copy_stays_on_its_hbm() {
    let two = DeviceId(2);
    let standin = Standin::new("devices=3;lnc=1;family=trn2");
    let runtime = standin.open();
    let at = |device| (device, runtime.allocate(device, MIB).unwrap().address);
    let (zero, one, two) = (at(DEVICE), at(DeviceId(1)), at(two));
    // At LNC 1 the first two devices share a stack.
    assert_eq!(runtime.copy(zero, one, 64), Ok(()));
    assert_eq!(runtime.copy(zero, two, 64), Err(NrtError::DifferentHbm { from: DEVICE, to: DeviceId(2) }));
    assert_eq!(standin.counters().copies, 1);
    insta::assert_snapshot!(runtime.copy(zero, two, 64).unwrap_err(), @"cannot copy from device 0 to device 2: their memory is not on the same HBM");
    // Where the library cannot tell, two devices are two stacks.
    let blind = Standin::patched("devices=2;lnc=1", |bytes| {
        let name = b"\0nrt_tensor_get_device_allocation_info\0";
        let at = bytes.windows(name.len()).position(|window| window == name).unwrap();
        bytes[at + 1] = b'X';
    });
    let runtime = blind.open();
    let at = |device| (device, runtime.allocate(device, MIB).unwrap().address);
    let refused = runtime.copy(at(DEVICE), at(DeviceId(1)), 64);
    assert_eq!(refused, Err(NrtError::DifferentHbm { from: DEVICE, to: DeviceId(1) }));
}

#[test]
fn the_library_itself_refuses_a_copy_across_hbm() {
    // The check is ours; behind it the stand-in fails as libnrt does. Asked directly, by its own function.
    type Copy = unsafe extern "C" fn(usize, usize, usize, usize, usize) -> i32;
    let standin = Standin::new("devices=2");
    let runtime = standin.open();
    let tensor = |device: DeviceId| {
        let at = runtime.allocate(device, MIB).unwrap().address;
        runtime.tensor(device, at, 64).unwrap()
    };
    let (zero, one) = (tensor(DEVICE), tensor(DeviceId(1)));
    // SAFETY: a library that is loaded already; the function takes two tensors and three sizes.
    let status = unsafe {
        let library = libloading::Library::new(&standin.path).unwrap();
        let copy = library.get::<Copy>("nrt_tensor_copy").unwrap();
        [copy(zero.as_ptr().addr(), 0, one.as_ptr().addr(), 0, 64), copy(1, 0, 2, 0, 64)]
    };
    let status = status.map(NrtStatus::from_code);
    assert_eq!(status, [NrtStatus::Invalid, NrtStatus::InvalidHandle]);
    assert!(runtime.has(Symbol::TensorCopy));
}

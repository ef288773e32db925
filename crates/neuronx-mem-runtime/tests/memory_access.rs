//! What a runtime gets for nothing: filling and searching memory by its own reads and writes, and a
//! refusal where it has neither.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::ops::Range;
use std::sync::Mutex;

use neuronx_mem_runtime::{
    DeviceId, DeviceRuntime, MemoryInfo, Operation, RuntimeError, SegmentAllocation, SegmentHandle,
    SliceHandle, Status,
};

const DEVICE: DeviceId = DeviceId(0);
const SEGMENT: SegmentHandle = SegmentHandle(1);

/// One segment of real bytes.
#[derive(Debug)]
struct Bytes(Mutex<Vec<u8>>);

impl Bytes {
    fn range(&self, operation: Operation, offset: u64, n_bytes: usize) -> Result<Range<usize>, RuntimeError> {
        let start = usize::try_from(offset).unwrap();
        let length = self.0.lock().unwrap().len();
        let failed = RuntimeError::new(operation, DEVICE, Status::INVALID, n_bytes as u64);
        if start + n_bytes > length { Err(failed) } else { Ok(start..start + n_bytes) }
    }
}

/// `DeviceRuntime` without the calls that no test here makes.
macro_rules! runtime {
    ($name:ident { $($access:item)* }) => {
        impl DeviceRuntime for $name {
            fn n_devices(&self) -> u32 {
                1
            }
            fn allocate_segment(&self, _: DeviceId, _: u64) -> Result<SegmentAllocation, RuntimeError> {
                Ok(SegmentAllocation { handle: SEGMENT, address: 64 })
            }
            fn free_segment(&self, _: DeviceId, _: SegmentHandle) -> Result<(), RuntimeError> {
                Ok(())
            }
            fn slice(&self, _: DeviceId, _: SegmentHandle, _: u64, _: u64) -> Result<SliceHandle, RuntimeError> {
                Ok(SliceHandle(1))
            }
            fn free_slice(&self, _: DeviceId, _: SliceHandle) -> Result<(), RuntimeError> {
                Ok(())
            }
            fn memory_info(&self, _: DeviceId) -> Result<MemoryInfo, RuntimeError> {
                Ok(MemoryInfo::default())
            }
            fn address_range(&self, _: DeviceId) -> Option<Range<u64>> {
                None
            }
            $($access)*
        }
    };
}

runtime!(Bytes {
    fn has_memory_access(&self) -> bool {
        true
    }
    fn write_memory(
        &self,
        _: DeviceId,
        _: SegmentHandle,
        offset: u64,
        data: &[u8],
    ) -> Result<(), RuntimeError> {
        let range = self.range(Operation::WriteMemory, offset, data.len())?;
        self.0.lock().unwrap()[range].copy_from_slice(data);
        Ok(())
    }
    fn read_memory(
        &self,
        _: DeviceId,
        _: SegmentHandle,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), RuntimeError> {
        let range = self.range(Operation::ReadMemory, offset, into.len())?;
        into.copy_from_slice(&self.0.lock().unwrap()[range]);
        Ok(())
    }
});

#[derive(Debug)]
struct Untouchable;

runtime!(Untouchable {});

#[test]
fn filling_and_searching_take_as_many_pieces_as_they_need() {
    const BYTES: u64 = (200 << 10) + 3;
    let runtime = Bytes(Mutex::new(vec![0; usize::try_from(BYTES).unwrap()]));
    runtime.fill_memory(DEVICE, SEGMENT, 1, BYTES - 2, 7).unwrap();
    let find = |offset, bytes| runtime.find_other_byte(DEVICE, SEGMENT, offset, bytes, 7).unwrap();
    assert_eq!(find(1, BYTES - 2), None);
    assert_eq!((find(0, BYTES), find(1, BYTES - 1)), (Some((0, 0)), Some((BYTES - 1, 0))));
    for at in [1, 64 << 10, (64 << 10) + 1, BYTES - 2] {
        runtime.write_memory(DEVICE, SEGMENT, at, &[9]).unwrap();
        assert_eq!(find(1, BYTES - 2), Some((at, 9)));
        runtime.write_memory(DEVICE, SEGMENT, at, &[7]).unwrap();
    }
}

#[test]
fn a_range_that_ends_outside_is_refused() {
    let runtime = Bytes(Mutex::new(vec![0; 100]));
    let error = runtime.fill_memory(DEVICE, SEGMENT, 50, 51, 7).unwrap_err();
    assert_eq!(error.to_string(), "write memory of 51 bytes on device 0 failed: NRT_INVALID (2)");
    assert!(runtime.find_other_byte(DEVICE, SEGMENT, 50, 51, 0).is_err());
}

#[test]
fn a_runtime_without_access_refuses_all_four() {
    assert!(!Untouchable.has_memory_access());
    let errors = [
        Untouchable.write_memory(DEVICE, SEGMENT, 0, &[1, 2]).unwrap_err(),
        Untouchable.read_memory(DEVICE, SEGMENT, 0, &mut [0; 2]).unwrap_err(),
        Untouchable.fill_memory(DEVICE, SEGMENT, 0, 2, 7).unwrap_err(),
        Untouchable.find_other_byte(DEVICE, SEGMENT, 0, 2, 7).unwrap_err(),
    ];
    for error in errors {
        assert_eq!((error.status, error.bytes), (Status::INVALID, 2));
    }
}

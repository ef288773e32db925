//! Numbers for callers that keep their own accounts: of the pools, of an out-of-memory error, of addresses.

#![allow(unsafe_code, reason = "a C ABI")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::mem::size_of;
use std::ptr;

use neuronx_mem_capi::*;
use nxm_status::{NXM_INVALID_ARGUMENT, NXM_OK, NXM_OUT_OF_MEMORY};

/// Runs a test on a simulated device of 256 MiB.
fn with_device(test: impl FnOnce(*const nxm_device)) {
    let (mut options, mut allocator, mut device) = (ptr::null_mut(), ptr::null_mut(), ptr::null());
    // SAFETY: places for pointers, and what the library made; freed once, after the test.
    unsafe {
        assert_eq!(nxm_options_new(&raw mut options), NXM_OK);
        assert_eq!(nxm_options_use_simulator(options, ptr::null(), 0, 1, 256 << 20), NXM_OK);
        assert_eq!(nxm_allocator_new(options, &raw mut allocator), NXM_OK);
        nxm_options_free(options);
        assert_eq!(nxm_allocator_device(allocator, 0, &raw mut device), NXM_OK);
        test(device);
        nxm_allocator_free(allocator);
    }
}

fn allocate(device: *const nxm_device, bytes: u64) -> (nxm_status, nxm_block) {
    let mut block = nxm_block::default();
    // SAFETY: a device that lives, and a local.
    (unsafe { nxm_allocate(device, bytes, 0, &raw mut block) }, block)
}

#[test]
fn pools_add_up() {
    with_device(|device| {
        let (_, small) = allocate(device, 1000);
        let (_, large) = allocate(device, 4 << 20);
        let (_, gone) = allocate(device, 2 << 20);
        let mut stats = nxm_pool_stats { struct_size: size_of::<nxm_pool_stats>(), ..Default::default() };
        // SAFETY: as above; the size is set.
        unsafe {
            assert_eq!(nxm_free(device, &raw const gone), NXM_OK);
            assert_eq!(nxm_get_pool_stats(device, &raw mut stats), NXM_OK);
        }
        assert_eq!(stats.struct_size, size_of::<nxm_pool_stats>());
        let current = |stat: [nxm_stat; 3]| stat.map(|stat| stat.current);
        assert_eq!(current(stats.allocations), [2, 1, 1]);
        assert_eq!(current(stats.active_bytes), [1000 + (4 << 20), 1000, 4 << 20]);
        let blocks = [small.block_bytes + large.block_bytes, small.block_bytes, large.block_bytes];
        assert_eq!(current(stats.allocated_bytes), blocks);
        assert_eq!(stats.allocations.map(|stat| stat.freed), [1, 0, 1]);
        assert_eq!(stats.allocated_bytes[2].peak, 6 << 20);
        assert_eq!(
            stats.reserved_bytes[0].current,
            stats.reserved_bytes[1].current + stats.reserved_bytes[2].current
        );
        assert_eq!(current(stats.segments), [2, 1, 1]);
        assert_eq!(stats.oversize_segments, nxm_stat::default());
    });
}

#[test]
fn a_smaller_struct_gets_what_fits() {
    with_device(|device| {
        let half = 16 + size_of::<[nxm_stat; 3]>();
        let mut stats = nxm_pool_stats { struct_size: half, ..Default::default() };
        stats.oversize_segments.peak = 77;
        // SAFETY: as above.
        assert_eq!(unsafe { nxm_get_pool_stats(device, &raw mut stats) }, NXM_OK);
        assert_eq!((stats.struct_size, stats.oversize_segments.peak), (half, 77));
    });
}

#[test]
fn an_out_of_memory_error_has_numbers() {
    with_device(|device| {
        let size = size_of::<nxm_out_of_memory>();
        let mut numbers = nxm_out_of_memory { struct_size: size, ..Default::default() };
        nxm_clear_last_error();
        // SAFETY: a local whose size is set.
        assert_eq!(unsafe { nxm_last_out_of_memory(&raw mut numbers) }, NXM_INVALID_ARGUMENT);
        let (_, kept) = allocate(device, 128 << 20);
        assert_eq!(allocate(device, 200 << 20).0, NXM_OUT_OF_MEMORY);
        // SAFETY: as above.
        assert_eq!(unsafe { nxm_last_out_of_memory(&raw mut numbers) }, NXM_OK);
        let expected = nxm_out_of_memory {
            struct_size: size,
            requested_bytes: 200 << 20,
            segment_bytes: 200 << 20,
            total_bytes: 256 << 20,
            reserved_bytes: 128 << 20,
            allocated_bytes: kept.block_bytes,
            active_bytes: 128 << 20,
            ..Default::default()
        };
        assert_eq!(numbers, expected);
    });
}

#[test]
fn addresses_of_blocks_are_the_devices() {
    with_device(|device| {
        let mut range = nxm_address_range::default();
        // SAFETY: as above.
        assert_eq!(unsafe { nxm_get_address_range(device, &raw mut range) }, NXM_OK);
        assert_eq!(range.end - range.first, 256 << 20);
        let (_, block) = allocate(device, 1000);
        assert!(range.first <= block.address && block.address + 1000 <= range.end);
        // SAFETY: null is an error.
        assert_eq!(unsafe { nxm_get_address_range(ptr::null(), &raw mut range) }, NXM_INVALID_ARGUMENT);
    });
}

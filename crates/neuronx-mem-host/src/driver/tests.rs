//! The driver's behaviour, point by point, over a kernel that has exactly what the test gives it.

use super::{DriverChunk, DriverParameters, DriverPool, LARGEST_DRIVER_PAGE_BYTES};
use crate::{HostError, NumberedPages, NumberedRun};

/// A driver whose reserve took all that the kernel had.
fn fragmented(parameters: DriverParameters) -> DriverPool<NumberedPages> {
    DriverPool::load(NumberedPages::new(parameters.reserve_bytes()), parameters).unwrap()
}

fn pages(driver: &DriverPool<NumberedPages>) -> [u64; 4] {
    driver.statistics().classes.map(|class| class.pages)
}

fn class_of(driver: &DriverPool<NumberedPages>, chunk: &DriverChunk<NumberedRun>) -> u64 {
    let allocated = |class: &&super::DriverClassStatistics| class.allocated_bytes >= chunk.bytes();
    driver.statistics().classes.iter().find(allocated).unwrap().page_bytes
}

#[test]
fn the_reserve_has_four_classes_of_32_mib_each() {
    let driver = fragmented(DriverParameters::default());
    assert_eq!(pages(&driver), [128, 64, 32, 16]);
    assert_eq!(driver.statistics().reserved_bytes(), 134_217_728);
    assert!(driver.statistics().is_complete());
    let more = fragmented(DriverParameters::default().with_host_memory_bytes((64 << 20) + 300_000));
    assert_eq!(pages(&more), [257, 128, 64, 32]);
    assert_eq!(pages(&fragmented(DriverParameters::default().with_host_memory_bytes(600_000))), [2, 1, 0, 0]);
}

#[test]
fn the_largest_class_is_built_first_and_a_class_without_pages_stops_alone() {
    let driver = |kernel_bytes| {
        DriverPool::load(NumberedPages::new(kernel_bytes), DriverParameters::default()).unwrap()
    };
    assert_eq!(pages(&driver(33 << 20)), [0, 0, 1, 16]);
    let partial = driver((5 << 20) + (768 << 10));
    assert_eq!(pages(&partial), [1, 1, 1, 2]);
    assert!(!partial.statistics().is_complete());
}

#[test]
fn the_report_2_441_472_and_3_292_176_bytes_fail_for_ever() {
    for size in [2_441_472, 3_292_176] {
        for host_memory_bytes in [32 << 20, 128 << 20, (2 << 30) - 1] {
            let mut driver =
                fragmented(DriverParameters::default().with_host_memory_bytes(host_memory_bytes));
            for _ in 0..3 {
                let error = driver.allocate(size).unwrap_err();
                assert_eq!(error.driver_log_line().as_deref(), Some("host mem occupied 0"));
            }
            assert_eq!(driver.statistics().n_failed, 3, "raising the pool does not help");
        }
    }
    let error = fragmented(DriverParameters::default()).allocate(3_292_176).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the driver has no host memory for 3292176 bytes: 3293184 after rounding, largest class 2097152, \
         0 occupied"
    );
    assert!(error.is_out_of_memory());
}

#[test]
fn the_kernel_is_asked_first_and_has_no_class() {
    let parameters = DriverParameters::default();
    let mut driver =
        DriverPool::load(NumberedPages::new(parameters.reserve_bytes() + (4 << 20)), parameters).unwrap();
    let chunk = driver.allocate(3_292_176).unwrap();
    assert_eq!((chunk.bytes(), chunk.is_from_reserve(), chunk.log_line()), (3_293_184, false, None));
    assert_eq!(driver.statistics().occupied_bytes, 3_293_184);
    driver.free(chunk);
    assert!(!driver.allocate(4 << 20).unwrap().is_from_reserve());
}

#[test]
fn the_smallest_class_that_fits_then_larger_ones() {
    let mut driver = fragmented(DriverParameters::default());
    let chunk = driver.allocate(262_145).unwrap();
    assert_eq!(class_of(&driver, &chunk), 512 << 10);
    driver.free(chunk);
    // 128 pages of 256 KiB, 64 of 512 KiB with two each, 32 with four, 16 with eight.
    let small: Vec<_> = (0..512).map(|_| driver.allocate(256 << 10).unwrap()).collect();
    assert_eq!(driver.statistics().classes.map(|class| class.free_bytes), [0; 4]);
    let error = driver.allocate(1).unwrap_err();
    assert_eq!(error.driver_log_line().as_deref(), Some("host mem occupied 134217728"));
    small.into_iter().for_each(|chunk| driver.free(chunk));
    assert_eq!(driver.statistics().occupied_bytes, 0);
}

#[test]
fn small_chunks_share_a_page_and_none_spans_two() {
    let mut driver = fragmented(DriverParameters::default().with_host_memory_bytes(2 << 20));
    // The only 2 MiB page loses one unit: nothing of 2 MiB is left, although 6 MiB are free.
    let hole = driver.allocate((1 << 20) + 1).unwrap();
    assert_eq!(class_of(&driver, &hole), 2 << 20);
    assert!(driver.allocate(2 << 20).is_err());
    // First fit: three pages from the front of the newest 256 KiB page, and the gap is used again.
    let [first, second, third] = [1, 4097, 4096].map(|bytes| driver.allocate(bytes).unwrap());
    assert_eq!(second.address() - first.address(), 4096);
    assert_eq!(third.address() - second.address(), 8192);
    let gap = first.address();
    driver.free(first);
    assert_eq!(driver.allocate(4096).unwrap().address(), gap);
}

#[test]
fn the_newest_page_of_a_class_comes_first() {
    let mut driver = fragmented(DriverParameters::default());
    let [first, second] = [2 << 20, 2 << 20].map(|bytes| driver.allocate(bytes).unwrap());
    assert_eq!(first.address() - second.address(), 2 << 20);
}

#[test]
fn the_counter_bug_is_not_copied() {
    let mut driver = fragmented(DriverParameters::default());
    for _ in 0..3 {
        let chunk = driver.allocate(1 << 20).unwrap();
        assert_eq!(driver.statistics().classes[2].allocated_bytes, 1 << 20);
        driver.free(chunk);
        // The driver's own counter is lowered without ever having been raised: it would be 2^64 − 2^20.
        assert_eq!(driver.statistics().classes[2].allocated_bytes, 0);
    }
}

#[test]
fn what_the_driver_refuses_before_it_looks() {
    let mut driver = fragmented(DriverParameters::default());
    for bytes in [0, 1 << 63, u64::MAX] {
        let error = driver.allocate(bytes).unwrap_err();
        assert!(matches!(error, HostError::InvalidSize { requested_bytes, .. } if requested_bytes == bytes));
    }
    let error = driver.allocate_aligned(4096, 8192).unwrap_err();
    assert_eq!(error.driver_log_line().as_deref(), Some("Allocating aligned host memory not supported"));
    assert!(driver.allocate_aligned(4096, 0).is_ok());
    assert!(driver.allocate((1 << 63) - 1).unwrap_err().is_out_of_memory());
    assert_eq!(driver.statistics().n_failed, 1);
}

#[test]
fn parameters_that_would_stop_the_kernel_are_refused() {
    for bytes in [0, 2048, 5000, 524_288] {
        let parameters = DriverParameters::default().with_min_alloc_bytes(bytes);
        let error = DriverPool::load(NumberedPages::new(0), parameters).unwrap_err();
        assert!(matches!(error, HostError::InvalidPolicy { value, .. } if value == bytes), "{bytes}");
    }
    let large = DriverParameters::default().with_host_memory_bytes(2 << 30);
    assert!(matches!(
        DriverPool::load(NumberedPages::new(0), large),
        Err(HostError::InvalidPolicy { name: "mempool_host_memory_size", .. })
    ));
    let mut driver = fragmented(DriverParameters::default().with_min_alloc_bytes(65_536));
    assert_eq!(driver.allocate(1).unwrap().bytes(), 4096);
    assert_eq!(driver.statistics().classes[0].free_bytes, (32 << 20) - 65_536);
    assert_eq!(driver.statistics().classes[0].allocated_bytes, 4096);
    assert_eq!(LARGEST_DRIVER_PAGE_BYTES, 2 << 20);
}

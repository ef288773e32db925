//! The staging allocator over addresses, and over memory.

use proptest::prelude::*;

use super::class::PAGED_BYTES;
use super::{SizeClass, StagingAllocator, StagingBuffer, StagingOptions};
use crate::{CountingSource, HostError, MappedOptions, MappedPages, NumberedPages, PageRun, PageSource};

const MIB: u64 = 1 << 20;

type Counted = CountingSource<NumberedPages>;

fn staging(options: StagingOptions) -> (StagingAllocator<Counted>, Counted) {
    let source = CountingSource::new(NumberedPages::new(1 << 40));
    (StagingAllocator::new(source.clone(), options).unwrap(), source)
}

#[test]
fn classes_go_up_without_gaps_and_hold_their_own_size() {
    let mut last = 0;
    for idx in 0..SizeClass::COUNT {
        let class = SizeClass::at(idx);
        assert!(class.bytes() > last && class.bytes().is_multiple_of(64));
        assert_eq!(SizeClass::of(class.bytes()).unwrap(), class);
        assert_eq!(SizeClass::of(last + 1).unwrap(), class);
        assert!(class.bytes() < PAGED_BYTES || class.bytes().is_multiple_of(4096));
        last = class.bytes();
    }
    assert_eq!(last, 1 << 47);
    for bytes in [0, (1 << 47) + 1, u64::MAX] {
        assert!(matches!(SizeClass::of(bytes), Err(HostError::InvalidSize { .. })));
    }
}

#[test]
fn waste_stays_below_an_eighth_from_512_bytes_on() {
    // The worst request of each class is the smallest one.
    let mut worst = (0.0, 0);
    for idx in 8..SizeClass::COUNT {
        let request = SizeClass::at(idx - 1).bytes() + 1;
        let waste = (SizeClass::at(idx).bytes() - request) as f64 / request as f64;
        worst = if waste > worst.0 { (waste, request) } else { worst };
    }
    assert!(worst.0 < 0.125, "{worst:?}");
    assert_eq!(SizeClass::of(129_500_000).unwrap().bytes(), 134_217_728, "a power of two by chance");
    assert_eq!(SizeClass::of(4_500_000_000).unwrap().bytes(), 4_831_838_208, "and not 8 GiB");
}

#[test]
fn a_freed_block_is_the_next_of_its_class() {
    let (staging, source) = staging(StagingOptions::default());
    let first = staging.allocate(1000).unwrap().address();
    assert_eq!(staging.allocate(1024).unwrap().address(), first);
    assert_ne!(staging.allocate(1025).unwrap().address(), first);
    let statistics = staging.statistics();
    assert_eq!((statistics.allocations, statistics.hits, statistics.frees), (3, 1, 3));
    assert_eq!((statistics.live_blocks, statistics.live_bytes, statistics.held_bytes), (0, 0, 0));
    assert_eq!(statistics.cached_bytes, 1024 + 1152);
    assert_eq!(source.counts().live_bytes, 2 * MIB);
    assert_eq!(staging.trim(), 2 * MIB);
    assert_eq!((source.counts().live_runs, staging.statistics().cached_bytes), (0, 0));
}

#[test]
fn live_figures_say_what_is_wasted() {
    let (staging, _) = staging(StagingOptions::default());
    let buffers = [1_100_000, 3, 40 * MIB + 1].map(|bytes| staging.allocate(bytes).unwrap());
    let statistics = staging.statistics();
    assert_eq!(statistics.live_bytes, 1_100_003 + 40 * MIB + 1);
    assert_eq!(statistics.held_bytes, 1_179_648 + 64 + 44 * MIB);
    assert_eq!(statistics.waste_bytes(), statistics.held_bytes - statistics.live_bytes);
    assert_eq!(buffers.map(|buffer| buffer.capacity_bytes()), [1_179_648, 64, 44 * MIB]);
}

#[test]
fn a_run_of_its_own_is_as_large_as_its_block() {
    let (staging, source) = staging(StagingOptions::default());
    for bytes in [17 * MIB, 100 * MIB + 1, 4_500_000_000] {
        let buffer = staging.allocate(bytes).unwrap();
        assert_eq!(source.counts().live_bytes, buffer.capacity_bytes());
        assert!(source.counts().live_bytes.is_multiple_of(2 * MIB), "whole huge pages");
        drop(buffer);
        staging.trim();
    }
}

#[test]
fn the_caches_are_bounded() {
    let (staging, source) = staging(StagingOptions::default().with_max_cached_bytes(100 * MIB));
    drop([(); 10].map(|()| staging.allocate(20 * MIB).unwrap()));
    assert_eq!(staging.statistics().cached_bytes, 100 * MIB);
    assert_eq!(source.counts().live_bytes, 100 * MIB);
    drop([(); 100].map(|()| staging.allocate(MIB).unwrap()));
    assert!(staging.statistics().cached_bytes <= 102 * MIB, "two blocks of 1 MiB in this thread's shard");
    drop((0..1000).map(|_| staging.allocate(64).unwrap()).collect::<Vec<_>>());
    assert!(staging.statistics().cached_bytes <= 102 * MIB + 64 * 64);
}

#[test]
fn when_the_limit_is_reached_the_caches_are_emptied_first() {
    let (staging, _) = staging(StagingOptions::default().with_limit_bytes(64 * MIB));
    drop(staging.allocate(40 * MIB).unwrap());
    let buffer = staging.allocate(50 * MIB).unwrap();
    assert_eq!(staging.statistics().flushes, 1);
    let error = staging.allocate(50 * MIB).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no contiguous host memory for 54525952 bytes: largest free extent 0, 0 free of 54525952 reserved"
    );
    assert!(error.is_out_of_memory());
    let statistics = staging.statistics();
    assert_eq!((statistics.allocations, statistics.failures, statistics.live_blocks), (2, 1, 1));
    assert_eq!(statistics.live_bytes, buffer.bytes());
    let none = StagingAllocator::new(NumberedPages::new(0), StagingOptions::default().with_limit_bytes(0));
    assert!(matches!(none, Err(HostError::InvalidPolicy { .. })));
}

#[test]
fn another_threads_block_is_found_before_the_source_is_asked() {
    let (staging, source) = staging(StagingOptions::default());
    let first = staging.allocate(2048).unwrap().address();
    let other = std::thread::scope(|scope| {
        scope.spawn(|| staging.allocate(2048).map(|buffer| buffer.address())).join().unwrap()
    });
    assert_eq!(other.unwrap(), first);
    assert_eq!((source.counts().runs, staging.statistics().hits), (1, 1));
}

#[test]
fn a_detached_block_waits_for_its_own_allocator() {
    let (staging, _) = staging(StagingOptions::default());
    let (other, _) = self::staging(StagingOptions::default());
    let block = staging.allocate(5000).unwrap().detach();
    assert_eq!((block.bytes(), staging.statistics().live_blocks), (5000, 1));
    let foreign = other.allocate(1).unwrap().detach();
    assert!(matches!(staging.attach(foreign), Err(HostError::ForeignAllocation { .. })));
    let address = block.address();
    let buffer = staging.attach(block).unwrap();
    assert_eq!(buffer.address(), address);
    drop(buffer);
    assert_eq!(staging.statistics().live_blocks, 0);
}

#[test]
fn buffers_are_memory_of_their_own() {
    let pages = CountingSource::new(MappedPages::new(MappedOptions::default()));
    let staging = StagingAllocator::new(pages.clone(), StagingOptions::default()).unwrap();
    let sizes = [1, 64, 65, 4096, 33_000, 2 * MIB, 20 * MIB];
    let mut buffers: Vec<StagingBuffer<'_, _>> =
        sizes.iter().map(|bytes| staging.allocate(*bytes).unwrap()).collect();
    for (buffer, value) in buffers.iter_mut().zip(1..) {
        assert!(buffer.iter().all(|byte| *byte == 0), "fresh memory is clear");
        buffer.fill(value);
    }
    for ((buffer, value), bytes) in buffers.iter().zip(1..).zip(sizes) {
        assert_eq!(buffer.len() as u64, bytes);
        assert!(buffer.iter().all(|byte| *byte == value));
    }
    drop(buffers);
    drop(staging);
    assert_eq!(pages.counts().live_runs, 0);
}

/// A source that gives less than it was asked for.
#[derive(Debug)]
struct Short(NumberedPages);

impl PageSource for Short {
    type Run = crate::NumberedRun;

    fn allocate(&self, bytes: u64) -> Result<Self::Run, HostError> {
        self.0.allocate(bytes / 2)
    }
}

#[test]
fn a_run_that_is_too_short_is_not_trusted() {
    let pages = NumberedPages::new(1 << 40);
    let staging = StagingAllocator::new(Short(pages), StagingOptions::default()).unwrap();
    for bytes in [64, MIB, 64 * MIB] {
        assert!(staging.allocate(bytes).unwrap_err().is_out_of_memory());
    }
    assert_eq!(staging.statistics().reserved_bytes, 0);
    assert_eq!(NumberedPages::new(4096).allocate(4096).unwrap().bytes(), 4096);
}

proptest! {
    /// Requests of all sizes, freed in any order: never two buffers on one byte, and everything returns.
    #[test]
    fn buffers_are_disjoint_and_return(
        steps in prop::collection::vec((any::<bool>(), 1_u64..40 * MIB, 0_u32..26, any::<usize>()), 1..200),
    ) {
        let (staging, source) = staging(StagingOptions::default().with_max_cached_bytes(64 * MIB));
        let mut live: Vec<StagingBuffer<'_, Counted>> = Vec::new();
        for (is_free, bytes, shift, idx) in steps {
            if is_free && !live.is_empty() {
                live.swap_remove(idx % live.len());
            } else {
                live.push(staging.allocate((bytes >> shift).max(1)).unwrap());
            }
            let mut ranges: Vec<(u64, u64)> =
                live.iter().map(|one| (one.address(), one.address() + one.capacity_bytes())).collect();
            ranges.sort_unstable();
            prop_assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0));
            let aligned = |one: &StagingBuffer<'_, Counted>| {
                one.address().is_multiple_of(if one.bytes() >= PAGED_BYTES { 4096 } else { 64 })
            };
            prop_assert!(live.iter().all(aligned));
            let statistics = staging.statistics();
            prop_assert_eq!(statistics.live_blocks, live.len() as u64);
            prop_assert_eq!(statistics.live_bytes, live.iter().map(StagingBuffer::bytes).sum::<u64>());
            prop_assert_eq!(statistics.held_bytes, live.iter().map(StagingBuffer::capacity_bytes).sum::<u64>());
            prop_assert_eq!(statistics.reserved_bytes, source.counts().live_bytes);
        }
        live.clear();
        staging.trim();
        prop_assert_eq!(source.counts().live_runs, 0);
    }
}

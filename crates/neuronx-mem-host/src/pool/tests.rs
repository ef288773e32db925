//! The pool over sources that have exactly what the test gives them.

use std::sync::{Arc, OnceLock, Weak};

use proptest::prelude::*;

use super::{ClassPolicy, HostAllocation, HostPool, HostPoolPolicy, Preference, SplitPolicy};
use crate::{
    CountingSource, DriverParameters, HostError, HostShape, NumberedPages, NumberedRun, PageCachePressure,
    PageSource, SimulatedHost,
};

const MIB: u64 = 1 << 20;

fn pool(policy: HostPoolPolicy, capacity_bytes: u64) -> HostPool<CountingSource<NumberedPages>> {
    HostPool::new(policy, CountingSource::new(NumberedPages::new(capacity_bytes))).unwrap()
}

fn pages(pool: &HostPool<CountingSource<NumberedPages>>) -> Vec<u64> {
    pool.statistics().classes.iter().map(|class| class.pages).collect()
}

fn class(page_mib: u64, reserve_mib: u64) -> ClassPolicy {
    ClassPolicy::new(page_mib * MIB).with_reserve_bytes(reserve_mib * MIB)
}

#[test]
fn the_default_reserves_what_the_driver_reserves() {
    let pool = pool(HostPoolPolicy::default(), 1 << 30);
    assert_eq!(pages(&pool), [32, 8, 8, 24]);
    assert_eq!(pool.statistics().reserved_bytes, DriverParameters::default().reserve_bytes());
}

#[test]
fn a_class_without_pages_spills_into_smaller_ones() {
    let host = SimulatedHost::new(&HostShape::new().with_zone(0, "Normal", 256 * MIB));
    let policy = HostPoolPolicy::new([class(1, 8), class(4, 32)]).without_growth();
    // 24 MiB of 4 MiB blocks are left, the rest is in pieces of at most 1 MiB.
    let held: Vec<_> = (0..58).map(|_| host.allocate(4 * MIB).unwrap()).collect();
    let whole = HostPool::new(policy.clone(), host.clone()).unwrap();
    let found: Vec<u64> = whole.statistics().classes.iter().map(|class| class.pages).collect();
    assert_eq!(found, [0, 6], "24 MiB: nothing is left for small pages");
    drop(whole);
    let pieces: Vec<_> = (0..24).map(|_| host.allocate(MIB).unwrap()).collect();
    let (kept, freed): (Vec<_>, Vec<_>) = pieces.into_iter().enumerate().partition(|(idx, _)| idx % 4 == 0);
    drop(freed);
    let pool = HostPool::new(policy, host.clone()).unwrap();
    let found: Vec<u64> = pool.statistics().classes.iter().map(|class| class.pages).collect();
    assert_eq!(found, [18, 0]);
    // Chunks of 2 MiB do not exist, yet 3 MiB are served in three.
    let list = pool.allocate_split(3 * MIB).unwrap();
    assert_eq!(list.chunks().len(), 3);
    pool.free(list).unwrap();
    drop((held, kept));
    assert_eq!(pool.reserve().refused_bytes, 0, "with memory again, the reserve is complete");
}

#[test]
fn best_fit_over_the_classes_then_larger_ones_then_growth() {
    let policy = HostPoolPolicy::new([class(1, 1), class(4, 4)]).with_limit_bytes(16 * MIB);
    let pool = pool(policy, 64 * MIB);
    let small = pool.allocate(MIB).unwrap();
    let second = pool.allocate(MIB).unwrap();
    assert_eq!(pages(&pool), [1, 1], "the second is in the larger page");
    let large = pool.allocate(3 * MIB).unwrap();
    let grown = pool.allocate(3 * MIB).unwrap();
    assert_eq!(pages(&pool), [1, 2]);
    // The limit of the pool is 16 MiB, of which 9 are there.
    let more = pool.allocate(4 * MIB).unwrap();
    let error = pool.allocate(4 * MIB).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no contiguous host memory for 4194304 bytes: largest free extent 1048576, 1048576 free of 13631488 \
         reserved"
    );
    [small, second, large, grown, more].into_iter().for_each(|one| pool.free(one).unwrap());
    assert_eq!(pool.statistics().free_bytes, 13 * MIB);
    assert_eq!(pool.trim(), 8 * MIB, "down to the reserve");
    assert_eq!(pages(&pool), [1, 1]);
    assert_eq!(pool.source.counts().live_bytes, 5 * MIB);
}

#[test]
fn growth_first_keeps_large_pages_for_large_requests() {
    let policy = HostPoolPolicy::new([class(1, 1), class(4, 4)]).with_preference(Preference::Growth);
    let pool = pool(policy, 6 * MIB);
    let first = pool.allocate(MIB).unwrap();
    let second = pool.allocate(MIB).unwrap();
    assert_eq!(pages(&pool), [2, 1]);
    let third = pool.allocate(MIB).unwrap();
    assert_eq!(pool.statistics().free_bytes, 3 * MIB, "without growth the large page has to help");
    [first, second, third].into_iter().for_each(|one| pool.free(one).unwrap());
}

#[test]
fn above_all_classes_a_run_of_its_own_comes_and_goes() {
    let pool = pool(HostPoolPolicy::new([class(4, 4)]).with_limit_bytes(16 * MIB), 64 * MIB);
    let run = pool.allocate(9 * MIB + 1).unwrap();
    assert_eq!(pool.statistics().reserved_bytes, 13 * MIB + 4096);
    assert!(pool.allocate(9 * MIB).is_err(), "the limit counts runs too");
    pool.free(run).unwrap();
    assert_eq!(pool.source.counts().live_bytes, 4 * MIB);
}

#[test]
fn a_split_takes_the_largest_extents_and_the_last_chunk_the_rest() {
    let pool = pool(HostPoolPolicy::new([class(1, 2), class(4, 4)]).without_growth(), 64 * MIB);
    let list = pool.allocate_split(5 * MIB + 100).unwrap();
    let sizes: Vec<u64> = list.chunks().iter().map(super::HostChunk::bytes).collect();
    assert_eq!(sizes, [4 * MIB, MIB, 100]);
    assert!(!list.is_contiguous());
    let statistics = pool.statistics();
    assert_eq!((statistics.split_allocations, statistics.split_chunks), (1, 3));
    let error = pool.allocate_split(2 * MIB).unwrap_err();
    assert_eq!(
        error.to_string(),
        "2097152 bytes do not fit 64 chunks of 65536 bytes or more: largest free extent 1044480, 1044480 \
         free of 6291456 reserved"
    );
    assert_eq!(pool.statistics().free_bytes, MIB - 4096, "nothing of the failed split stays taken");
    assert!(pool.allocate_split(MIB - 4096).unwrap().is_contiguous());
}

#[test]
fn a_split_keeps_the_bounds_of_its_policy() {
    let bounded = |max_chunks, min_chunk_bytes| {
        let split = SplitPolicy::Bounded { max_chunks, min_chunk_bytes };
        pool(HostPoolPolicy::new([class(1, 4)]).with_split(split).without_growth(), 64 * MIB)
    };
    assert_eq!(bounded(4, 4096).allocate_split(4 * MIB).unwrap().chunks().len(), 4);
    assert!(bounded(3, 4096).allocate_split(4 * MIB).is_err());
    assert!(bounded(4, 2 * MIB).allocate_split(4 * MIB).is_err());
    let never = HostPoolPolicy::new([class(1, 4)]).with_split(SplitPolicy::Never).without_growth();
    assert!(pool(never, 64 * MIB).allocate_split(2 * MIB).is_err());
}

#[test]
fn a_split_grows_the_pool_as_far_as_it_takes() {
    let policy = HostPoolPolicy { has_own_runs: false, ..HostPoolPolicy::new([class(1, 0), class(4, 0)]) };
    let pool = pool(policy, 7 * MIB);
    let list = pool.allocate_split(7 * MIB).unwrap();
    assert_eq!(pages(&pool), [3, 1]);
    assert_eq!(list.chunks().len(), 4);
    pool.free(list).unwrap();
    assert_eq!(pool.trim(), 7 * MIB);
}

#[test]
fn an_allocation_of_another_pool_is_refused() {
    let [one, other] = [(); 2].map(|()| pool(HostPoolPolicy::new([class(1, 1)]), 64 * MIB));
    let allocation = one.allocate(1).unwrap();
    assert!(matches!(other.free(allocation), Err(HostError::ForeignAllocation { .. })));
    assert!(matches!(one.allocate(0), Err(HostError::InvalidSize { .. })));
    assert!(matches!(one.allocate_split((1 << 47) + 1), Err(HostError::InvalidSize { .. })));
}

#[test]
fn policies_that_contradict_themselves_are_refused() {
    let refused =
        |policy: HostPoolPolicy| HostPool::new(policy, NumberedPages::new(0)).unwrap_err().to_string();
    let cases = [
        HostPoolPolicy::new([class(4, 0), class(1, 0)]),
        HostPoolPolicy::new([ClassPolicy::new(5000)]),
        HostPoolPolicy::new([class(1, 0).with_granule_bytes(32)]),
        HostPoolPolicy::new([class(1, 0).serving_up_to_bytes(2 * MIB)]),
        HostPoolPolicy::new([class(1, 2).with_limit_bytes(MIB)]),
        HostPoolPolicy::new([class(1, 2)]).with_limit_bytes(MIB),
        HostPoolPolicy::new([]).with_split(SplitPolicy::Bounded { max_chunks: 0, min_chunk_bytes: 4096 }),
        HostPoolPolicy::new([]).with_split(SplitPolicy::Bounded { max_chunks: 1, min_chunk_bytes: 5000 }),
    ];
    insta::assert_snapshot!(cases.map(refused).join("\n"), @r"
    page_bytes = 1048576: classes go from the smallest page to the largest
    page_bytes = 5000: a multiple of 4096 up to 2^40
    granule_bytes = 32: a power of two from 64 on that divides the page
    serves_up_to_bytes = 2097152: at most the bytes of a page
    limit_bytes = 1048576: at least what is reserved
    limit_bytes = 1048576: at least what is reserved
    max_chunks = 0: at least 1
    min_chunk_bytes = 5000: a multiple of 4096
    ");
}

#[test]
fn the_report_of_what_the_driver_would_have_failed() {
    let policy = HostPoolPolicy::default().compared_with(DriverParameters::default());
    let pool = pool(policy, 1 << 30);
    let mut live: Vec<HostAllocation> = Vec::new();
    for _ in 0..4 {
        live.extend([2_441_472, 3_292_176, 100_000].map(|bytes| pool.allocate(bytes).unwrap()));
    }
    // 16 pages of 2 MiB are all there are for them.
    live.extend((0..20).map(|_| pool.allocate(2 << 20).unwrap()));
    insta::assert_snapshot!(pool.driver_report().unwrap(), @r"
    with the driver's layout 12 of 32 requests (31323200 bytes) would have failed
      2097152 bytes: 4 times, reserve used up
      2441472 bytes: 4 times, above all classes
      3292176 bytes: 4 times, above all classes
    ");
    live.into_iter().for_each(|one| pool.free(one).unwrap());
    let again = pool.allocate(2 << 20).unwrap();
    assert_eq!(pool.driver_report().unwrap().failed_requests, 12, "what was freed is free there too");
    pool.free(again).unwrap();
}

#[test]
fn the_report_stays_small() {
    let policy = HostPoolPolicy::new([class(16, 16)]).compared_with(DriverParameters::default());
    let pool = pool(policy, 1 << 30);
    for step in 1..=100 {
        let one = pool.allocate((2 << 20) + step).unwrap();
        pool.free(one).unwrap();
    }
    let report = pool.driver_report().unwrap();
    assert_eq!((report.failed_requests, report.by_size.len(), report.other_failures), (100, 64, 36));
    assert!(report.to_string().ends_with("\n  further sizes: 36 times"));
}

/// A source that looks at the lock of the pool that calls it.
#[derive(Debug)]
struct Watchful {
    pages: NumberedPages,
    pool: OnceLock<Weak<HostPool<Arc<Watchful>>>>,
}

impl PageSource for Watchful {
    type Run = NumberedRun;

    fn allocate(&self, bytes: u64) -> Result<NumberedRun, HostError> {
        let pool = self.pool.get().and_then(Weak::upgrade);
        assert!(!pool.is_some_and(|pool| pool.is_locked()), "called under the lock");
        self.pages.allocate(bytes)
    }
}

#[test]
fn the_source_is_never_called_under_the_lock() {
    let source = Arc::new(Watchful { pages: NumberedPages::new(1 << 30), pool: OnceLock::new() });
    let policy = HostPoolPolicy::new([class(1, 2), class(4, 8)]);
    let pool = Arc::new(HostPool::new(policy, Arc::clone(&source)).unwrap());
    source.pool.set(Arc::downgrade(&pool)).unwrap();
    let live: Vec<_> = [MIB, MIB, MIB, 4 * MIB, 4 * MIB, 4 * MIB, 9 * MIB]
        .map(|bytes| pool.allocate(bytes).unwrap())
        .into_iter()
        .chain([pool.allocate_split(30 * MIB).unwrap()])
        .collect();
    live.into_iter().for_each(|one| pool.free(one).unwrap());
    pool.trim();
    pool.reserve();
    assert!(pool.statistics().growths > 4);
}

#[test]
fn a_fragmented_host_is_asked_and_refuses_without_harm() {
    let host = SimulatedHost::new(&HostShape::new().with_zone(0, "Normal", 512 * MIB));
    let pool = HostPool::new(HostPoolPolicy::default(), host.clone()).unwrap();
    host.fill_page_cache(&PageCachePressure::with_seed(5));
    let live: Vec<_> = (0..).map_while(|_| pool.allocate(3_292_176).ok()).collect();
    assert_eq!(live.len(), 24, "one in each page of 4 MiB");
    assert_eq!(pool.statistics().failed_growths, 1);
    live.into_iter().for_each(|one| pool.free(one).unwrap());
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Contiguous(u64),
    Split(u64),
    Free(usize),
    Trim,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1..6 * MIB).prop_map(Step::Contiguous),
        4 => (1..20 * MIB).prop_map(Step::Split),
        6 => any::<usize>().prop_map(Step::Free),
        1 => Just(Step::Trim),
    ];
    prop::collection::vec(step, 1..120)
}

proptest! {
    /// No two live chunks overlap, split lists cover exactly the request, and freeing in any order
    /// returns everything.
    #[test]
    fn chunks_are_disjoint_exact_and_returned(steps in steps()) {
        let policy = HostPoolPolicy::default().with_limit_bytes(160 * MIB);
        let pool = pool(policy, 150 * MIB);
        let mut live: Vec<HostAllocation> = Vec::new();
        for step in steps {
            match step {
                Step::Contiguous(bytes) => live.extend(pool.allocate(bytes)),
                Step::Split(bytes) => live.extend(pool.allocate_split(bytes)),
                Step::Free(_) if live.is_empty() => {}
                Step::Free(idx) => {
                    let idx = idx % live.len();
                    pool.free(live.swap_remove(idx)).unwrap();
                }
                Step::Trim => {
                    pool.trim();
                }
            }
            for allocation in &live {
                let covered: u64 = allocation.chunks().iter().map(super::HostChunk::bytes).sum();
                prop_assert_eq!(covered, allocation.bytes());
            }
            let chunks = live.iter().flat_map(HostAllocation::chunks);
            let mut ranges: Vec<(u64, u64)> =
                chunks.map(|chunk| (chunk.address(), chunk.address() + chunk.bytes())).collect();
            ranges.sort_unstable();
            prop_assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0));
            let statistics = pool.statistics();
            prop_assert_eq!(statistics.reserved_bytes, pool.source.counts().live_bytes);
            prop_assert!(statistics.reserved_bytes <= 160 * MIB);
            let live_bytes: u64 = live.iter().map(HostAllocation::bytes).sum();
            prop_assert_eq!(statistics.live_bytes, live_bytes);
            prop_assert!(statistics.free_bytes + live_bytes <= statistics.reserved_bytes);
        }
        live.into_iter().try_for_each(|one| pool.free(one)).unwrap();
        let statistics = pool.statistics();
        prop_assert_eq!(statistics.free_bytes, statistics.reserved_bytes);
        pool.trim();
        prop_assert_eq!(pool.source.counts().live_bytes, 128 * MIB);
        let source = pool.source.clone();
        drop(pool);
        prop_assert_eq!(source.counts().live_runs, 0);
    }
}

//! The simulated host against what is known of buddy allocators.

use proptest::prelude::*;

use super::{HostShape, PageCachePressure, SimulatedHost, SimulatedRun};
use crate::{PageRun, PageSource};

fn host(mib: u64) -> SimulatedHost {
    SimulatedHost::new(&HostShape::new().with_zone(0, "Normal", mib << 20))
}

#[track_caller]
fn check(host: &SimulatedHost, counts: [u64; 11]) {
    let text = host.buddyinfo();
    let found: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert_eq!(found, counts, "{text}");
}

#[test]
fn a_fresh_host_has_only_blocks_of_the_largest_order() {
    check(&host(16), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4]);
    assert_eq!(host(19).free_bytes(), 16 << 20);
    assert!(host(0).allocate(4096).is_err());
}

#[test]
fn a_request_takes_a_whole_block_and_leaves_the_upper_halves() {
    let host = host(8);
    let run = host.allocate(2_441_472).unwrap();
    assert_eq!((run.address(), run.bytes()), (0, 2_445_312));
    check(&host, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    let page = host.allocate(4096).unwrap();
    check(&host, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0]);
    drop((run, page));
    check(&host, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    for bytes in [0, (4 << 20) + 1, u64::MAX] {
        assert!(host.allocate(bytes).is_err());
    }
}

#[test]
fn nodes_and_zones_are_asked_in_order() {
    let shape = HostShape::new().with_zone(0, "DMA32", 4 << 20).with_zone(0, "Normal", 4 << 20).with_zone(
        1,
        "Normal",
        4 << 20,
    );
    let host = SimulatedHost::new(&shape);
    let near: Vec<SimulatedRun> = (0..3).map(|_| host.on_node(0).allocate(4 << 20).unwrap()).collect();
    let addresses: Vec<u64> = near.iter().map(PageRun::address).collect();
    assert_eq!(addresses, [4 << 20, 0, 8 << 20]);
    drop(near);
    assert_eq!(host.on_node(1).allocate(4096).unwrap().address(), 8 << 20);
}

#[test]
fn the_watermark_keeps_its_pages() {
    let shape = HostShape::new().with_zone(0, "Normal", 8 << 20).with_min_free_bytes(4 << 20);
    let host = SimulatedHost::new(&shape);
    let first = host.allocate(4 << 20).unwrap();
    assert!(host.allocate(4096).is_err());
    drop(first);
    assert!(host.allocate(4096).is_ok());
}

#[test]
fn pressure_leaves_gigabytes_free_and_nothing_contiguous() {
    let host = SimulatedHost::new(&HostShape::inf1_2xlarge());
    host.fill_page_cache(&PageCachePressure::with_seed(7));
    assert!(host.free_bytes() > 5 << 30, "{}", host.free_bytes());
    let text = host.buddyinfo();
    let normal = text.lines().last().unwrap();
    let counts: Vec<u64> = normal.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert_eq!(counts.len(), 11);
    assert_eq!(counts[6..], [0; 5], "{text}");
}

#[test]
fn dropping_caches_alone_does_not_help_where_pages_are_pinned_and_compaction_does_its_part() {
    let free = host(256);
    free.fill_page_cache(&PageCachePressure::with_seed(3));
    free.drop_caches();
    check(&free, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64]);

    let compacted = host(256);
    compacted.fill_page_cache(&PageCachePressure::with_seed(3));
    let free_bytes = compacted.free_bytes();
    compacted.compact();
    assert_eq!(compacted.free_bytes(), free_bytes, "compaction frees nothing");
    let blocks = (0..).map_while(|_| compacted.allocate(4 << 20).ok()).collect::<Vec<_>>().len() as u64;
    assert_eq!(blocks, free_bytes / (4 << 20), "and loses nothing");

    let pinned = host(256);
    pinned.fill_page_cache(&PageCachePressure::with_seed(3).with_unmovable_per_mille(8));
    pinned.drop_caches();
    pinned.compact();
    assert!(pinned.free_bytes() > 253 << 20);
    assert!(pinned.allocate(4 << 20).is_err(), "one page in 125 is enough");
}

#[test]
fn pressure_is_the_same_for_the_same_seed_only() {
    let after = |seed| {
        let host = host(64);
        host.fill_page_cache(&PageCachePressure::with_seed(seed));
        host.buddyinfo()
    };
    assert_eq!(after(1), after(1));
    assert_ne!(after(1), after(2));
}

#[test]
fn the_kernels_files_read_as_they_do_on_a_real_host() {
    let shape = HostShape::new().with_zone(0, "DMA32", 8 << 20).with_zone(0, "Normal", 12 << 20);
    let host = SimulatedHost::new(&shape.with_min_free_bytes(1 << 20));
    let _page = host.allocate(4096);
    insta::assert_snapshot!(host.buddyinfo() + &host.zoneinfo() + &host.meminfo());
}

proptest! {
    /// Any requests, freed in any order: no overlap while they live, and a host as good as new after.
    #[test]
    fn everything_merges_back(sizes in prop::collection::vec(1_u64..(4 << 20), 1..40), order in any::<u64>()) {
        let host = host(64);
        let mut runs: Vec<SimulatedRun> = sizes.iter().filter_map(|size| host.allocate(*size).ok()).collect();
        let mut ranges: Vec<(u64, u64)> = runs.iter().map(|run| (run.address(), run.bytes())).collect();
        ranges.sort_unstable();
        prop_assert!(ranges.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0));
        let mut random = super::random::Random::new(order);
        while !runs.is_empty() {
            let n_runs = runs.len() as u64;
            runs.swap_remove(usize::try_from(random.next() % n_runs).unwrap());
        }
        prop_assert_eq!(host.buddyinfo(), SimulatedHost::new(&HostShape::new().with_zone(0, "Normal", 64 << 20)).buddyinfo());
    }
}

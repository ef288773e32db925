//! The report's own workload on the simulated host: four containers load models while page cache fills
//! memory. The driver's layout fails soon; the pool, with the same bytes reserved, never does.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem_host::{
    ClassPolicy, DriverParameters, DriverPool, HostError, HostPool, HostPoolPolicy, HostShape,
    PageCachePressure, SimulatedHost,
};

/// Host tensors and rings of one model: the two sizes of the report, and smaller ones around them.
const MODEL: [u64; 8] = [2_441_472, 3_292_176, 1 << 20, 524_288, 262_144, 100_000, 65_536, 4096];

const N_CONTAINERS: usize = 4;
const N_ROUNDS: u64 = 1000;

fn host() -> SimulatedHost {
    SimulatedHost::new(&HostShape::new().with_zone(0, "DMA32", 64 << 20).with_zone(0, "Normal", 192 << 20))
}

/// What happens between two rounds: images are built, and files are evicted here and there.
fn pressure(round: u64) -> PageCachePressure {
    PageCachePressure::with_seed(0x4B34 + round).with_evicted_per_mille(300).with_unmovable_per_mille(2)
}

/// One round of loads; what was loaded is unloaded at the end.
fn driver_round(driver: &mut DriverPool<SimulatedHost>) -> Result<(), HostError> {
    let mut live = Vec::new();
    for _ in 0..N_CONTAINERS {
        for bytes in MODEL {
            live.push(driver.allocate(bytes)?);
        }
    }
    live.into_iter().for_each(|chunk| driver.free(chunk));
    Ok(())
}

fn pool_round(pool: &HostPool<SimulatedHost>, is_split: bool) -> Result<(), HostError> {
    let mut live = Vec::new();
    for _ in 0..N_CONTAINERS {
        for bytes in MODEL {
            let allocation = if is_split { pool.allocate_split(bytes) } else { pool.allocate(bytes) };
            live.push(allocation?);
        }
    }
    live.into_iter().try_for_each(|allocation| pool.free(allocation))
}

#[test]
fn the_drivers_layout_fails_once_memory_is_fragmented() {
    let host = host();
    let mut driver = DriverPool::load(host.clone(), DriverParameters::default()).unwrap();
    assert!(driver.statistics().is_complete());
    driver_round(&mut driver).unwrap(); // a fresh host
    host.fill_page_cache(&pressure(0));
    let free_bytes = host.free_bytes();
    let error = driver_round(&mut driver).unwrap_err();
    assert!(free_bytes > 32 << 20, "{free_bytes} bytes are free");
    // In the first round after it, with the first tensor above 2 MiB.
    assert!(matches!(error, HostError::DriverOutOfMemory { requested_bytes: 2_441_472, .. }), "{error}");
}

#[test]
fn what_the_report_did_about_it_helps() {
    let host = host();
    let mut driver = DriverPool::load(host.clone(), DriverParameters::default()).unwrap();
    host.fill_page_cache(&pressure(0).with_unmovable_per_mille(0));
    assert!(driver_round(&mut driver).is_err());
    host.drop_caches();
    host.compact();
    driver_round(&mut driver).unwrap();
}

#[test]
fn the_pool_serves_a_thousand_rounds_with_the_same_bytes() {
    let host = host();
    let policy = HostPoolPolicy::default().without_growth().compared_with(DriverParameters::default());
    let pool = HostPool::new(policy, host.clone()).unwrap();
    assert_eq!(pool.statistics().reserved_bytes, DriverParameters::default().reserve_bytes());
    for round in 0..N_ROUNDS {
        // Memory does not become whole again by itself: filling it every tenth round is enough.
        if round % 10 == 0 {
            host.fill_page_cache(&pressure(round));
        }
        pool_round(&pool, false).unwrap();
    }
    let report = pool.driver_report().unwrap();
    assert_eq!(report.requests, N_ROUNDS * 4 * MODEL.len() as u64);
    assert_eq!(report.failed_requests, N_ROUNDS * 4 * 2, "both large tensors, each time");
    assert_eq!(pool.statistics().free_bytes, pool.statistics().reserved_bytes);
}

#[test]
fn splitting_alone_is_enough_with_the_drivers_own_classes() {
    let host = host();
    let class = |page_bytes| ClassPolicy::new(page_bytes).with_reserve_bytes(32 << 20);
    let policy = HostPoolPolicy::new([256 << 10, 512 << 10, 1 << 20, 2 << 20].map(class)).without_growth();
    let pool = HostPool::new(policy, host.clone()).unwrap();
    host.fill_page_cache(&pressure(0));
    assert!(pool.allocate(2_441_472).unwrap_err().is_out_of_memory(), "no class is that large");
    for _ in 0..N_ROUNDS {
        pool_round(&pool, true).unwrap();
    }
    let statistics = pool.statistics();
    assert_eq!(statistics.split_allocations, N_ROUNDS * 4 * 2);
    assert_eq!(statistics.split_chunks, N_ROUNDS * 4 * 4, "two chunks each");
}

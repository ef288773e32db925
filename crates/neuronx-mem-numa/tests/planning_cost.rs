//! What a plan for 4,096 ranks allocates: a set of bits a rank and next to nothing else. A text for each
//! CPU would be a hundred times as much.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::alloc::System;
use std::fmt::Write;

use neuronx_mem_numa::{AffinityMode, CpuSet, Host, NodeId, Planner, SystemRoot, Topology};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const N_NODES: u32 = 16;
const N_DEVICES: u32 = 1024;
const N_CPUS: u32 = 4096;

#[test]
fn a_rank_costs_one_allocation_of_its_set() {
    let mut json = String::from("[");
    for device in 0..N_DEVICES {
        let comma = if device == 0 { "" } else { "," };
        write!(
            json,
            r#"{comma}{{"neuron_device": {device}, "numa_node": "{}", "nc_count": 4}}"#,
            device % N_NODES
        )
        .unwrap();
    }
    json.push(']');
    let folder = tempfile::tempdir().unwrap();
    let topology = Topology::from_json(json.as_bytes(), &SystemRoot::new(folder.path())).unwrap();
    let cpus = |node: u32| -> CpuSet {
        let n_cpus = N_CPUS / N_NODES;
        format!("{}-{}", node * n_cpus, (node + 1) * n_cpus - 1).parse().unwrap()
    };
    let nodes = (0..N_NODES).map(|node| (NodeId::new(node).unwrap(), cpus(node))).collect();
    let host = Host { nodes, allowed: "0-4095".parse().unwrap(), ..Host::default() };

    let region = Region::new(ALLOCATOR);
    let planner = Planner::new(&topology, &host, AffinityMode::Node);
    let n_pinned = planner.bindings().filter(Result::is_ok).count();
    let change = region.change();

    assert_eq!(n_pinned, 4096);
    let n_allocations = change.allocations + change.reallocations;
    assert!(n_allocations <= 4096 + 8 * N_NODES as usize, "{n_allocations} allocations");
    // 4096 bits are 512 bytes; half of that on average, as sets end with their last CPU.
    let per_rank = change.bytes_allocated / 4096;
    assert!(per_rank <= 600, "{per_rank} bytes a rank");
}

//! Times the plan for 4,096 ranks in every mode, and prints medians.
//!
//! `cargo run --release -p neuronx-mem-numa --example numa_speed -- [REPETITIONS]`. The machine is made up:
//! 1,024 devices with four logical cores each, 16 nodes, and 8,192 CPUs, the most that Linux can have:
//! two to a physical core, eight physical cores to a cache.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "the result of the program")]

use std::env;
use std::error::Error;
use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

use neuronx_mem_numa::{AffinityMode, CpuId, CpuPlace, CpuSet, Host, NodeId, Planner, SystemRoot, Topology};

const N_DEVICES: u32 = 1024;
const N_NODES: u32 = 16;
const N_CPUS: u32 = 8192;

fn main() -> Result<(), Box<dyn Error>> {
    let n_repetitions = env::args().nth(1).map_or(Ok(51), |text| text.parse())?;
    let (topology, host) = (topology()?, host()?);
    println!("{:<14} {:>12} {:>10}", "mode", "median", "ranks");
    for mode in AffinityMode::ALL {
        let mut times: Vec<Duration> = Vec::with_capacity(n_repetitions);
        let mut n_ranks = 0;
        for _ in 0..n_repetitions.max(1) {
            let start = Instant::now();
            let planner = Planner::new(black_box(&topology), black_box(&host), mode);
            n_ranks = planner.bindings().filter(|binding| black_box(binding).is_ok()).count();
            times.push(start.elapsed());
        }
        times.sort_unstable();
        println!("{mode:<14} {:>9} µs {n_ranks:>10}", times[times.len() / 2].as_micros());
    }
    Ok(())
}

fn topology() -> Result<Topology, Box<dyn Error>> {
    let mut json = String::from("[");
    for device in 0..N_DEVICES {
        let comma = if device == 0 { "" } else { "," };
        let node = device % N_NODES;
        write!(json, r#"{comma}{{"neuron_device": {device}, "numa_node": "{node}", "nc_count": 4}}"#)?;
    }
    json.push(']');
    Ok(Topology::from_json(json.as_bytes(), &SystemRoot::default())?)
}

fn host() -> Result<Host, Box<dyn Error>> {
    let per_node = N_CPUS / N_NODES;
    let mut host = Host { allowed: format!("0-{}", N_CPUS - 1).parse()?, ..Host::default() };
    for node in 0..N_NODES {
        let cpus: CpuSet = format!("{}-{}", node * per_node, (node + 1) * per_node - 1).parse()?;
        host.nodes.insert(NodeId::new(node).ok_or("no such node")?, cpus);
    }
    let place = |number: u32| {
        let first_of = |n_cpus: u32| CpuId::new(number / n_cpus * n_cpus);
        let package = Some(number / (2 * per_node));
        CpuId::new(number).map(|cpu| (cpu, CpuPlace { package, core: first_of(2), cache: first_of(16) }))
    };
    host.layout = Some((0..N_CPUS).filter_map(place).collect());
    Ok(host)
}

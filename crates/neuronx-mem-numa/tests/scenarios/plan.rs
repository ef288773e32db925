//! Which CPUs each rank gets, on machines of several kinds.

use std::collections::BTreeMap;

use neuronx_mem_numa::{AffinityMode, Binding, CpuSet, Host, LocalRank, PlanError, Planner, Topology};

use crate::machine::Machine;

fn bindings(topology: &Topology, host: &Host, mode: AffinityMode) -> Vec<Binding> {
    Planner::new(topology, host, mode).bindings().map(Result::unwrap).collect()
}

/// `ranks -> node: CPUs`, neighbours with the same place in one line.
fn lines(bindings: &[Binding]) -> String {
    let mut lines: Vec<(u32, u32, String)> = Vec::new();
    for Binding { rank, node, cpus, .. } in bindings {
        let place = format!("node {node}: {cpus}");
        match lines.last_mut() {
            Some((_, last, old)) if *old == place => *last = rank.0,
            _ => lines.push((rank.0, rank.0, place)),
        }
    }
    lines.iter().map(|(first, last, place)| format!("{first}-{last} {place}\n")).collect()
}

fn machine(name: &str) -> (Machine, Topology, Host) {
    let machine = Machine::of(name);
    let (topology, host) = (machine.topology(name), machine.host());
    (machine, topology, host)
}

#[test]
fn trn2_ranks_0_to_15_and_48_to_63_are_on_node_1() {
    let (_machine, topology, host) = machine("trn2.48xlarge");
    let bindings = bindings(&topology, &host, AffinityMode::Node);
    insta::assert_snapshot!(lines(&bindings), @"
    0-15 node 1: 48-95,144-191
    16-47 node 0: 0-47,96-143
    48-63 node 1: 48-95,144-191
    ");
    assert!(
        bindings.iter().all(|binding| binding.device == binding.rank.0 / 4 && binding.core == binding.rank.0)
    );
}

#[test]
fn node_mode_on_the_other_machines() {
    let (_machine, topology, host) = machine("trn1.32xlarge");
    insta::assert_snapshot!(lines(&bindings(&topology, &host, AffinityMode::Node)), @"
    0-3 node 0: 0-31,64-95
    4-7 node 1: 32-63,96-127
    8-11 node 0: 0-31,64-95
    12-15 node 1: 32-63,96-127
    16-19 node 0: 0-31,64-95
    20-23 node 1: 32-63,96-127
    24-27 node 0: 0-31,64-95
    28-31 node 1: 32-63,96-127
    ");
    let (_machine, topology, host) = machine("trn1.2xlarge");
    insta::assert_snapshot!(lines(&bindings(&topology, &host, AffinityMode::Node)), @"0-1 node 0: 0-7");
}

#[test]
fn socket_mode_takes_all_nodes_of_the_package() {
    let (_machine, topology, host) = machine("inf2.48xlarge");
    insta::assert_snapshot!(lines(&bindings(&topology, &host, AffinityMode::Socket)), @"
    0-1 node 2: 48-95,144-191
    2-3 node 3: 48-95,144-191
    4-5 node 2: 48-95,144-191
    6-7 node 3: 48-95,144-191
    8-9 node 2: 48-95,144-191
    10-11 node 3: 48-95,144-191
    12-15 node 1: 0-47,96-143
    16-21 node 0: 0-47,96-143
    22-23 node 1: 0-47,96-143
    ");
}

#[test]
fn exclusive_mode_shares_nothing_and_wastes_nothing() {
    for name in ["trn1.32xlarge", "inf2.48xlarge", "trn2.48xlarge", "trn1.2xlarge"] {
        let (_machine, topology, host) = machine(name);
        let mut of_node: BTreeMap<_, CpuSet> = BTreeMap::new();
        for binding in bindings(&topology, &host, AffinityMode::Exclusive) {
            let taken = of_node.entry(binding.node).or_default();
            assert!(!taken.intersects(&binding.cpus), "{name}: {binding:?}");
            taken.extend_from(&binding.cpus);
        }
        assert_eq!(of_node, host.nodes, "{name}");
    }
}

#[test]
fn exclusive_mode_gives_the_rest_to_the_first() {
    let (_machine, topology, host) = machine("trn2.48xlarge");
    let bindings = bindings(&topology, &host, AffinityMode::Exclusive);
    let of = |rank: usize| bindings[rank].cpus.to_string();
    // 48 physical cores for 32 logical ones: two each for the first 16 on the node.
    assert_eq!([of(0), of(15)], ["48-49,144-145", "78-79,174-175"]);
    assert_eq!([of(48), of(63)], ["80,176", "95,191"]);
    assert_eq!([of(16), of(31), of(32), of(47)], ["0-1,96-97", "30-31,126-127", "32,128", "47,143"]);
}

#[test]
fn exclusive_mode_needs_a_physical_core_for_each_logical_one() {
    let (machine, topology, _) = machine("trn2.48xlarge");
    // 31 physical cores on node 0, and both halves of all of node 1.
    machine.allow("0-30,48-95,144-191", "0-1");
    let host = machine.host();
    let planner = Planner::new(&topology, &host, AffinityMode::Exclusive);
    assert!(planner.binding(LocalRank(0)).is_ok());
    insta::assert_snapshot!(planner.binding(LocalRank(16)).unwrap_err(), @"31 allowed physical cores on NUMA node 0 are too few for 32 logical cores");
}

#[test]
fn core_complex_mode_goes_round_the_caches_of_the_node() {
    let (_machine, topology, host) = machine("trn2.48xlarge");
    let bindings = bindings(&topology, &host, AffinityMode::CoreComplex);
    let of = |rank: usize| bindings[rank].cpus.to_string();
    assert_eq!(
        [of(0), of(1), of(5), of(6)],
        ["48-55,144-151", "56-63,152-159", "88-95,184-191", "48-55,144-151"]
    );
    // Rank 48 is the 17th on its node, which has six caches.
    assert_eq!(of(48), of(4));
}

#[test]
fn core_complex_mode_prefers_caches_with_more_allowed_cpus() {
    let (machine, topology, _) = machine("trn2.48xlarge");
    machine.allow("50-63,160-161", "1");
    let host = machine.host();
    let planner = Planner::new(&topology, &host, AffinityMode::CoreComplex);
    let places = [0, 1, 2, 3].map(|rank| planner.binding(LocalRank(rank)).unwrap().cpus.to_string());
    assert_eq!(places, ["56-63", "50-55", "160-161", "56-63"]);
}

#[test]
fn only_allowed_cpus_are_given() {
    let (machine, topology, _) = machine("trn2.48xlarge");
    machine.allow("40-50", "0-1");
    let host = machine.host();
    for mode in [AffinityMode::Node, AffinityMode::Socket] {
        let planner = Planner::new(&topology, &host, mode);
        assert_eq!(planner.binding(LocalRank(0)).unwrap().cpus.to_string(), "48-50", "{mode}");
        assert_eq!(planner.binding(LocalRank(20)).unwrap().cpus.to_string(), "40-47", "{mode}");
    }
}

#[test]
fn ranks_without_a_place_say_why() {
    let (machine, topology, _) = machine("trn2.48xlarge");
    machine.allow("40-47", "0");
    let host = machine.host();
    for mode in AffinityMode::ALL {
        let error = Planner::new(&topology, &host, mode).binding(LocalRank(3)).unwrap_err();
        assert_eq!(error.to_string(), "no CPU of NUMA node 1 is allowed here; allowed are 40-47", "{mode}");
    }
    let planner = Planner::new(&topology, &host, AffinityMode::Node);
    insta::assert_snapshot!(planner.binding(LocalRank(64)).unwrap_err(), @"local rank 64 has no logical core: there are 64");
    insta::assert_snapshot!(planner.binding(LocalRank(u32::MAX)).unwrap_err(), @"local rank 4294967295 has no logical core: there are 64");
    let unknown = Machine::bare().topology("old_tool");
    let error = Planner::new(&unknown, &host, AffinityMode::Node).binding(LocalRank(5)).unwrap_err();
    assert_eq!(error, PlanError::NodeUnknown { device: 2 });
    assert_eq!(error.to_string(), "device 2: nothing says which NUMA node it is on");
    let nothing = Host::default();
    let error = Planner::new(&topology, &nothing, AffinityMode::Node).binding(LocalRank(0)).unwrap_err();
    assert_eq!(error.to_string(), "no CPU of NUMA node 1 is allowed here; allowed are none");
}

#[test]
fn modes_that_need_more_say_what() {
    let (_machine, topology, host) = machine("trn2.48xlarge");
    let blind = Host { layout: None, ..host };
    let error = |mode| Planner::new(&topology, &blind, mode).binding(LocalRank(0)).unwrap_err().to_string();
    let rest = "of each CPU, which nothing here says";
    assert_eq!(error(AffinityMode::Socket), format!("mode socket needs to know the package {rest}"));
    assert_eq!(
        error(AffinityMode::Exclusive),
        format!("mode exclusive needs to know the physical core {rest}")
    );
    assert_eq!(error(AffinityMode::CoreComplex), format!("mode core-complex needs to know the cache {rest}"));
    assert!(Planner::new(&topology, &blind, AffinityMode::Node).binding(LocalRank(0)).is_ok());
}

#[test]
fn without_sysfs_the_tool_says_which_cpus_a_node_has() {
    let machine = Machine::bare();
    machine.allow("0-63", "0-1");
    let (topology, host) = (machine.topology("trn2.48xlarge"), machine.host());
    let binding = Planner::new(&topology, &host, AffinityMode::Node).binding(LocalRank(0)).unwrap();
    assert_eq!(binding.cpus.to_string(), "48-63");
}

#[test]
fn modes_have_the_names_of_torchrun() {
    let names = AffinityMode::ALL.map(AffinityMode::name);
    assert_eq!(names, ["node", "socket", "exclusive", "core-complex"]);
    assert!(AffinityMode::ALL.iter().all(|mode| AffinityMode::by_name(mode.name()) == Some(*mode)));
    assert_eq!((AffinityMode::by_name("Node"), AffinityMode::default()), (None, AffinityMode::Node));
}

//! Whether a process is where it belongs, from the files of `/proc`.

use neuronx_mem_numa::{
    LocalRank, NodeId, NotPinned, NumaError, PageReport, ProcessRef, StatusInputs, StatusReport, Topology,
};

use crate::machine::Machine;

fn inputs<'a>(
    root: &'a neuronx_mem_numa::SystemRoot,
    topology: &'a Topology,
    rank: Option<u32>,
) -> StatusInputs<'a> {
    StatusInputs {
        root,
        process: ProcessRef::Own,
        is_enabled: true,
        rank: rank.map(LocalRank),
        topology: Ok(topology),
    }
}

/// A trn2.48xlarge whose process has threads with these affinities, the main one first.
fn machine(affinities: &[&str]) -> Machine {
    let machine = Machine::of("trn2.48xlarge");
    machine.allow(affinities[0], "0-1");
    for (thread, cpus) in affinities.iter().enumerate() {
        machine.write(
            &format!("proc/self/task/{}/status", 100 + thread),
            &format!("Cpus_allowed_list:\t{cpus}"),
        );
    }
    machine
}

#[track_caller]
fn check(affinities: &[&str], rank: Option<u32>, reason: Option<&str>, outside: (usize, usize)) {
    let machine = machine(affinities);
    let (root, topology) = (machine.root(), machine.topology("trn2.48xlarge"));
    let report = StatusReport::read(&inputs(&root, &topology, rank));
    let said = report.reason.as_ref().map(ToString::to_string);
    assert_eq!((said.as_deref(), report.status.numa_pinned), (reason, reason.is_none()));
    assert_eq!((report.n_threads_outside, report.n_threads), outside);
    assert_eq!(report.status.current_affinity.to_string(), affinities[0]);
    assert_eq!((report.status.topology_available, report.status.num_devices), (true, 16));
}

#[test]
fn pinned_is_who_runs_on_the_node_of_its_device() {
    check(&["48-95,144-191"], Some(0), None, (0, 1));
    check(&["50-51", "50", "48-95"], Some(63), None, (0, 3));
    // A thread with an affinity of its own has it on purpose.
    check(&["48-95", "48-95", "3"], Some(0), None, (1, 3));
    check(&["0-47,96-143", "0-47,96-143"], Some(16), None, (0, 2));
}

#[test]
fn who_is_not_pinned_learns_why() {
    let all = "it may run outside NUMA node 1, on CPUs 0-47,96-143";
    check(&["0-191", "0-191"], Some(0), Some(all), (2, 2));
    check(&["0-47", "50"], Some(0), Some("it may run outside NUMA node 1, on CPUs 0-47"), (1, 2));
    check(&["0-191"], None, Some("the process has no local rank"), (0, 1));
    check(&["0-191"], Some(64), Some("local rank 64 has no logical core: there are 64"), (0, 1));
}

#[test]
fn a_switch_that_is_off_is_the_reason_unless_something_else_pinned() {
    let report = |affinity| {
        let machine = machine(&[affinity]);
        let (root, topology) = (machine.root(), machine.topology("trn2.48xlarge"));
        StatusReport::read(&StatusInputs { is_enabled: false, ..inputs(&root, &topology, Some(0)) })
    };
    let (off, by_hand) = (report("0-191"), report("48-50"));
    assert_eq!(off.reason, Some(NotPinned::Disabled));
    assert_eq!((off.status.numa_pin_enabled, off.status.numa_pinned), (false, false));
    assert_eq!((by_hand.status.numa_pin_enabled, by_hand.status.numa_pinned), (false, true));
}

#[test]
fn without_a_topology_there_are_no_devices() {
    let machine = machine(&["0-191"]);
    let (root, error) = (machine.root(), NumaError::ToolMissing);
    let report = StatusReport::read(&StatusInputs {
        root: &root,
        process: ProcessRef::Own,
        is_enabled: true,
        rank: Some(LocalRank(0)),
        topology: Err(&error),
    });
    assert_eq!((report.status.topology_available, report.status.num_devices), (false, 0));
    let reason = report.reason.unwrap();
    assert_eq!(reason.name(), "no_topology");
    assert_eq!(reason.to_string(), "no topology: neuron-ls is neither on PATH nor in /opt/aws/neuron/bin");
    assert_eq!((report.binding, report.pages), (None, None));
}

#[cfg(feature = "serde")]
#[test]
fn the_keys_are_those_of_the_guidelines() {
    // Every module of the test needs what serde's derive makes; the text is checked by hand.
    let machine = machine(&["48-50"]);
    let (root, topology) = (machine.root(), machine.topology("trn2.48xlarge"));
    let status = StatusReport::read(&inputs(&root, &topology, Some(0))).status;
    let json = serde_json::to_string(&status).unwrap();
    assert_eq!(
        json,
        r#"{"numa_pin_enabled":true,"numa_pinned":true,"current_affinity":[48,49,50],"topology_available":true,"num_devices":16}"#
    );
}

const MAPS: &str = "\
55c000 default file=/usr/bin/python3.11 mapped=40 mapmax=64 N0=40 kernelpagesize_kB=4
55d000 default file=/usr/bin/python3.11 anon=3 dirty=3 mapped=3 N0=1 N1=2 kernelpagesize_kB=4
55e000 default heap anon=1000 dirty=1000 active=0 N0=250 N1=750 kernelpagesize_kB=4
7f0000 default anon=2 dirty=2 N0=2 kernelpagesize_kB=2048
7f8000 bind:1 anon=512 dirty=512 N1=512 kernelpagesize_kB=4
7fa000 default file=/dev/shm/psm_1 dirty=8 mapped=8 N1=8 kernelpagesize_kB=4
7fe000 default stack anon=4 dirty=4 N0=4
7ff000 default
N0=999 nonsense Nx=1 N=4 N5000=1 N1=x
";

#[test]
fn pages_on_the_wrong_node_are_counted() {
    let machine = Machine::bare();
    machine.write("proc/77/numa_maps", MAPS);
    let root = machine.root();
    let report = PageReport::read(&root, ProcessRef::Pid(77), NodeId::new(1)).unwrap();
    let pages = |map: &std::collections::BTreeMap<NodeId, neuronx_mem_numa::Pages>| {
        map.iter().map(|(node, pages)| (node.get(), pages.count, pages.bytes)).collect::<Vec<_>>()
    };
    let huge = 2 << 21;
    assert_eq!(pages(&report.own), [(0, 257, 255 * 4096 + huge), (1, 1264, 1264 * 4096)]);
    assert_eq!(pages(&report.files), [(0, 40, 40 * 4096), (1, 8, 8 * 4096)]);
    let wrong = report.on_wrong_node.unwrap();
    assert_eq!((wrong.count, wrong.bytes), (257, 255 * 4096 + huge));
    assert_eq!(PageReport::read(&root, ProcessRef::Pid(77), None).unwrap().on_wrong_node, None);
    assert_eq!(PageReport::read(&root, ProcessRef::Pid(78), None), None);
}

#[test]
fn this_process_has_a_status_too() {
    let machine = Machine::bare();
    let topology = machine.topology("trn1.2xlarge");
    let root = neuronx_mem_numa::SystemRoot::default();
    let report = StatusReport::read(&inputs(&root, &topology, Some(0)));
    assert!(!report.status.current_affinity.is_empty());
    assert!(report.n_threads >= 1);
}

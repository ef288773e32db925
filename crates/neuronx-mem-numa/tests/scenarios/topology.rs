//! What `neuron-ls` and `/sys` say, and what comes of texts that say something else.

use neuronx_mem_numa::{
    AffinityMode, Bdf, CpuId, CpuPlace, Host, Lnc, LocalRank, NodeSource, NumaError, Planner, ProcessRef,
    Topology,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::machine::{Machine, output_of};

/// One line for each device.
fn lines(topology: &Topology) -> String {
    let line = |device: &neuronx_mem_numa::Device| {
        let bdf = device.bdf.map_or("-".to_owned(), |bdf| bdf.to_string());
        let node = device.node.map_or("-".to_owned(), |node| node.to_string());
        let lnc = device.lnc.map_or("-".to_owned(), |lnc| lnc.to_string());
        format!(
            "{} {bdf} node {node} ({}) cpus {} cores {} {:?} lnc {lnc} bytes {}\n",
            device.index,
            device.node_source.name(),
            device.cpus,
            device.n_cores,
            device.core_ids,
            device.memory_bytes.unwrap_or(0),
        )
    };
    topology.devices().iter().map(line).collect()
}

#[track_caller]
fn nodes(topology: &Topology) -> Vec<u32> {
    topology.devices().iter().map(|device| device.node.unwrap().get()).collect()
}

fn read(json: &str) -> Result<Topology, NumaError> {
    Topology::from_json(json.as_bytes(), &Machine::bare().root())
}

#[track_caller]
fn check_bad(json: &str, message: &str) {
    assert_eq!(read(json).unwrap_err().to_string(), message, "{json}");
}

#[test]
fn trn1_32xlarge_has_two_nodes_in_pairs_of_devices() {
    let topology = Machine::of("trn1.32xlarge").topology("trn1.32xlarge");
    assert_eq!(nodes(&topology), [0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1]);
    assert_eq!(topology.devices()[0].bdf, "0000:10:1c.0".parse::<Bdf>().ok());
    assert_eq!(topology.devices()[2].cpus.to_string(), "32-63,96-127");
    assert_eq!((topology.cores().len(), topology.instance_type()), (32, None));
    assert!(
        topology.devices().iter().all(|device| device.lnc.is_none() && device.memory_bytes == Some(32 << 30))
    );
}

#[test]
fn inf2_48xlarge_has_four_nodes() {
    let topology = Machine::of("inf2.48xlarge").topology("inf2.48xlarge");
    assert_eq!(nodes(&topology), [2, 3, 2, 3, 2, 3, 1, 1, 0, 0, 0, 1]);
    assert_eq!(topology.cores().len(), 24);
}

#[test]
fn trn2_48xlarge_has_64_cores_at_lnc_2_and_128_at_lnc_1() {
    let topology = Machine::of("trn2.48xlarge").topology("trn2.48xlarge");
    assert_eq!(nodes(&topology), [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1]);
    assert_eq!((topology.cores().len(), topology.instance_type()), (64, Some("trn2.48xlarge")));
    assert_eq!(topology.clone().with_lnc(Lnc::Two), topology);
    let fine = topology.clone().with_lnc(Lnc::One);
    assert_eq!((fine.cores().len(), fine.devices()[15].n_cores), (128, 8));
    let (core, device) = fine.core_of(LocalRank(127)).unwrap();
    assert_eq!((core.id, device.index), (127, 15));
    assert_eq!(fine.core_of(LocalRank(128)), None);
    // The ids that are made are those that the tool would have given.
    assert_eq!(fine.with_lnc(Lnc::Two).cores(), topology.cores());
}

#[test]
fn trn1_2xlarge_has_one_node_whatever_the_tool_calls_it() {
    let topology = Machine::of("trn1.2xlarge").topology("trn1.2xlarge");
    insta::assert_snapshot!(lines(&topology), @"0 0000:00:1e.0 node 0 (single node) cpus 0-7 cores 2 [0, 1] lnc - bytes 34359738368");
}

#[test]
fn an_old_tool_is_completed_from_sysfs() {
    let machine = Machine::of("trn1.32xlarge");
    let full = machine.topology("trn1.32xlarge");
    for device in full.devices() {
        let folder = format!("sys/bus/pci/devices/{}", device.bdf.unwrap());
        machine.write(&format!("{folder}/numa_node"), &device.node.unwrap().to_string());
        machine.write(&format!("{folder}/local_cpulist"), &device.cpus.to_string());
    }
    let old = machine.topology("old_tool");
    assert_eq!(nodes(&old), nodes(&full));
    assert_eq!(old.cores(), full.cores());
    assert!(old.devices().iter().all(|device| device.node_source == NodeSource::Sysfs));
    assert!(old.devices().iter().zip(full.devices()).all(|(old, full)| old.cpus == full.cpus));
}

#[test]
fn an_old_tool_alone_leaves_nodes_open() {
    let topology = Machine::bare().topology("old_tool");
    assert!(topology.devices().iter().all(|device| device.node.is_none() && device.cpus.is_empty()));
    assert!(topology.devices().iter().all(|device| device.node_source == NodeSource::Unknown));
    assert_eq!(topology.cores().len(), 32);
}

#[test]
fn a_container_sees_a_part_with_numbers_of_its_own() {
    let topology = Machine::of("trn2.48xlarge").topology("container_subset");
    insta::assert_snapshot!(lines(&topology), @"
    0 0000:59:00.0 node 0 (neuron-ls) cpus 0-47,96-143 cores 4 [0, 1, 2, 3] lnc 2 bytes 103079215104
    1 0000:6e:00.0 node 0 (neuron-ls) cpus 0-47,96-143 cores 4 [4, 5, 6, 7] lnc 2 bytes 103079215104
    2 0000:f8:00.0 node 1 (neuron-ls) cpus 48-95,144-191 cores 4 [8, 9, 10, 11] lnc 2 bytes 103079215104
    ");
}

#[test]
fn ranks_follow_the_ids_of_cores_where_these_do_not_start_at_0() {
    let topology = read(
        r#"[{"neuron_device": 5, "numa_node": "0", "neuroncore_ids": [23, 20, 21, 22]},
            {"neuron_device": 3, "numa_node": 1, "neuroncore_ids": [12, 13]}]"#,
    )
    .unwrap();
    let ranks: Vec<(u32, u32)> = (0..6)
        .map(|rank| topology.core_of(LocalRank(rank)).unwrap())
        .map(|(core, device)| (core.id, device.index))
        .collect();
    assert_eq!(ranks, [(12, 3), (13, 3), (20, 5), (21, 5), (22, 5), (23, 5)]);
}

#[test]
fn fields_that_cannot_be_read_count_as_missing() {
    let machine = Machine::of("trn2.48xlarge");
    let json = r#"[
        {"neuron_device": 0, "bdf": "nonsense", "numa_node": "N/A", "cpu_affinity": "3-1", "nc_count": 4},
        {"neuron_device": 1, "bdf": null, "numa_node": "", "cpu_affinity": "48-60", "nc_count": 4},
        {"neuron_device": 2, "numa_node": "4000", "cpu_affinity": "", "nc_count": 2, "neuroncore_ids": null},
        {"neuron_device": 3, "numa_node": -7, "cpu_affinity": "40-60", "nc_count": 2, "new_field": [1]}]"#;
    let topology = Topology::from_json(json.as_bytes(), &machine.root()).unwrap();
    insta::assert_snapshot!(lines(&topology), @"
    0 - node - (unknown) cpus  cores 4 [] lnc - bytes 0
    1 - node 1 (near CPUs) cpus 48-60 cores 4 [] lnc - bytes 0
    2 - node - (unknown) cpus  cores 2 [] lnc - bytes 0
    3 - node - (unknown) cpus 40-60 cores 2 [] lnc - bytes 0
    ");
    assert_eq!(topology.cores().iter().map(|core| core.id).collect::<Vec<_>>(), (0..12).collect::<Vec<_>>());
}

#[test]
fn what_is_no_list_of_devices_is_refused() {
    check_bad("", "the output of neuron-ls is no JSON: EOF while parsing a value at line 1 column 0");
    check_bad(
        "[{\"neuron_device\": 0,",
        "the output of neuron-ls is no JSON: EOF while parsing a value at line 1 column 21",
    );
    check_bad("instance-type: trn2", "the output of neuron-ls is no JSON: expected value at line 1 column 1");
    check_bad("{\"error\": \"no driver\"}", "the output of neuron-ls is no list of devices but an object");
    check_bad("null", "the output of neuron-ls is no list of devices but null");
    check_bad("[]", "neuron-ls lists no device");
    check_bad("[1]", "neuron-ls, element 0: it is no object");
    check_bad("[{\"nc_count\": 2}]", "neuron-ls, element 0: `neuron_device` is not there or no whole number");
    check_bad(
        r#"[{"neuron_device": -1}]"#,
        "neuron-ls, element 0: `neuron_device` is not there or no whole number",
    );
    check_bad(r#"[{"neuron_device": 7}]"#, "neuron-ls, element 0: nothing says how many cores device 7 has");
    check_bad(
        r#"[{"neuron_device": 7, "nc_count": 4294967296}]"#,
        "neuron-ls, element 0: device 7 has 4294967296 cores, more than 1024",
    );
    check_bad(
        r#"[{"neuron_device": 7, "nc_count": 1}, {"neuron_device": 7, "nc_count": 1}]"#,
        "neuron-ls, element 1: device 7 is listed twice",
    );
    let many = format!("[{}1]", "1,".repeat(4096));
    check_bad(&many, "neuron-ls lists 4097 devices, more than 4096");
    let deep = "[".repeat(100_000);
    assert!(matches!(read(&deep), Err(NumaError::Json { .. })));
}

#[test]
fn addresses_are_read_in_both_forms() {
    let check = |text: &str, printed: Option<&str>| {
        let bdf = text.parse::<Bdf>().ok().map(|bdf| bdf.to_string());
        assert_eq!(bdf.as_deref(), printed, "{text}");
    };
    check("cc:00.0", Some("0000:cc:00.0"));
    check("0000:10:1c.0", Some("0000:10:1c.0"));
    check("10000:E1:1F.7", Some("10000:e1:1f.7"));
    for bad in ["", "cc", "cc:00", "cc:20.0", "cc:00.8", "0:cc:00.00", "1:2:3:4.5", "g0:00.0", "+c:00.0"] {
        check(bad, None);
    }
}

#[test]
fn what_is_allowed_is_the_affinity_within_the_cpuset() {
    let allowed = |machine: &Machine| {
        let host = Host::read(&machine.root(), ProcessRef::Own);
        (host.allowed.to_string(), host.memory_nodes.to_string())
    };
    let machine = Machine::of("trn2.48xlarge");
    assert_eq!(allowed(&machine), ("0-191".to_owned(), "0-1".to_owned()));
    machine.allow("10-60", "0-1");
    // Version 2, below the group's own path.
    machine.write("proc/self/cgroup", "1:name=systemd:/x\n0::/kube/pod");
    machine.write("sys/fs/cgroup/cpuset.cpus.effective", "0-191");
    machine.write("sys/fs/cgroup/kube/pod/cpuset.cpus.effective", "48-95");
    machine.write("sys/fs/cgroup/kube/pod/cpuset.mems.effective", "1");
    assert_eq!(allowed(&machine), ("48-60".to_owned(), "1".to_owned()));
    // Version 1, where a container shows the group at the mount; version 2 beside it has no cpuset.
    machine.write("proc/self/cgroup", "9:cpu,cpuset:/docker/abc\n0::/nowhere");
    machine.write("sys/fs/cgroup/cpuset.cpus.effective", "");
    machine.write("sys/fs/cgroup/cpuset/cpuset.effective_cpus", "20-30");
    machine.write("sys/fs/cgroup/cpuset/cpuset.effective_mems", "0");
    assert_eq!(allowed(&machine), ("20-30".to_owned(), "0".to_owned()));
    // A list that cannot be read says nothing.
    machine.write("sys/fs/cgroup/cpuset/cpuset.effective_cpus", "30-20");
    assert_eq!(allowed(&machine).0, "10-60");
}

#[test]
fn a_host_without_files_knows_nothing() {
    let host = Host::read_with_layout(&Machine::bare().root(), ProcessRef::Own);
    assert!(host.nodes.is_empty() && host.allowed.is_empty() && host.memory_nodes.is_empty());
    let machine = Machine::bare();
    machine.write("sys/devices/system/cpu/online", "0-3");
    assert_eq!(Host::read(&machine.root(), ProcessRef::Pid(7)).allowed.to_string(), "0-3");
}

#[test]
fn packages_cores_and_caches_are_read() {
    let machine = Machine::of("trn1.2xlarge");
    machine.write_cpus();
    let host = Host::read_with_layout(&machine.root(), ProcessRef::Own);
    assert_eq!(host, machine.host());
    // What is not there belongs to nothing, and the rest stands.
    std::fs::remove_dir_all(machine.path("sys/devices/system/cpu/cpu3/cache")).unwrap();
    machine.write("sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "nonsense");
    let layout = Host::read_with_layout(&machine.root(), ProcessRef::Own).layout.unwrap();
    let cpu = |number| layout.place(CpuId::new(number).unwrap());
    assert_eq!(cpu(3), CpuPlace { package: Some(0), core: None, cache: None });
    assert_eq!(cpu(7), host.layout.unwrap().place(CpuId::new(7).unwrap()));
    assert_eq!(cpu(8), CpuPlace::default());
}

#[test]
fn every_fixture_is_read_by_the_tool_too() {
    for name in ["trn1.32xlarge", "inf2.48xlarge", "trn2.48xlarge", "trn1.2xlarge"] {
        let machine = Machine::of(name);
        machine.tool(&output_of(name));
        let tool = neuronx_mem_numa::NeuronLs::at(machine.path("bin/neuron-ls"));
        assert_eq!(Topology::discover(&tool, &machine.root()).unwrap(), machine.topology(name), "{name}");
    }
}

#[test]
fn ids_at_the_end_of_their_range_are_no_trouble() {
    let topology = read(
        r#"[{"neuron_device": 0, "nc_count": 2, "neuroncore_ids": [4294967295]},
            {"neuron_device": 1, "nc_count": 2, "logical_neuroncore_config": 1},
            {"neuron_device": 2, "nc_count": 1, "logical_neuroncore_config": 1}]"#,
    )
    .unwrap();
    assert_eq!(topology.core_of(LocalRank(0)).unwrap().0.id, u32::MAX);
    let coarse = topology.with_lnc(Lnc::Two);
    assert_eq!(coarse.devices().iter().map(|device| device.n_cores).collect::<Vec<_>>(), [1, 1, 1]);
    assert_eq!(coarse.cores().len(), 3);
}

/// A value of any type, often one that the field could have.
fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..8u64).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof!["[0-9]{1,3}", "[0-9]{1,2}-[0-9]{1,3}", "-1", "[0-9a-f]{2}:[0-9a-f]{2}\\.[0-9]", ".{0,8}"]
            .prop_map(Value::from),
        prop::collection::vec(0..9u64, 0..5).prop_map(Value::from),
    ]
}

fn any_element() -> impl Strategy<Value = Value> {
    let fields = prop::sample::select(vec![
        "neuron_device",
        "bdf",
        "cpu_affinity",
        "numa_node",
        "nc_count",
        "logical_neuroncore_config",
        "memory_size",
        "neuroncore_ids",
        "instance_type",
        "other",
    ]);
    let object = prop::collection::btree_map(fields, any_value(), 0..8).prop_map(|fields| {
        let mut object: serde_json::Map<String, Value> =
            [("nc_count".to_owned(), Value::from(2)), ("neuron_device".to_owned(), Value::from(0))]
                .into_iter()
                .collect();
        object.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
        Value::Object(object)
    });
    prop_oneof![9 => object, 1 => any_value()]
}

proptest! {
    /// Whatever the tool says: a typed answer, ranks for all cores, and places or reasons for all ranks.
    #[test]
    fn no_output_is_a_panic(elements in prop::collection::vec(any_element(), 0..4), fine: bool) {
        let json = Value::Array(elements).to_string();
        if let Ok(topology) = read(&json) {
            let topology = topology.with_lnc(if fine { Lnc::One } else { Lnc::Two });
            let n_cores: u32 = topology.devices().iter().map(|device| device.n_cores).sum();
            prop_assert_eq!(topology.cores().len(), n_cores as usize);
            let host = Host { allowed: "0-300".parse().unwrap(), ..Host::default() };
            for mode in AffinityMode::ALL {
                let planner = Planner::new(&topology, &host, mode);
                let placed = planner.bindings().flatten();
                prop_assert!(placed.into_iter().all(|binding| !binding.cpus.is_empty()));
            }
        }
    }
}

//! The verb `numa` from outside, on a machine made of files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::in_clean_environment;

/// Three devices on two nodes, as a tool of today, one of before and one that knows little list them.
const DEVICES: &str = r#"[
    {"neuron_device": 0, "bdf": "cc:00.0", "cpu_affinity": "8-15", "numa_node": "1", "connected_to": [1],
     "nc_count": 4, "logical_neuroncore_config": 2, "memory_size": 103079215104,
     "neuroncore_ids": [0, 1, 2, 3], "neuron_processes": [], "instance_type": "trn2.48xlarge"},
    {"neuron_device": 1, "bdf": "0000:6f:00.0", "nc_count": 2, "memory_size": 34359738368},
    {"neuron_device": 2, "nc_count": 1}
]"#;

const MAPS: &str = "\
55e000 default heap anon=1000 dirty=1000 N0=250 N1=750 kernelpagesize_kB=4
55f000 default file=/usr/bin/python3 mapped=40 N0=40 kernelpagesize_kB=4
7f0000 default anon=2 dirty=2 N0=2 kernelpagesize_kB=2048
";

/// `/sys`, `/proc` and a `bin` that is all of `PATH`.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.write("sys/devices/system/node/online", "0-1");
        place.write("sys/devices/system/node/node0/cpulist", "0-7");
        place.write("sys/devices/system/node/node1/cpulist", "8-15");
        place.write("sys/bus/pci/devices/0000:6f:00.0/numa_node", "0");
        place.write("sys/bus/pci/devices/0000:6f:00.0/local_cpulist", "0-7");
        place.write("proc/self/status", "Cpus_allowed_list:\t0-12\nMems_allowed_list:\t0");
        place.write("devices.json", DEVICES);
        place
    }

    /// A rank of local rank 2 with three threads, one of them on node 1 only.
    fn process(&self, environment: &str) {
        self.write("proc/77/environ", environment);
        self.write("proc/77/status", "Cpus_allowed_list:\t0-15\nMems_allowed_list:\t0-1");
        self.write("proc/77/numa_maps", MAPS);
        for (thread, cpus) in [(77, "0-15"), (78, "8-9"), (79, "0-15")] {
            self.write(&format!("proc/77/task/{thread}/status"), &format!("Cpus_allowed_list:\t{cpus}"));
        }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.0.path().join(relative)
    }

    fn write(&self, relative: &str, text: &str) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Nothing of the environment of the tests is left.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = in_clean_environment(&["numa"]);
        command.args(arguments).arg("--root").arg(self.0.path());
        command.env("PATH", self.path("bin"));
        command
    }

    fn with_devices(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        command.arg("--neuron-ls").arg(self.path("devices.json"));
        command
    }

    /// Exit code, standard output, standard error, without the path of this run.
    fn outcome(&self, command: &mut Command) -> (i32, String, String) {
        let output = command.output().unwrap();
        let [out, err] = [output.stdout, output.stderr].map(|bytes| {
            String::from_utf8(bytes).unwrap().replace(&self.0.path().display().to_string(), "ROOT")
        });
        (output.status.code().unwrap(), out, err)
    }

    #[track_caller]
    fn text(&self, code: i32, command: &mut Command) -> String {
        let (ran, out, err) = self.outcome(command);
        assert_eq!((ran, err.as_str()), (code, ""), "{out}");
        out
    }

    #[track_caller]
    fn object(&self, code: i32, command: &mut Command) -> Value {
        serde_json::from_str(&self.text(code, command.arg("--json"))).unwrap()
    }

    #[track_caller]
    fn refusal(&self, command: &mut Command) -> String {
        let (code, out, err) = self.outcome(command);
        assert_eq!((code, out.as_str(), err.lines().count()), (2, "", 1), "{err}");
        err.trim_end().to_owned()
    }
}

#[test]
fn topology_shows_devices_nodes_and_where_each_was_read() {
    let place = Place::new();
    insta::assert_snapshot!(place.text(0, &mut place.with_devices(&["topology"])), @"
    Neuron devices of trn2.48xlarge, from ROOT/devices.json
    | Device | PCI          | Node | Node from | Near CPUs | Cores | LNC |   Memory |
    |--------|--------------|------|-----------|-----------|-------|-----|----------|
    |      0 | 0000:cc:00.0 |    1 | neuron-ls | 8-15      | 0-3   |   2 | 96.0 GiB |
    |      1 | 0000:6f:00.0 |    0 | sysfs     | 0-7       | 4-5   |   - | 32.0 GiB |
    |      2 | -            |    - | unknown   | -         | 6     |   - |        - |

    NUMA nodes
    | Node | CPUs | Allowed CPUs | Memory      |
    |------|------|--------------|-------------|
    |    0 | 0-7  | 0-7          | allowed     |
    |    1 | 8-15 | 8-12         | not allowed |
    ");
}

#[test]
fn a_plan_shows_the_cpus_of_each_rank_or_why_there_are_none() {
    let place = Place::new();
    let text = place.text(1, &mut place.with_devices(&["topology", "--plan"]));
    let (_, plan) = text.split_once("\n\nPlan").unwrap();
    insta::assert_snapshot!(format!("Plan{plan}"), @"
    Plan, mode node
    | Local ranks | Device | Node | CPUs                                            |
    |-------------|--------|------|-------------------------------------------------|
    | 0-3         |      0 |    1 | 8-12                                            |
    | 4-5         |      1 |    0 | 0-7                                             |
    | 6           |      - |    - | device 2: nothing says which NUMA node it is on |
    ");
    let text = place.text(1, &mut place.with_devices(&["topology", "--plan", "exclusive"]));
    assert!(text.contains("mode exclusive needs to know the physical core of each CPU"), "{text}");
}

#[test]
fn topology_as_json() {
    let place = Place::new();
    let object = place.object(1, &mut place.with_devices(&["topology", "--plan", "node"]));
    let device = json!({
        "device": 1, "pci": "0000:6f:00.0", "node": 0, "node_source": "sysfs", "cpus": "0-7", "cores": 2,
        "core_ids": [], "lnc": null, "memory": 34_359_738_368_u64
    });
    assert_eq!((&object["schema"], &object["devices"][1]), (&json!(1), &device));
    assert_eq!(object["nodes"], json!([{"node": 0, "cpus": "0-7"}, {"node": 1, "cpus": "8-15"}]));
    let host = ["allowed_cpus", "memory_nodes", "instance_type", "error"].map(|key| object[key].clone());
    assert_eq!(host, [json!("0-12"), json!("0"), json!("trn2.48xlarge"), Value::Null]);
    let ranks = object["plan"]["ranks"].as_array().unwrap();
    let placed = json!({"rank": 3, "core": 3, "device": 0, "node": 1, "cpus": "8-12", "error": null});
    assert_eq!((ranks.len(), &ranks[3]), (7, &placed));
    let error = "device 2: nothing says which NUMA node it is on";
    let unplaced =
        json!({"rank": 6, "core": null, "device": null, "node": null, "cpus": null, "error": error});
    assert_eq!(ranks[6], unplaced);
}

#[test]
fn the_environment_decides_how_many_cores_a_device_has() {
    let place = Place::new();
    let cores = |name: &str| {
        let mut command = place.with_devices(&["topology"]);
        let object = place.object(0, command.env(name, "1"));
        object["devices"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["cores"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(cores("NEURON_LOGICAL_NC_CONFIG"), [8, 2, 1]);
    assert_eq!(cores("NEURON_RT_VIRTUAL_CORE_SIZE"), [8, 2, 1]);
    assert_eq!(cores("OTHER"), [4, 2, 1]);
}

#[test]
fn the_tool_is_asked_when_there_is_no_file() {
    let place = Place::new();
    let said = place.text(1, &mut place.command(&["topology"]));
    insta::assert_snapshot!(said.lines().next().unwrap(), @"Neuron devices are not known: neuron-ls is neither on PATH nor in /opt/aws/neuron/bin");
    // A link, because a program that was just written may be "text file busy".
    let failing = ["/bin/false", "/usr/bin/false"].iter().find(|path| fs::exists(path).unwrap()).unwrap();
    fs::create_dir_all(place.path("opt/aws/neuron/bin")).unwrap();
    symlink(failing, place.path("opt/aws/neuron/bin/neuron-ls")).unwrap();
    let object = place.object(1, &mut place.command(&["topology", "--plan"]));
    let error = "ROOT/opt/aws/neuron/bin/neuron-ls: ended with exit status: 1";
    assert_eq!(
        (&object["error"], &object["devices"], &object["plan"]),
        (&json!(error), &json!([]), &Value::Null)
    );
}

#[test]
fn status_of_a_process_that_strays() {
    let place = Place::new();
    place.process("HOME=/x\0LOCAL_RANK=4\0NEURON_NUMA_PIN=1\0");
    insta::assert_snapshot!(place.text(1, &mut place.with_devices(&["status", "--pid", "77"])), @"
    NUMA status of process 77, local rank 4
      pinning enabled    yes
      pinned             no: it may run outside NUMA node 0, on CPUs 8-15
      current affinity   CPUs 0-15
      threads            3, 3 may run outside the node
      topology           3 Neuron devices, from ROOT/devices.json
      belongs to         device 1, logical core 4, NUMA node 0
      own memory         node 0: 5,218,304 bytes (5.0 MiB); node 1: 3,072,000 bytes (2.9 MiB)
      pages of files     node 0: 163,840 bytes (160.0 KiB)
      on the wrong node  750 pages, 3,072,000 bytes (2.9 MiB)
    ");
    let object = place.object(1, &mut place.with_devices(&["--pid", "77"]));
    let memory = json!({
        "own": [{"node": 0, "pages": 252, "bytes": 5_218_304}, {"node": 1, "pages": 750, "bytes": 3_072_000}],
        "files": [{"node": 0, "pages": 40, "bytes": 163_840}],
        "wrong": {"pages": 750, "bytes": 3_072_000}
    });
    let all: Vec<u32> = (0..16).collect();
    let expected = json!({
        "schema": 1, "numa_pin_enabled": true, "numa_pinned": false, "current_affinity": all,
        "topology_available": true, "num_devices": 3, "reason": "outside",
        "message": "it may run outside NUMA node 0, on CPUs 8-15", "pid": 77, "rank": 4,
        "launched_node": null, "device": 1, "core": 4, "node": 0, "threads": 3, "threads_outside": 3,
        "pages": memory
    });
    assert_eq!(object, expected);
}

#[test]
fn status_of_a_process_that_is_in_place() {
    let place = Place::new();
    place.process("LOCAL_RANK=0\0NEURON_NUMA_PIN=0\0NEURONX_MEM_NUMA_LAUNCHED=1\0");
    place.write("proc/77/status", "Cpus_allowed_list:\t8-11\nMems_allowed_list:\t1");
    for thread in [77, 79] {
        place.write(&format!("proc/77/task/{thread}/status"), "Cpus_allowed_list:\t8-11");
    }
    insta::assert_snapshot!(place.text(0, &mut place.with_devices(&["status", "--pid", "77"])), @"
    NUMA status of process 77, local rank 0
      pinning enabled    no
      pinned             yes
      current affinity   CPUs 8-11
      threads            3
      topology           3 Neuron devices, from ROOT/devices.json
      belongs to         device 0, logical core 0, NUMA node 1
      launched           by neuron-numa-launch, on NUMA node 1
      own memory         node 0: 5,218,304 bytes (5.0 MiB); node 1: 3,072,000 bytes (2.9 MiB)
      pages of files     node 0: 163,840 bytes (160.0 KiB)
      on the wrong node  252 pages, 5,218,304 bytes (5.0 MiB)
    ");
}

#[test]
fn status_without_a_rank_or_a_tool() {
    let place = Place::new();
    insta::assert_snapshot!(place.text(1, &mut place.command(&[])), @"
    NUMA status of this process, no local rank
      pinning enabled    yes
      pinned             no: no topology: neuron-ls is neither on PATH nor in /opt/aws/neuron/bin
      current affinity   CPUs 0-12
      threads            1
      topology           not available
      memory             the kernel does not say where it is
    ");
    let (code, out, err) = place.outcome(place.with_devices(&["--rank", "6"]).env("LOCAL_RANK", "x"));
    assert_eq!((code, err.as_str()), (1, ""));
    assert!(out.contains("no: device 2: nothing says which NUMA node it is on"), "{out}");
    let (_, out, err) =
        place.outcome(place.with_devices(&[]).env("LOCAL_RANK", "x").env("NEURON_NUMA_PIN", "x"));
    assert!(out.contains("no: the process has no local rank"), "{out}");
    insta::assert_snapshot!(err, @r#"
    WARN LOCAL_RANK is "x", which is no rank
    WARN NEURON_NUMA_PIN: `x` is neither on (1, true, on, yes) nor off (0, false, off, no); the default 1 holds
    "#);
}

#[test]
fn wrong_input_is_one_line() {
    let place = Place::new();
    let said = place.refusal(&mut place.command(&["status", "--pid", "4242"]));
    assert_eq!(said, "neuronx-mem: error: --pid 4242: No such file or directory (os error 2)");
    let said = place.refusal(place.command(&["topology"]).arg("--neuron-ls").arg(place.path("nowhere")));
    assert_eq!(said, "neuronx-mem: error: ROOT/nowhere: No such file or directory (os error 2)");
    let empty = place.write("empty.json", "[]");
    let said = place.refusal(place.command(&["topology"]).arg("--neuron-ls").arg(&empty));
    assert_eq!(said, "neuronx-mem: error: ROOT/empty.json: neuron-ls lists no device");
    let said = place.refusal(&mut place.command(&["topology", "--plan", "near"]));
    assert!(said.contains("possible values: node, socket, exclusive, core-complex"), "{said}");
    assert!(place.refusal(&mut place.command(&["status", "--pid", "0"])).contains("--pid"));
}

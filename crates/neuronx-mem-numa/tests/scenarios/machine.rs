//! A machine made of files: `/sys`, `/proc` and programs below a temporary directory.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use neuronx_mem_numa::{CpuId, CpuLayout, CpuPlace, CpuSet, Host, ProcessRef, SystemRoot, Topology};
use tempfile::TempDir;

/// The output of `neuron-ls --json-output` in `tests/data`.
pub(crate) fn output_of(name: &str) -> String {
    fs::read_to_string(data(&format!("{name}.json"))).unwrap()
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// What its `/sys` says.
struct Shape {
    /// CPUs of each node.
    nodes: &'static [&'static str],
    /// Nodes in a package.
    nodes_per_package: usize,
    /// A CPU and the one this much above share a physical core.
    sibling: u32,
    /// Physical cores that share a cache of level 3.
    cores_per_cache: u32,
}

impl Shape {
    fn of(name: &str) -> &'static Self {
        &SHAPES.iter().find(|(own, _)| *own == name).unwrap().1
    }

    fn nodes(&self) -> Vec<CpuSet> {
        self.nodes.iter().map(|cpus| cpus.parse().unwrap()).collect()
    }

    /// CPUs that share a physical core, and those that share the last cache.
    fn shared(&self, cpu: u32) -> [String; 2] {
        let (core, sibling) = (cpu % self.sibling, self.sibling);
        let first = core / self.cores_per_cache * self.cores_per_cache;
        let last = first + self.cores_per_cache - 1;
        [
            format!("{core},{}", core + sibling),
            format!("{first}-{last},{}-{}", first + sibling, last + sibling),
        ]
    }

    /// The same as [`Machine::write_cpus`] tells, without writing two thousand files.
    fn layout(&self) -> CpuLayout {
        let places = self.nodes().into_iter().enumerate().flat_map(|(node_idx, cpus)| {
            let package = u32::try_from(node_idx / self.nodes_per_package).ok();
            let place = |cpu: CpuId| {
                let [core, cache] =
                    self.shared(cpu.get()).map(|text| text.parse::<CpuSet>().unwrap().first());
                (cpu, CpuPlace { package, core, cache })
            };
            cpus.iter().map(place).collect::<Vec<_>>()
        });
        places.collect()
    }
}

const SHAPES: [(&str, Shape); 4] = [
    (
        "trn1.32xlarge",
        Shape {
            nodes: &["0-31,64-95", "32-63,96-127"],
            nodes_per_package: 1,
            sibling: 64,
            cores_per_cache: 32,
        },
    ),
    (
        "inf2.48xlarge",
        Shape {
            nodes: &["0-23,96-119", "24-47,120-143", "48-71,144-167", "72-95,168-191"],
            nodes_per_package: 2,
            sibling: 96,
            cores_per_cache: 4,
        },
    ),
    (
        "trn2.48xlarge",
        Shape {
            nodes: &["0-47,96-143", "48-95,144-191"],
            nodes_per_package: 1,
            sibling: 96,
            cores_per_cache: 8,
        },
    ),
    ("trn1.2xlarge", Shape { nodes: &["0-7"], nodes_per_package: 1, sibling: 4, cores_per_cache: 4 }),
];

pub(crate) struct Machine {
    folder: TempDir,
    shape: Option<&'static Shape>,
}

impl Machine {
    /// Nothing but a root.
    pub(crate) fn bare() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), shape: None }
    }

    /// The nodes of an instance type, and a process that may use everything.
    pub(crate) fn of(name: &str) -> Self {
        let shape = Shape::of(name);
        let machine = Self { shape: Some(shape), ..Self::bare() };
        let nodes = shape.nodes();
        let last_node = nodes.len() - 1;
        for file in ["online", "possible"] {
            machine.write(&format!("sys/devices/system/node/{file}"), &format!("0-{last_node}"));
        }
        let mut all = CpuSet::new();
        for (node_idx, cpus) in nodes.iter().enumerate() {
            machine.write(&format!("sys/devices/system/node/node{node_idx}/cpulist"), &cpus.to_string());
            all.extend_from(cpus);
        }
        machine.allow(&all.to_string(), &format!("0-{last_node}"));
        machine
    }

    /// Package, physical core and caches of every CPU, as the kernel shows them.
    pub(crate) fn write_cpus(&self) {
        let shape = self.shape.unwrap();
        for (node_idx, cpus) in shape.nodes().iter().enumerate() {
            cpus.iter().for_each(|cpu| self.write_cpu(cpu.get(), node_idx / shape.nodes_per_package, shape));
        }
    }

    fn write_cpu(&self, cpu: u32, package: usize, shape: &Shape) {
        let folder = format!("sys/devices/system/cpu/cpu{cpu}");
        let [core, shared] = shape.shared(cpu);
        self.write(&format!("{folder}/topology/physical_package_id"), &package.to_string());
        self.write(&format!("{folder}/topology/thread_siblings_list"), &core);
        let caches = [
            ("index0", "Data", "1", &core),
            ("index1", "Instruction", "9", &core),
            ("index3", "Unified", "3", &shared),
            ("uevent", "Unified", "8", &core),
        ];
        for (index, kind, level, shared) in caches {
            for (file, text) in [("type", kind), ("level", level), ("shared_cpu_list", shared)] {
                self.write(&format!("{folder}/cache/{index}/{file}"), text);
            }
        }
    }

    /// What the process may use.
    pub(crate) fn allow(&self, cpus: &str, nodes: &str) {
        let status = format!(
            "Name:\tpython3\nCpus_allowed:\tff\nCpus_allowed_list:\t{cpus}\nMems_allowed_list:\t{nodes}\n"
        );
        self.write("proc/self/status", &status);
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    pub(crate) fn write(&self, relative: &str, text: &str) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("{text}\n")).unwrap();
        path
    }

    /// A program in `bin`, as lines for a shell.
    pub(crate) fn program(&self, name: &str, lines: &str) -> PathBuf {
        self.write(&format!("bin/{name}.lines"), lines);
        let path = self.path(&format!("bin/{name}"));
        if !path.is_symlink() {
            symlink(data("program.sh"), &path).unwrap();
        }
        path
    }

    /// A `neuron-ls` in `bin` that prints this.
    pub(crate) fn tool(&self, output: &str) {
        let file = self.write("output.json", output);
        self.program("neuron-ls", &format!("[ \"$*\" = --json-output ] && cat '{}'", file.display()));
    }

    pub(crate) fn root(&self) -> SystemRoot {
        SystemRoot::new(self.folder.path())
    }

    pub(crate) fn topology(&self, name: &str) -> Topology {
        Topology::from_json(output_of(name).as_bytes(), &self.root()).unwrap()
    }

    pub(crate) fn host(&self) -> Host {
        let layout = self.shape.map(Shape::layout);
        Host { layout, ..Host::read(&self.root(), ProcessRef::Own) }
    }

    /// Without the path of this run.
    pub(crate) fn neutral(&self, text: &str) -> String {
        text.replace(&self.folder.path().display().to_string(), "ROOT")
    }
}

//! NUMA placement: each rank's threads and host memory beside its Neuron device.
//!
//! ```
//! use neuronx_mem_numa::{AffinityMode, Host, LocalRank, Planner, SystemRoot, Topology};
//!
//! # let folder = tempfile::tempdir()?;
//! # let root = SystemRoot::new(folder.path());
//! // What `neuron-ls --json-output` prints; `Topology::discover` asks the tool itself.
//! let json = br#"[{"neuron_device": 0, "bdf": "cc:00.0", "numa_node": "1", "nc_count": 2,
//!     "cpu_affinity": "48-95,144-191", "neuroncore_ids": [0, 1]}]"#;
//! let topology = Topology::from_json(json, &root)?;
//! let host = Host { allowed: "0-191".parse()?, ..Host::default() };
//! let planner = Planner::new(&topology, &host, AffinityMode::Node);
//! let binding = planner.binding(LocalRank(1))?;
//! assert_eq!((binding.device, binding.node.get()), (0, 1));
//! assert_eq!(binding.cpus.to_string(), "48-95,144-191");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Four steps, each usable alone: [`Topology`] and [`Host`] say what is there, [`Planner`] decides
//! (pure), [`Pin`] binds the threads of this process and can undo it, [`StatusReport`] says whether
//! it worked and how much memory lies elsewhere already. [`launch`] is the decision of
//! `neuron-numa-launch`, the wrapper that binds a rank before Python starts.
//!
//! The crate knows `neuron-ls`, `/sys` and `/proc`, all below a [`SystemRoot`]. It refuses to know
//! instance types, to read the environment (values are handed in) and to fail a job because a
//! placement is impossible: what goes wrong is a value, and running unpinned is always possible.
//!
//! Follows the guidelines for memory management ("Pin host memory to the local NUMA node") and the
//! rules of `torch.numa.binding`.

#![forbid(unsafe_code)]

mod error;
mod ids;
pub mod launch;
mod pin;
mod plan;
mod root;
mod sets;
mod status;
mod switch;
mod tool;
mod topology;

pub use error::NumaError;
pub use ids::{CpuId, Lnc, LocalRank, NodeId};
pub use pin::{Pin, UndoReport};
pub use plan::{AffinityMode, Binding, PlanError, Planner};
pub use root::{ProcessRef, SystemRoot};
pub use sets::{CpuSet, IndexSet, ListError, ListProblem, NodeSet, SetIndex};
pub use status::{NotPinned, NumaStatus, PageReport, Pages, StatusInputs, StatusReport, affinity_of};
pub use switch::read_switch;
pub use tool::{NeuronLs, TOOL_LIMIT, find_on_path};
pub use topology::{Bdf, CpuLayout, CpuPlace, Device, Host, LogicalCore, NodeSource, Topology};

//! What `neuron-numa-launch` starts: plain Python, or Python under `numactl`.
//!
//! Knows the rules of the launcher; everything they depend on is handed in. Refuses to start the
//! program and to print: the binary does.
//!
//! Whatever goes wrong with the placement, Python still starts, and the reason comes with it
//! (guidelines for memory management, "Pin host memory to the local NUMA node").

mod interpreter;
mod unpinned;

pub use interpreter::{PythonError, find_python};
pub use unpinned::Unpinned;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::{
    AffinityMode, Host, Lnc, LocalRank, NeuronLs, NodeId, Planner, ProcessRef, SystemRoot, Topology,
    find_on_path,
};

/// The variable that tells the process that it was started on a node: the number of the node.
///
/// Code that pins inside the process finds memory and threads in place already.
pub const MARKER: &str = "NEURONX_MEM_NUMA_LAUNCHED";

/// What the decision depends on.
#[derive(Clone, Copy, Debug)]
pub struct LaunchInputs<'a> {
    /// Where `/sys`, `/proc` and the tools are.
    pub root: &'a SystemRoot,
    /// `PATH`, for `neuron-ls` and `numactl`.
    pub search_path: Option<&'a OsStr>,
    /// Whether pinning is on, see [`read_switch`](crate::read_switch).
    pub is_enabled: bool,
    /// `LOCAL_RANK`.
    pub local_rank: Option<&'a OsStr>,
    /// `NEURON_LOGICAL_NC_CONFIG`, when it is set to 1 or 2.
    pub lnc: Option<Lnc>,
}

/// A program with its arguments, to be executed in place of the launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Launch {
    /// The program: Python or `numactl`.
    pub program: PathBuf,
    /// Its arguments, without its own name.
    pub arguments: Vec<OsString>,
    /// The node, when the program is `numactl`; the value of [`MARKER`].
    pub node: Option<NodeId>,
    /// Why there is no node.
    pub unpinned: Option<Unpinned>,
}

impl Launch {
    /// Decides how to start `python` with these arguments.
    ///
    /// `works` tries whether a `numactl` with these options runs at all: in containers the calls that it
    /// makes are often forbidden. It is asked last. Cost: one run of `neuron-ls`.
    pub fn decide(
        inputs: &LaunchInputs<'_>,
        python: &Path,
        arguments: &[OsString],
        works: impl FnOnce(&Path, &[OsString]) -> bool,
    ) -> Self {
        match pinned(inputs, works) {
            Ok((node, numactl, options)) => {
                let python = std::iter::once(python.as_os_str().to_owned());
                let arguments = options.into_iter().chain(python).chain(arguments.iter().cloned());
                let arguments = arguments.collect();
                Self { program: numactl, arguments, node: Some(node), unpinned: None }
            }
            Err(reason) => Self {
                program: python.to_owned(),
                arguments: arguments.to_vec(),
                node: None,
                unpinned: Some(reason),
            },
        }
    }

    /// Returns the command line, quoted for a shell.
    pub fn command_line(&self) -> String {
        let words =
            std::iter::once(self.program.as_os_str()).chain(self.arguments.iter().map(OsString::as_os_str));
        words.map(quoted).collect::<Vec<_>>().join(" ")
    }
}

/// The node, `numactl` and its options.
fn pinned(
    inputs: &LaunchInputs<'_>,
    works: impl FnOnce(&Path, &[OsString]) -> bool,
) -> Result<(NodeId, PathBuf, Vec<OsString>), Unpinned> {
    if !inputs.is_enabled {
        return Err(Unpinned::Disabled);
    }
    let rank = rank(inputs.local_rank)?;
    let numactl = find_on_path("numactl", inputs.search_path).ok_or(Unpinned::NoNumactl)?;
    let topology = NeuronLs::find(inputs.search_path, inputs.root)
        .and_then(|tool| Topology::discover(&tool, inputs.root))
        .map_err(|error| Unpinned::NoTopology { message: error.to_string() })?;
    let topology = inputs.lnc.map_or(topology.clone(), |lnc| topology.with_lnc(lnc));
    let host = Host::read(inputs.root, ProcessRef::Own);
    let binding = Planner::new(&topology, &host, AffinityMode::Node).binding(rank)?;
    let node = binding.node;
    // `numactl` would fail, and the job with it.
    if !host.memory_nodes.is_empty() && !host.memory_nodes.contains(node) {
        return Err(Unpinned::MemoryNotAllowed { node, allowed: host.memory_nodes });
    }
    let options = vec![format!("--membind={node}").into(), format!("--cpunodebind={node}").into()];
    if works(&numactl, &options) {
        Ok((node, numactl, options))
    } else {
        Err(Unpinned::NumactlFails { node })
    }
}

fn rank(text: Option<&OsStr>) -> Result<LocalRank, Unpinned> {
    let text = text.ok_or(Unpinned::NoRank)?;
    let digits = text.to_str().map(str::trim).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let rank = digits.and_then(|text| text.parse().ok()).map(LocalRank);
    rank.ok_or_else(|| Unpinned::BadRank { text: text.to_string_lossy().into_owned() })
}

/// A word as a shell reads it back.
fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./=:,+@%".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

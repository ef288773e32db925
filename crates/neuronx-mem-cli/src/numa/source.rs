//! Where the verb `numa` takes its topology and its variables from.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use neuronx_mem_config::{Environment, Variable, variables};
use neuronx_mem_numa::launch::MARKER;
use neuronx_mem_numa::{Lnc, NeuronLs, NumaError, ProcessRef, SystemRoot, Topology};

use super::arguments::SourceArguments;
use crate::failure::Failure;

/// The variable of the rank on this host.
const LOCAL_RANK: &str = "LOCAL_RANK";

/// The devices, or why nothing says which there are; beside it, who was asked.
pub(super) struct Source {
    pub(super) root: SystemRoot,
    /// The path of the tool or of the file.
    pub(super) name: String,
    pub(super) topology: Result<Topology, NumaError>,
}

impl Source {
    /// A file that cannot be used is a failure; a tool that does not answer is an answer.
    pub(super) fn read(arguments: &SourceArguments, environment: &Environment) -> Result<Self, Failure> {
        let root = SystemRoot::new(&arguments.root);
        let (name, topology) = match &arguments.neuron_ls {
            Some(path) => {
                let name = if path == Path::new("-") {
                    "standard input".to_owned()
                } else {
                    path.display().to_string()
                };
                let refused = |source| Failure::NeuronLsFile { path: name.clone(), source: Box::new(source) };
                let json = bytes(path).map_err(|error| refused(error.into()))?;
                let topology = Topology::from_json(&json, &root).map_err(|error| refused(error.into()))?;
                (name, Ok(topology))
            }
            None => match NeuronLs::find(env::var_os("PATH").as_deref(), &root) {
                Ok(tool) => (tool.path().display().to_string(), Topology::discover(&tool, &root)),
                Err(error) => ("neuron-ls".to_owned(), Err(error)),
            },
        };
        let topology = topology.map(|topology| match lnc(environment) {
            Some(lnc) => topology.with_lnc(lnc),
            None => topology,
        });
        Ok(Self { root, name, topology })
    }
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    if path != Path::new("-") {
        return fs::read(path);
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What the process sets itself, and not what would hold for it otherwise: the tool knows that.
fn lnc(environment: &Environment) -> Option<Lnc> {
    let names = [variables::NEURON_LOGICAL_NC_CONFIG, variables::NEURON_RT_VIRTUAL_CORE_SIZE];
    let is_set = |variable: &Variable| environment.raw(*variable).is_some_and(|text| !text.is_empty());
    let variable = names.into_iter().find(is_set)?;
    let reading = environment.int(variable);
    if reading.findings.is_empty() { Lnc::of_number(reading.value) } else { None }
}

/// The variables of a process: all that count here.
pub(super) struct Variables {
    pub(super) environment: Environment,
    local_rank: Option<OsString>,
    /// What `neuron-numa-launch` left.
    launched: Option<OsString>,
}

impl Variables {
    /// Of this process now, or of another one as it was when that started.
    pub(super) fn of(root: &Path, process: ProcessRef) -> Result<Self, Failure> {
        let ProcessRef::Pid(pid) = process else {
            let [local_rank, launched] = [LOCAL_RANK, MARKER].map(env::var_os);
            return Ok(Self { environment: Environment::capture(), local_rank, launched });
        };
        let path = root.join(format!("proc/{pid}/environ"));
        let bytes = fs::read(path).map_err(|source| Failure::Process { pid, source })?;
        let pairs = || bytes.split(|byte| *byte == 0).filter_map(pair);
        let text = |wanted: &str| pairs().find(|(name, _)| *name == wanted).map(|(_, text)| text.to_owned());
        let [local_rank, launched] = [LOCAL_RANK, MARKER].map(text);
        Ok(Self { environment: Environment::from_pairs(pairs()), local_rank, launched })
    }

    pub(super) fn is_pin_enabled(&self) -> bool {
        let reading = self.environment.bool(variables::NEURON_NUMA_PIN);
        for finding in &reading.findings {
            tracing::warn!("{finding}");
        }
        reading.value
    }

    /// A rank that is no number is reported, and none.
    pub(super) fn rank(&self) -> Option<u32> {
        let text = self.local_rank.as_ref().filter(|text| !text.is_empty())?;
        let rank = text.to_str().and_then(|text| text.trim().parse().ok());
        if rank.is_none() {
            tracing::warn!("LOCAL_RANK is {text:?}, which is no rank");
        }
        rank
    }

    /// The node that `neuron-numa-launch` started the process on.
    pub(super) fn launched_node(&self) -> Option<u32> {
        self.launched.as_ref()?.to_str()?.parse().ok()
    }
}

fn pair(bytes: &[u8]) -> Option<(&OsStr, &OsStr)> {
    let middle = bytes.iter().position(|byte| *byte == b'=')?;
    Some((OsStr::from_bytes(&bytes[..middle]), OsStr::from_bytes(&bytes[middle + 1..])))
}

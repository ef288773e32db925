//! What can fail when the machine is asked or changed, with the numbers. Judges nothing: whether a job
//! goes on unpinned is the caller's decision.

use std::io;
use std::path::PathBuf;

use crate::ids::CpuId;
use crate::{ListError, PlanError};

/// Why the topology is unknown, or the threads could not be bound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NumaError {
    /// There is no `neuron-ls`.
    #[error("neuron-ls is neither on PATH nor in /opt/aws/neuron/bin")]
    ToolMissing,
    /// `neuron-ls` is there and does not start.
    #[error("{}: cannot be started: {source}", path.display())]
    ToolStart {
        /// The program.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Reading from `neuron-ls` or waiting for it failed.
    #[error("{}: {source}", path.display())]
    ToolRead {
        /// The program.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// `neuron-ls` took longer than the limit and was ended.
    #[error("{}: no answer within {limit_ms} ms", path.display())]
    ToolTimeout {
        /// The program.
        path: PathBuf,
        /// The limit, in milliseconds.
        limit_ms: u64,
    },
    /// `neuron-ls` said that it failed.
    #[error("{}: ended with {status}{}", path.display(), because(message))]
    ToolFailed {
        /// The program.
        path: PathBuf,
        /// How it ended.
        status: std::process::ExitStatus,
        /// The first line that it wrote to standard error, shortened; may be empty.
        message: String,
    },
    /// `neuron-ls` wrote more than any machine's devices take.
    #[error("{}: wrote more than {limit_bytes} bytes", path.display())]
    ToolOutput {
        /// The program.
        path: PathBuf,
        /// The limit, in bytes.
        limit_bytes: usize,
    },
    /// The output of `neuron-ls` is no JSON.
    #[error("the output of neuron-ls is no JSON: {source}")]
    Json {
        /// Where and why.
        source: serde_json::Error,
    },
    /// The output of `neuron-ls` is JSON of another shape.
    #[error("the output of neuron-ls is no list of devices but {found}")]
    NotAList {
        /// What it is: `an object`, `a string` and so on.
        found: &'static str,
    },
    /// A device cannot be understood.
    #[error("neuron-ls, element {element_idx}: {problem}")]
    Element {
        /// Its place in the list, from 0.
        element_idx: usize,
        /// What is wrong with it.
        problem: ElementProblem,
    },
    /// The list of devices is empty.
    #[error("neuron-ls lists no device")]
    NoDevices,
    /// The list of devices is longer than any machine's.
    #[error("neuron-ls lists {n_devices} devices, more than {maximum}")]
    ManyDevices {
        /// How many it lists.
        n_devices: usize,
        /// The most that is believed.
        maximum: usize,
    },
    /// A text is no list of CPUs or nodes.
    #[error(transparent)]
    List(#[from] ListError),
    /// A rank has no place.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A CPU that the system call has no bit for.
    #[error("cpu {cpu} is beyond the {n_cpus} that sched_setaffinity takes here")]
    CpuBeyondCall {
        /// The CPU.
        cpu: CpuId,
        /// How many the call takes.
        n_cpus: usize,
    },
    /// No CPU to bind to.
    #[error("the set of CPUs to bind to is empty")]
    NoCpus,
    /// The threads of the process cannot be listed.
    #[error("the threads of this process cannot be listed: {source}")]
    Threads {
        /// What the system said.
        source: io::Error,
    },
    /// The affinity of the main thread cannot be read or set.
    #[error("thread {tid}: its affinity cannot be changed: {source}")]
    Affinity {
        /// The thread.
        tid: i32,
        /// What the system said.
        source: io::Error,
    },
    /// This system has no call that binds threads to CPUs.
    #[error("this system cannot bind threads to CPUs")]
    Unsupported,
}

/// What makes an element of `neuron-ls` unusable. What is merely missing is looked up elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ElementProblem {
    /// It is no JSON object.
    #[error("it is no object")]
    NotAnObject,
    /// A field that every version has is not there or is no number.
    #[error("`{field}` is not there or no whole number")]
    Field {
        /// Its name.
        field: &'static str,
    },
    /// Two elements have the same device.
    #[error("device {device} is listed twice")]
    Twice {
        /// The number of the device.
        device: u32,
    },
    /// Nothing says how many cores the device has.
    #[error("nothing says how many cores device {device} has")]
    NoCores {
        /// The number of the device.
        device: u32,
    },
    /// More cores than any device has.
    #[error("device {device} has {n_cores} cores, more than {maximum}")]
    ManyCores {
        /// The number of the device.
        device: u32,
        /// What the element says.
        n_cores: u64,
        /// The most that is believed.
        maximum: u32,
    },
}

fn because(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}

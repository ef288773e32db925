//! One piece of a sweep as plain data: what to evaluate, and what came out. A job means the same in
//! any process on any machine, so that any executor can run it.

use neuronx_mem::AllocatorConfig;
use neuronx_mem::config::{Severity, Source};
use neuronx_mem::sim::{Lnc, Preset};
use serde::{Deserialize, Serialize};

use super::{Figures, Machine, Variant, evaluate};
use crate::{TuneError, Workload};

/// Why a job cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobFault {
    /// A configuration is not valid.
    #[error("job: config `{text}`: {reason}")]
    Config {
        /// The configuration.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The device is not known.
    #[error("job: unknown device `{name}`, logical-core configuration {lnc}")]
    Device {
        /// Name of the chip.
        name: String,
        /// Physical cores a logical core.
        lnc: u64,
    },
    /// The input is not the one that the job was made for.
    #[error("{input}: is not the trace of this job: fingerprint {found:016x}, not {expected:016x}")]
    OtherInput {
        /// Name of the input.
        input: String,
        /// What the job says.
        expected: u64,
        /// What the input has.
        found: u64,
    },
}

/// Some configurations to be tried on one version of one input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Name of the input, a path that the worker can read.
    pub input: String,
    /// [`Workload::fingerprint`] of the input.
    pub fingerprint: u64,
    /// Whether wrong lines of it are skipped.
    #[serde(default)]
    pub is_lenient: bool,
    /// The device.
    pub machine: JobMachine,
    /// What is made of the input.
    #[serde(default)]
    pub variant: Variant,
    /// What is tried.
    pub trials: Vec<Trial>,
}

/// A [`Machine`] as plain data.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobMachine {
    /// Name of the chip.
    pub device: String,
    /// Physical cores a logical core; `None` is the chip's default.
    pub lnc: Option<u64>,
    /// Device memory, bytes; `None` is what the chip has.
    pub memory: Option<u64>,
}

/// One configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Value of the environment variable; empty for the defaults.
    pub config: String,
    /// Gives up above so many reserved bytes.
    pub bound_bytes: u64,
}

/// What came of a [`Job`]: as many figures as it has trials, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobResult {
    /// The figures.
    pub figures: Vec<Figures>,
}

impl Job {
    /// Runs the job on its input, which the caller has read: a pure function of the two.
    ///
    /// # Errors
    ///
    /// [`TuneError::Job`] for a configuration or device that does not exist, and for another input.
    pub fn run(&self, workload: &Workload) -> Result<JobResult, TuneError> {
        let found = workload.fingerprint();
        if found != self.fingerprint {
            let (input, expected) = (self.input.clone(), self.fingerprint);
            return Err(JobFault::OtherInput { input, expected, found }.into());
        }
        let machine = Machine::try_from(&self.machine)?;
        let version = self.variant.apply(workload);
        let run = |trial: &Trial| {
            let config = parse(&trial.config)?;
            Ok(evaluate(&version, &config, &machine, trial.bound_bytes))
        };
        let figures = self.trials.iter().map(run).collect::<Result<_, JobFault>>()?;
        Ok(JobResult { figures })
    }
}

fn parse(text: &str) -> Result<AllocatorConfig, JobFault> {
    let parsed = AllocatorConfig::parse_as(text, Source::Code);
    match parsed.findings.iter().find(|finding| finding.severity() == Severity::Error) {
        None => Ok(parsed.config),
        Some(finding) => Err(JobFault::Config { text: text.to_owned(), reason: finding.to_string() }),
    }
}

impl From<&Machine> for JobMachine {
    fn from(machine: &Machine) -> Self {
        let lnc = machine.lnc.map(Lnc::cores);
        Self { device: machine.preset.name().to_owned(), lnc, memory: machine.memory_bytes }
    }
}

impl TryFrom<&JobMachine> for Machine {
    type Error = JobFault;

    fn try_from(machine: &JobMachine) -> Result<Self, JobFault> {
        let unknown =
            || JobFault::Device { name: machine.device.clone(), lnc: machine.lnc.unwrap_or_default() };
        let preset: Preset = machine.device.parse().map_err(|_| unknown())?;
        let lnc = match machine.lnc {
            None => None,
            Some(1) => Some(Lnc::One),
            Some(2) => Some(Lnc::Two),
            Some(_) => return Err(unknown()),
        };
        Ok(Self { preset, lnc, memory_bytes: machine.memory })
    }
}

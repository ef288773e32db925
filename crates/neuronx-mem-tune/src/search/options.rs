//! What a search can be told, and how it says how far it has come.

use std::time::Duration;

use crate::Machine;

/// Settings of [`tune`](crate::tune).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TuneOptions {
    /// The device.
    pub machine: Machine,
    /// No proposal takes a larger segment ahead of need; a single larger request still gets its own.
    pub max_segment_bytes: u64,
    /// Start of the pseudo-random choices. Same inputs, options and seed: same answer, unless time ran
    /// out.
    pub seed: u64,
    /// Stops after the round in which so much time has passed; `None` searches to the end.
    pub time_budget: Option<Duration>,
    /// Rounds without an improvement after which the search ends.
    pub patience: usize,
    /// Whether the pick is tried on inputs and steps that it was not tuned on.
    pub is_cross_validated: bool,
}

impl TuneOptions {
    /// The defaults for a device: no limit of time, segments up to the device less 1 GiB.
    #[must_use]
    pub fn new(machine: Machine) -> Self {
        Self {
            machine,
            max_segment_bytes: machine.default_max_segment_bytes(),
            seed: 0,
            time_budget: None,
            patience: 6,
            is_cross_validated: true,
        }
    }
}

impl Default for TuneOptions {
    fn default() -> Self {
        Self::new(Machine::default())
    }
}

/// What a search is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Trying settings that are known to help somewhere.
    Known,
    /// Varying the best ones.
    Varying,
    /// Trying the best on larger and smaller versions of the inputs.
    Robustness,
    /// Tuning without a part of the inputs, to try the pick on that part.
    CrossValidation,
}

/// How far a search has come.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TuneProgress {
    /// What it is doing.
    pub phase: Phase,
    /// Evaluations made so far.
    pub evaluated: u64,
    /// Reserved over live bytes of the best setting so far, mean over the inputs.
    pub best_ratio: f64,
}

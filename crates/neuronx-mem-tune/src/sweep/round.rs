//! A round of evaluations and who answers it: this process on all its cores, or anybody else who
//! runs the jobs. The answers are the same.

use std::collections::HashMap;

use neuronx_mem::AllocatorConfig;
use rayon::prelude::*;

use super::{Figures, Job, JobMachine, JobResult, Machine, Trial, Variant, evaluate};
use crate::{TuneError, Workload};

/// Trials of one job: enough that reading the input does not dominate, few enough to share out.
const TRIALS_A_JOB: usize = 16;

/// One question of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// Which input, by its place among those of the search.
    pub input_idx: usize,
    /// What is made of it.
    pub variant: Variant,
    /// Memory of the device, if it is not the one of the search.
    pub memory_bytes: Option<u64>,
    /// The configuration.
    pub config: AllocatorConfig,
    /// Gives up above so many reserved bytes.
    pub bound_bytes: u64,
}

/// Whoever answers rounds of a search. The answers depend on the questions alone.
pub trait Evaluate {
    /// Evaluates a round; the figures come in the order of the questions.
    ///
    /// # Errors
    ///
    /// Whatever keeps the questions from being answered.
    fn evaluate(&mut self, round: &[Evaluation]) -> Result<Vec<Figures>, TuneError>;
}

/// Answers rounds on this machine's cores.
#[derive(Debug)]
pub struct LocalSweep<'a> {
    workloads: &'a [Workload],
    machine: Machine,
    /// Versions that have been made; a search asks for the same few again and again.
    versions: HashMap<(usize, Variant), Workload>,
}

impl<'a> LocalSweep<'a> {
    /// Answers for these inputs on a device. Uses rayon's current pool of threads.
    #[must_use]
    pub fn new(workloads: &'a [Workload], machine: Machine) -> Self {
        Self { workloads, machine, versions: HashMap::new() }
    }
}

impl Evaluate for LocalSweep<'_> {
    fn evaluate(&mut self, round: &[Evaluation]) -> Result<Vec<Figures>, TuneError> {
        for question in round.iter().filter(|question| !question.variant.is_whole()) {
            let key = (question.input_idx, question.variant.clone());
            let workload = &self.workloads[question.input_idx];
            self.versions.entry(key).or_insert_with(|| question.variant.apply(workload));
        }
        let answer = |question: &Evaluation| {
            let key = (question.input_idx, question.variant.clone());
            let workload = self.versions.get(&key).unwrap_or(&self.workloads[question.input_idx]);
            let memory_bytes = question.memory_bytes.or(self.machine.memory_bytes);
            let machine = Machine { memory_bytes, ..self.machine };
            evaluate(workload, &question.config, &machine, question.bound_bytes)
        };
        Ok(round.par_iter().map(answer).collect())
    }
}

/// A round as jobs for somebody else, and the way back from their results.
#[derive(Clone, Debug)]
pub struct JobRound {
    jobs: Vec<Job>,
    /// For each trial of each job, in order, the question that it answers.
    questions: Vec<usize>,
}

impl JobRound {
    /// Cuts a round into jobs of up to 16 trials on one input each.
    #[must_use]
    pub fn new(round: &[Evaluation], workloads: &[Workload], is_lenient: bool, machine: &Machine) -> Self {
        let mut order: Vec<usize> = (0..round.len()).collect();
        let mut jobs: Vec<Job> = Vec::new();
        // Stable, so questions of one input and variant stay in their order; the first of each kind
        // decides where its kind stands.
        let first = |idx: usize| round.iter().position(|other| is_same_kind(other, &round[idx]));
        order.sort_by_key(|idx| first(*idx));
        for &idx in &order {
            let question = &round[idx];
            let workload = &workloads[question.input_idx];
            let memory = question.memory_bytes.or(machine.memory_bytes);
            let empty = Job {
                input: workload.name().to_owned(),
                fingerprint: workload.fingerprint(),
                is_lenient,
                machine: JobMachine { memory, ..JobMachine::from(machine) },
                variant: question.variant.clone(),
                trials: Vec::new(),
            };
            let fits = jobs.last().is_some_and(|last| {
                last.trials.len() < TRIALS_A_JOB && Job { trials: Vec::new(), ..last.clone() } == empty
            });
            if !fits {
                jobs.push(empty);
            }
            let trial = Trial { config: question.config.to_env_string(), bound_bytes: question.bound_bytes };
            jobs.last_mut().into_iter().for_each(|job| job.trials.push(trial.clone()));
        }
        Self { jobs, questions: order }
    }

    /// The jobs.
    #[must_use]
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// The figures in the order of the round's questions.
    ///
    /// # Errors
    ///
    /// [`TuneError::WrongResults`] when there are not as many figures as trials.
    pub fn figures(&self, results: &[JobResult]) -> Result<Vec<Figures>, TuneError> {
        let wrong = |n_results| TuneError::WrongResults { n_jobs: self.questions.len(), n_results };
        let is_whole = results.len() == self.jobs.len()
            && self.jobs.iter().zip(results).all(|(job, result)| job.trials.len() == result.figures.len());
        let flat: Vec<Figures> = results.iter().flat_map(|result| result.figures.iter().copied()).collect();
        if !is_whole {
            return Err(wrong(flat.len()));
        }
        let mut figures: Vec<(usize, Figures)> = self.questions.iter().copied().zip(flat).collect();
        figures.sort_by_key(|(question, _)| *question);
        Ok(figures.into_iter().map(|(_, figures)| figures).collect())
    }
}

fn is_same_kind(one: &Evaluation, other: &Evaluation) -> bool {
    let kind = |of: &Evaluation| (of.input_idx, of.memory_bytes);
    kind(one) == kind(other) && one.variant == other.variant
}

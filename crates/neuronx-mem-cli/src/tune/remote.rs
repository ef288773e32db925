//! Rounds of a search as lines of JSON: jobs out, results in. Does not know who runs them.

use std::io::{self, BufRead};

use neuronx_mem_tune::{Evaluate, Evaluation, Figures, JobResult, JobRound, Machine, TuneError, Workload};
use serde::{Deserialize, Serialize};

use crate::json;
use crate::output;

pub(super) struct RemoteSweep<'a> {
    workloads: &'a [Workload],
    is_lenient: bool,
    machine: Machine,
}

#[derive(Serialize)]
struct Question<'a> {
    schema: u32,
    jobs: &'a [neuronx_mem_tune::Job],
}

#[derive(Deserialize)]
struct Reply {
    results: Vec<JobResult>,
}

impl<'a> RemoteSweep<'a> {
    pub(super) fn new(workloads: &'a [Workload], is_lenient: bool, machine: Machine) -> Self {
        Self { workloads, is_lenient, machine }
    }
}

impl Evaluate for RemoteSweep<'_> {
    fn evaluate(&mut self, round: &[Evaluation]) -> Result<Vec<Figures>, TuneError> {
        if round.is_empty() {
            return Ok(Vec::new());
        }
        let round = JobRound::new(round, self.workloads, self.is_lenient, &self.machine);
        let question = json::line(&Question { schema: json::SCHEMA, jobs: round.jobs() });
        let question = question.map_err(|failure| TuneError::Evaluator { reason: failure.to_string() })?;
        output::print(&question).map_err(|failure| TuneError::Evaluator { reason: failure.to_string() })?;
        let mut line = String::new();
        io::stdin()
            .lock()
            .read_line(&mut line)
            .map_err(|error| TuneError::Evaluator { reason: error.to_string() })?;
        let reply: Reply = serde_json::from_str(&line)
            .map_err(|error| TuneError::Evaluator { reason: format!("results: {error}") })?;
        round.figures(&reply.results)
    }
}

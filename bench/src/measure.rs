//! CPU time per step: thread clock, median and minimum of several measurements, all allocators
//! of a workload in turn so that a slow moment of the machine hits them alike.

use rustix::time::{ClockId, clock_gettime};

use crate::subject::{self, Runner};
use crate::workload::Workload;

/// One allocator on one workload.
#[derive(Clone, Debug)]
pub struct Cell {
    pub subject: String,
    pub workload: String,
    pub median_ns: f64,
    pub minimum_ns: f64,
}

pub fn workload(workload: &Workload, subjects: &[&str], repetitions: usize) -> Vec<Cell> {
    let mut runners: Vec<(&str, Box<dyn Runner>, Vec<f64>)> =
        subjects.iter().map(|name| (*name, subject::make(name, workload), Vec::new())).collect();
    // Once untimed: caches, slabs and segments are warm from then on.
    runners.iter_mut().for_each(|(_, runner, _)| runner.run(workload, 1));
    for _ in 0..repetitions {
        for (_, runner, samples) in &mut runners {
            let before = thread_cpu_ns();
            runner.run(workload, workload.repeats);
            let steps = workload.steps.len() * workload.repeats;
            samples.push((thread_cpu_ns() - before) as f64 / steps as f64);
        }
    }
    runners.into_iter().map(|(name, _, samples)| Cell::new(name, &workload.name, samples)).collect()
}

impl Cell {
    pub fn new(subject: &str, workload: &str, mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        Self {
            subject: subject.to_owned(),
            workload: workload.to_owned(),
            median_ns: samples[samples.len() / 2],
            minimum_ns: samples[0],
        }
    }
}

pub fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(time.tv_sec * 1_000_000_000 + time.tv_nsec).unwrap_or(0)
}

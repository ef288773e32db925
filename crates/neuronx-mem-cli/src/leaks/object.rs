//! The object of `leaks --json`.

use neuronx_mem_explain::{Leak, Leaks, Run, Trend};
use serde::Serialize;

use crate::failure::Failure;
use crate::json;
use crate::site::{JsonFrame, json_frames};

#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    input: &'a str,
    steps: usize,
    steps_by: &'a str,
    /// Whether there are enough steps to tell.
    conclusive: bool,
    leaks: Vec<Site>,
    total: Rise,
}

#[derive(Serialize)]
struct Site {
    stack: Vec<JsonFrame>,
    /// In place of a stack, with stream and size class.
    phase: Option<String>,
    stream: Option<u64>,
    size_from: Option<u64>,
    #[serde(flatten)]
    rise: Rise,
    first_step: usize,
    steps: usize,
    kept: u64,
    kept_bytes: u64,
    usual_size: u64,
}

#[derive(Serialize)]
struct Rise {
    bytes_per_step: f64,
    chance: f64,
    first: u64,
    last: u64,
}

pub(super) fn line(run: &Run, leaks: &Leaks) -> Result<String, Failure> {
    json::line(&Object {
        schema: json::SCHEMA,
        input: &run.name,
        steps: leaks.steps.len(),
        steps_by: leaks.steps.rule(),
        conclusive: leaks.is_conclusive,
        leaks: leaks.leaks.iter().map(|leak| Site::of(run, leak)).collect(),
        total: Rise::of(&leaks.total),
    })
}

impl Site {
    fn of(run: &Run, leak: &Leak) -> Self {
        Self {
            stack: json_frames(run.sites.frames(leak.site)),
            phase: run.sites.phase(leak.site).map(str::to_owned),
            stream: leak.kind.map(|(stream, _)| stream),
            size_from: leak.kind.map(|(_, size)| size.floor_bytes()),
            rise: Rise::of(&leak.trend),
            first_step: leak.first_step,
            steps: leak.n_steps,
            kept: leak.n_kept,
            kept_bytes: leak.kept_bytes,
            usual_size: leak.usual_bytes,
        }
    }
}

impl Rise {
    fn of(trend: &Trend) -> Self {
        Self {
            bytes_per_step: trend.bytes_per_step,
            chance: trend.chance,
            first: trend.first_bytes,
            last: trend.last_bytes,
        }
    }
}

//! Results as JSON. The keys are stable and versioned; sizes are bytes, as integers.

use neuronx_mem::fragmentation::Analysis;
use neuronx_mem::pool::{MissReason, NearestMiss};
use neuronx_mem::{RecoveryStep, StepKind};
use neuronx_mem_replay::{Comparison, ReplayReport, TraceOutOfMemory};
use serde::Serialize;

use crate::failure::Failure;

/// The version of all keys.
pub(crate) const SCHEMA: u32 = 1;

/// One line with an object.
pub(crate) fn line(object: &impl Serialize) -> Result<String, Failure> {
    Ok(serde_json::to_string(object)? + "\n")
}

/// One line with the object of `replay --json`.
pub(crate) fn replay(report: &ReplayReport, analysis: &Analysis) -> Result<String, Failure> {
    let object = Replay {
        schema: SCHEMA,
        input: &report.input,
        figures: Figures::of(report),
        analysis: Fragmentation::of(analysis),
        elapsed_ns: report.elapsed_ns,
    };
    Ok(serde_json::to_string(&object)? + "\n")
}

/// One line with the object of `compare --json`.
pub(crate) fn comparison(comparison: &Comparison) -> Result<String, Failure> {
    let row =
        |report: &ReplayReport| Row { config: report.config.to_env_string(), figures: Figures::of(report) };
    let rows = comparison.rows.iter().map(row).collect();
    Ok(serde_json::to_string(&Compare { schema: SCHEMA, rows, best: comparison.best })? + "\n")
}

#[derive(Serialize)]
struct Replay<'a> {
    schema: u32,
    input: &'a str,
    #[serde(flatten)]
    figures: Figures,
    /// The fragmentation analysis at the peak.
    analysis: Fragmentation,
    elapsed_ns: u64,
}

/// The values of the memory profiling guide, step 3.
#[derive(Serialize)]
struct Fragmentation {
    total: u64,
    reserved: u64,
    free: u64,
    largest_free: u64,
    internal_fragmentation: u64,
    external_fragmentation: u64,
    fragmentation_index: f64,
    memory_density: f64,
}

impl Fragmentation {
    fn of(analysis: &Analysis) -> Self {
        Self {
            total: analysis.total_bytes,
            reserved: analysis.reserved_bytes,
            free: analysis.free_bytes,
            largest_free: analysis.largest_free_bytes,
            internal_fragmentation: analysis.internal_fragmentation_bytes,
            external_fragmentation: analysis.external_fragmentation_bytes,
            fragmentation_index: analysis.fragmentation_index,
            memory_density: analysis.memory_density,
        }
    }
}

#[derive(Serialize)]
struct Compare {
    schema: u32,
    rows: Vec<Row>,
    best: Option<usize>,
}

#[derive(Serialize)]
struct Row {
    /// Value of the environment variable that gives this configuration; empty for the defaults.
    config: String,
    #[serde(flatten)]
    figures: Figures,
}

/// What both verbs tell of one replay.
#[derive(Serialize)]
struct Figures {
    events: u64,
    config_hash: String,
    device_total: u64,
    requested_peak: u64,
    allocated_peak: u64,
    reserved_peak: u64,
    active_peak: u64,
    allocated: u64,
    reserved: u64,
    active: u64,
    segments_allocated: u64,
    segments_released: u64,
    num_ooms: u64,
    num_alloc_retries: u64,
    num_device_alloc: u64,
    oom: Option<Oom>,
}

#[derive(Serialize)]
struct Oom {
    message: String,
    event: u64,
    line: u64,
    requested: u64,
    rounded: u64,
    segment: u64,
    device_total: u64,
    reserved: u64,
    allocated: u64,
    active: u64,
    cached_free: u64,
    largest_free: u64,
    used_by_others: u64,
    pending: Vec<Pending>,
    steps: Vec<Step>,
    nearest_miss: Option<Miss>,
}

#[derive(Serialize)]
struct Pending {
    stream: u32,
    bytes: u64,
}

#[derive(Serialize)]
struct Step {
    kind: &'static str,
    gained: u64,
}

#[derive(Serialize)]
struct Miss {
    address: u64,
    size: u64,
    reason: &'static str,
}

impl Figures {
    fn of(report: &ReplayReport) -> Self {
        Self {
            events: report.events,
            config_hash: hash(report.config_hash),
            device_total: report.device_total_bytes,
            requested_peak: report.requested_peak_bytes,
            allocated_peak: report.allocated_peak_bytes,
            reserved_peak: report.reserved_peak_bytes,
            active_peak: report.active_peak_bytes,
            allocated: report.allocated_bytes,
            reserved: report.reserved_bytes,
            active: report.active_bytes,
            segments_allocated: report.segments_allocated,
            segments_released: report.segments_released,
            num_ooms: report.num_ooms,
            num_alloc_retries: report.num_alloc_retries,
            num_device_alloc: report.num_device_alloc,
            oom: report.out_of_memory.as_ref().map(Oom::of),
        }
    }
}

impl Oom {
    fn of(oom: &TraceOutOfMemory) -> Self {
        let TraceOutOfMemory { event, line, error } = oom;
        let pending = error.pending.iter().map(|(stream, bytes)| Pending { stream: stream.0, bytes: *bytes });
        Self {
            message: error.to_string(),
            event: *event,
            line: *line,
            requested: error.requested_bytes,
            rounded: error.rounded_bytes,
            segment: error.segment_bytes,
            device_total: error.total_bytes,
            reserved: error.reserved_bytes,
            allocated: error.allocated_bytes,
            active: error.active_bytes,
            cached_free: error.cached_free_bytes,
            largest_free: error.largest_free_bytes,
            used_by_others: error.used_by_others_bytes,
            pending: pending.collect(),
            steps: error.steps.iter().map(Step::of).collect(),
            nearest_miss: error.nearest_miss.as_ref().map(Miss::of),
        }
    }
}

impl Step {
    fn of(step: &RecoveryStep) -> Self {
        let kind = match step.kind {
            StepKind::WaitForStream => "wait_for_stream",
            StepKind::RunCallbacks => "run_callbacks",
            StepKind::WaitForOtherStreams => "wait_for_other_streams",
            StepKind::ReleaseSegments => "release_segments",
            _ => "other",
        };
        Self { kind, gained: step.gained_bytes }
    }
}

impl Miss {
    fn of(miss: &NearestMiss) -> Self {
        let reason = match miss.reason {
            MissReason::NotSplittable { .. } => "not_splittable",
            MissReason::OtherPool { .. } => "other_pool",
            MissReason::TooSmall { .. } => "too_small",
            _ => "other",
        };
        Self { address: miss.address, size: miss.extent_bytes, reason }
    }
}

/// As text: a reader of JSON may keep no more than 53 bits of a number.
fn hash(hash: u64) -> String {
    format!("{hash:016x}")
}

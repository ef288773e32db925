//! What one configuration comes to on one input, and which of two is better.

use neuronx_mem_replay::ReplayReport;
use serde::{Deserialize, Serialize};

/// The figures of one evaluation: those of a replay that the search judges by, equal to the byte.
///
/// Of an evaluation that was given up early only `verdict` and a lower bound in
/// `reserved_peak_bytes` mean anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Figures {
    /// How it ended.
    pub verdict: Verdict,
    /// Most segment bytes held at once.
    pub reserved_peak_bytes: u64,
    /// Most block bytes held by tensors at once.
    pub allocated_peak_bytes: u64,
    /// Most bytes that tensors asked for at once.
    pub active_peak_bytes: u64,
    /// Segment bytes held at the end.
    pub reserved_bytes: u64,
    /// Segment requests that the runtime served.
    pub num_device_alloc: u64,
    /// Retries during out-of-memory recovery.
    pub num_alloc_retries: u64,
    /// The largest segment taken in one piece, bytes. No figure of a replay's report.
    pub largest_segment_bytes: u64,
}

/// How an evaluation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// At the last event.
    Finished,
    /// Out of memory at this event, from 1.
    OutOfMemory {
        /// The event.
        event: u64,
    },
    /// Given up: more was reserved than the caller would accept.
    Abandoned,
    /// A request does not fit 64 bits under this configuration.
    SizeOverflow,
}

impl Figures {
    /// Whether the whole trace ran.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.verdict == Verdict::Finished
    }

    /// Out-of-memory errors: 0 or 1, since the first ends an evaluation.
    #[must_use]
    pub fn num_ooms(&self) -> u64 {
        u64::from(matches!(self.verdict, Verdict::OutOfMemory { .. }))
    }

    /// Whether these are the figures of a replay's report, every one.
    #[must_use]
    pub fn agree_with(&self, report: &ReplayReport) -> bool {
        let verdict = match &report.out_of_memory {
            None => Verdict::Finished,
            Some(oom) => Verdict::OutOfMemory { event: oom.event },
        };
        let of_report = Self {
            verdict,
            reserved_peak_bytes: report.reserved_peak_bytes,
            allocated_peak_bytes: report.allocated_peak_bytes,
            active_peak_bytes: report.active_peak_bytes,
            reserved_bytes: report.reserved_bytes,
            num_device_alloc: report.num_device_alloc,
            num_alloc_retries: report.num_alloc_retries,
            largest_segment_bytes: self.largest_segment_bytes,
        };
        *self == of_report
    }
}

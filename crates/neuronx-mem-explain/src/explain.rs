//! One explanation: the memory at a moment, and what a request would take. Puts the parts together;
//! each is worked out elsewhere.

use neuronx_mem::AllocatorConfig;
use neuronx_mem_replay::{ReplayOptions, TraceOutOfMemory};
use neuronx_mem_snapshot::{Action, Snapshot, TraceEntry};

use crate::heap::{Heap, Moment, Replayed};
use crate::release::{Least, Need, Release, Remedies, Rules, smallest_release};
use crate::what_if::{ConfigTrial, try_configs};
use crate::{ExplainError, Input};

/// What is to be explained.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ExplainOptions {
    /// The device and configuration that a trace is replayed on; of a snapshot, only the memory.
    pub replay: ReplayOptions,
    /// The moment of a trace.
    pub moment: Moment,
    /// The request, bytes; unset, the one that ran out of memory: in the trace, or as the last thing that
    /// a snapshot's history tells.
    pub need_bytes: Option<u64>,
    /// The stream that asks.
    pub need_stream: u64,
    /// What the set of blocks to give up has the least of.
    pub least: Least,
    /// Configurations to try when the allocator's own means do not serve the request.
    pub configs: Vec<AllocatorConfig>,
}

/// Why memory is held, and what would serve a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Explanation {
    /// The memory at the moment.
    pub heap: Heap,
    /// Events up to the moment.
    pub event: u64,
    /// Whether that is the first peak of allocated memory in a trace.
    pub is_peak: bool,
    /// Events of the input.
    pub n_events: u64,
    /// Where the trace ran out of memory.
    pub out_of_memory: Option<TraceOutOfMemory>,
    /// Lines that were left out, by the reader and by the replay.
    pub n_skipped: u64,
    /// The request, when there is one.
    pub request: Option<Request>,
}

/// A request, and what would serve it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request {
    /// What it needs.
    pub need: Need,
    /// The allocator's own means.
    pub remedies: Remedies,
    /// The smallest set of live blocks whose release serves it; `None` when the device is too small.
    pub release: Option<Release>,
    /// Other configurations; empty when none were tried.
    pub configs: Vec<ConfigTrial>,
}

impl Explanation {
    /// Explains an input. A trace is replayed up to the moment; a snapshot is looked at as it is.
    ///
    /// ```
    /// use neuronx_mem_explain::{ExplainOptions, Explanation, Input};
    /// use neuronx_mem_replay::TraceReader;
    ///
    /// let input = Input::from_events(TraceReader::new("a,1,4194304,0\nf,1\n".as_bytes(), "tiny"))?;
    /// let explanation = Explanation::of(&input, &ExplainOptions::default())?;
    /// assert_eq!(explanation.event, 1, "the peak");
    /// assert_eq!(explanation.heap.reserved_bytes(), 64 << 20);
    /// # Ok::<(), neuronx_mem_explain::ExplainError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Replayed::at`] and [`Rules::plan`]; [`ExplainError::MomentOfSnapshot`].
    pub fn of(input: &Input, options: &ExplainOptions) -> Result<Self, ExplainError> {
        let (mut explanation, rules) = match input.snapshot() {
            None => Self::of_trace(input, options)?,
            Some(snapshot) => {
                if options.moment != Moment::Decisive {
                    return Err(ExplainError::MomentOfSnapshot { input: input.name().to_owned() });
                }
                let heap = Heap::of_snapshot(snapshot, input.device_idx(), options.replay.memory_bytes);
                let n_events = snapshot.trace(input.device_idx()).len() as u64;
                let explanation = Self {
                    heap,
                    event: n_events,
                    is_peak: false,
                    n_events,
                    out_of_memory: None,
                    n_skipped: 0,
                    request: None,
                };
                (explanation, Rules::of_snapshot(snapshot))
            }
        };
        let failed = explanation.out_of_memory.as_ref().map(|oom| oom.error.requested_bytes);
        let failed = failed.or_else(|| failed_last(input.snapshot()?, input.device_idx()));
        if let Some(need_bytes) = options.need_bytes.or(failed) {
            let need = rules.plan(need_bytes, options.need_stream)?;
            explanation.request = Some(explanation.request(input, options, need)?);
        }
        Ok(explanation)
    }

    fn of_trace(input: &Input, options: &ExplainOptions) -> Result<(Self, Rules), ExplainError> {
        let Replayed { heap, event, is_peak, report } = Replayed::at(input, &options.replay, options.moment)?;
        // The failure explains memory only where the replay stopped there.
        let out_of_memory = report.out_of_memory.filter(|_| event == report.events);
        let n_skipped = report.skipped.total();
        let explanation = Self {
            heap,
            event,
            is_peak,
            n_events: input.n_events(),
            out_of_memory,
            n_skipped,
            request: None,
        };
        Ok((explanation, Rules::Neuron(options.replay.config)))
    }

    fn request(&self, input: &Input, options: &ExplainOptions, need: Need) -> Result<Request, ExplainError> {
        let remedies = Remedies::of(&self.heap, &need);
        let release = smallest_release(&self.heap, &need, options.least);
        // Whether the device is large enough is for a configuration to decide only when its size is known.
        let configs = if remedies.after_both || self.heap.total_bytes.is_none() {
            Vec::new()
        } else {
            try_configs(input, options, need.requested_bytes, self.replayed_event(input))?
        };
        Ok(Request { need, remedies, release, configs })
    }

    /// The events that a replay under another configuration has to make; those of a snapshot are its
    /// whole history.
    fn replayed_event(&self, input: &Input) -> u64 {
        if input.is_snapshot() { input.n_events() } else { self.event }
    }
}

/// The request that a history ends with because it failed.
fn failed_last(snapshot: &Snapshot, device_idx: usize) -> Option<u64> {
    let is_event = |entry: &&TraceEntry| !matches!(entry.action(), Action::Snapshot | Action::Annotate);
    let last = snapshot.trace(device_idx).iter().rev().find(is_event)?;
    (last.action() == Action::Oom).then(|| last.size_bytes())?.filter(|bytes| *bytes > 0)
}

//! Looking at the device at its peak and at the end. Does not know what is looked for: that is
//! the caller's function.
//!
//! The peak is known only once it has passed, and copying the pool at every new peak would cost
//! more than the replay itself. A replay is cheap and repeatable instead: a second pass stops at
//! the event that the first one found.

use neuronx_mem::Device;

use crate::{
    EventSource, OpenedInput, Outcome, Replay, ReplayError, ReplayOptions, ReplayReport, Trace, TraceInput,
};

/// A report, and what was seen of the device at two moments.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Analysed<A> {
    /// The figures of the whole replay.
    pub report: ReplayReport,
    /// After the event at which allocated memory first reached its peak; `None` when nothing was
    /// allocated.
    pub analysis_at_peak: Option<A>,
    /// After the last event.
    pub analysis_at_end: A,
}

impl Replay {
    /// Replays an input and looks at the device at the peak of allocated memory and at the end.
    ///
    /// A trace in a regular file is read twice; anything else is kept in memory as a [`Trace`], see
    /// [`Trace::read_input`]. About twice the time of [`run`](Self::run).
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run), and what opening the input gives.
    pub fn analyse<A>(
        &self,
        input: &TraceInput,
        is_lenient: bool,
        look: impl FnMut(&Device) -> A,
    ) -> Result<Analysed<A>, ReplayError> {
        match input.open_any()? {
            OpenedInput::Trace(_) if input.is_rereadable() => {
                self.analyse_passes(|| Ok(input.open()?.lenient(is_lenient)), look)
            }
            opened => self.analyse_trace(&Trace::read_opened(opened, input, is_lenient)?, look),
        }
    }

    /// Replays a trace in memory and looks at the device as [`analyse`](Self::analyse) does.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn analyse_trace<A>(
        &self,
        trace: &Trace,
        look: impl FnMut(&Device) -> A,
    ) -> Result<Analysed<A>, ReplayError> {
        self.analyse_passes(|| Ok(trace.events()), look)
    }

    fn analyse_passes<A, S: EventSource>(
        &self,
        open: impl Fn() -> Result<S, ReplayError>,
        mut look: impl FnMut(&Device) -> A,
    ) -> Result<Analysed<A>, ReplayError> {
        let Outcome { report, device } = self.run(open()?)?;
        let analysis_at_end = look(&device);
        let analysis_at_peak = match report.peak_event {
            None => None,
            until => {
                let to_peak = Self::new(ReplayOptions { until, ..*self.options() });
                Some(look(&to_peak.run(open()?)?.device))
            }
        };
        Ok(Analysed { report, analysis_at_peak, analysis_at_end })
    }
}

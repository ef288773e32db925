//! Where a replay takes its events from: a reader, or a trace in memory.

use crate::{Header, ReplayError, Skipped, TraceLine};

/// Events in order, and what is known about their origin.
///
/// After an error there are no more events. Leniency is a property of the source: a replay skips
/// what does not fit the events before it exactly when its source skips what it cannot read.
pub trait EventSource: Iterator<Item = Result<TraceLine, ReplayError>> {
    /// Name of the input, for messages and reports.
    fn name(&self) -> &str;

    /// Headers read so far; all of them once the first event has come.
    fn headers(&self) -> &[Header];

    /// Whether wrong lines are skipped and counted.
    fn is_lenient(&self) -> bool;

    /// Lines skipped so far.
    fn skipped(&self) -> Skipped;

    /// The value of the first header with a key.
    fn header(&self, key: &str) -> Option<&str> {
        self.headers().iter().find(|header| header.key == key).map(|header| header.value.as_str())
    }
}

impl<S: EventSource> EventSource for &mut S {
    fn name(&self) -> &str {
        S::name(self)
    }

    fn headers(&self) -> &[Header] {
        S::headers(self)
    }

    fn is_lenient(&self) -> bool {
        S::is_lenient(self)
    }

    fn skipped(&self) -> Skipped {
        S::skipped(self)
    }
}

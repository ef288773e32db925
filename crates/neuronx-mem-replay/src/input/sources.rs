//! Sources of events that know stacks. Pass events on; interpret nothing.

use neuronx_mem_snapshot::StackId;

use crate::{Event, EventSource, Header, HistoryEvents, ReplayError, Skipped, TraceLine};

/// A history that notes the stack of each allocation as it passes.
pub(super) struct WithStacks<'a, 'b> {
    events: HistoryEvents<'a>,
    stacks: &'b mut Vec<StackId>,
}

impl<'a, 'b> WithStacks<'a, 'b> {
    pub(super) fn new(events: HistoryEvents<'a>, stacks: &'b mut Vec<StackId>) -> Self {
        Self { events, stacks }
    }
}

impl Iterator for WithStacks<'_, '_> {
    type Item = Result<TraceLine, ReplayError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.events.next();
        if let Some(Ok(TraceLine { event: Event::Allocate { .. }, .. })) = &next {
            self.stacks.push(self.events.last_stack().unwrap_or(StackId::EMPTY));
        }
        next
    }
}

impl EventSource for WithStacks<'_, '_> {
    fn name(&self) -> &str {
        self.events.name()
    }

    fn headers(&self) -> &[Header] {
        self.events.headers()
    }

    fn is_lenient(&self) -> bool {
        self.events.is_lenient()
    }

    fn skipped(&self) -> Skipped {
        self.events.skipped()
    }
}

/// Events that were read before.
pub(super) struct Lines {
    name: String,
    headers: Vec<Header>,
    events: std::vec::IntoIter<TraceLine>,
    is_empty: bool,
}

impl Lines {
    pub(super) fn new(name: String, headers: Vec<Header>, events: Vec<TraceLine>) -> Self {
        let is_empty = events.is_empty();
        Self { name, headers, events: events.into_iter(), is_empty }
    }
}

impl Iterator for Lines {
    type Item = Result<TraceLine, ReplayError>;

    fn next(&mut self) -> Option<Self::Item> {
        if std::mem::take(&mut self.is_empty) {
            return Some(Err(ReplayError::NoEvents { input: self.name.clone() }));
        }
        self.events.next().map(Ok)
    }
}

impl EventSource for Lines {
    fn name(&self) -> &str {
        &self.name
    }

    fn headers(&self) -> &[Header] {
        &self.headers
    }

    fn is_lenient(&self) -> bool {
        false
    }

    fn skipped(&self) -> Skipped {
        Skipped::default()
    }
}

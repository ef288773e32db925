//! The marks of a run: which phase an event is in. Knows the labels that a history gives its ranges;
//! leaves steps to their own rule.

/// One mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The event that it is, from 1.
    pub(crate) event: u64,
    pub(crate) label: Box<str>,
    /// Where the phase that it begins stands in the label; `None` when it begins none.
    phase: Option<std::ops::Range<usize>>,
}

/// All marks and synchronisations, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phases {
    pub(crate) marks: Vec<Mark>,
    pub(crate) synchronisations: Vec<u64>,
    is_history: bool,
}

impl Phases {
    /// Of the history of a snapshot only ranges are phases; of a trace every mark is one.
    pub(crate) fn new(is_history: bool) -> Self {
        Self { is_history, ..Self::default() }
    }

    pub(super) fn mark(&mut self, event: u64, label: Box<str>) {
        let phase = if self.is_history { phase_of_history(&label) } else { Some(0..label.len()) };
        self.marks.push(Mark { event, label, phase });
    }

    pub(super) fn synchronize(&mut self, event: u64) {
        self.synchronisations.push(event);
    }

    /// The phase of an event. O(log marks) where every mark is a phase.
    pub(crate) fn at(&self, event: u64) -> &str {
        let n_before = self.marks.partition_point(|mark| mark.event <= event);
        let mut before = self.marks[..n_before].iter().rev();
        before.find_map(|mark| mark.phase.clone().map(|range| &mark.label[range])).unwrap_or_default()
    }

    /// See [`Run::end_event`](super::Run::end_event); `last_birth` is the last allocation's event.
    pub(super) fn end_event(&self, n_events: u64, last_birth: u64, is_all_freed: bool) -> u64 {
        let teardown = self.marks.iter().rfind(|mark| mark.label.eq_ignore_ascii_case("teardown"));
        let teardown = match teardown {
            Some(mark) => mark.event,
            None if is_all_freed && last_birth > 0 => n_events + 1,
            None => return n_events + 1,
        };
        let marks = self.marks.iter().map(|mark| mark.event);
        let events = marks.chain(self.synchronisations.iter().copied());
        let among_frees = events.filter(|event| (last_birth..teardown).contains(event)).max();
        (among_frees.unwrap_or(last_birth) + 1).min(teardown)
    }
}

/// `begin NAME` begins the phase of that name, `end NAME` one without; other marks of a history
/// happen within one.
fn phase_of_history(label: &str) -> Option<std::ops::Range<usize>> {
    match label.split_once(' ').map_or(label, |(word, _)| word) {
        "begin" => Some("begin ".len().min(label.len())..label.len()),
        "end" | "history" => Some(0..0),
        "baseline" => Some(0..label.len()),
        _ => None,
    }
}

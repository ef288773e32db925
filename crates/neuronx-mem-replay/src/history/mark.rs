//! What a history tells beside allocations and frees, and the label that says it in a trace.

use neuronx_mem_snapshot::{Action, StackTable, TraceEntry};

/// Longest label, bytes: long enough for a profiler range, short enough for a line.
const MAX_LABEL_BYTES: usize = 1000;

/// Something without an effect on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HistoryMark<'a> {
    /// Blocks that lived before the first event follow.
    Baseline,
    /// The baseline is complete, the events follow.
    History,
    /// What the final state shows and no event tells follows.
    Unrecorded,
    /// A request of this many bytes, rounded, failed.
    OutOfMemory(u64),
    /// A tensor was annotated.
    Annotate(&'a str),
    /// A range of the program began.
    Begin(&'a str),
    /// A range of the program ended.
    End(&'a str),
    /// Any other action, by name.
    Other(&'a str),
}

impl<'a> HistoryMark<'a> {
    /// The mark of an entry that is neither allocation nor free; `None` for those of segments.
    pub(super) fn of(entry: &TraceEntry, stacks: &'a StackTable) -> Option<Self> {
        match entry.action() {
            Action::Oom => Some(Self::OutOfMemory(entry.size_bytes().unwrap_or(0))),
            Action::Annotate => Some(Self::Annotate(entry.user_metadata(stacks).unwrap_or_default())),
            action @ (Action::Snapshot | Action::Other(_)) => Some(Self::Other(action.name(stacks))),
            _ => None,
        }
    }

    /// The label in a trace: one line, whatever the program called its ranges.
    #[must_use]
    pub fn label(&self) -> String {
        let label = match self {
            Self::Baseline => "baseline".to_owned(),
            Self::History => "history".to_owned(),
            Self::Unrecorded => "unrecorded".to_owned(),
            Self::OutOfMemory(bytes) => format!("oom {bytes}"),
            Self::Annotate(text) => format!("annotate {text}"),
            Self::Begin(name) => format!("begin {name}"),
            Self::End(name) => format!("end {name}"),
            Self::Other(name) => (*name).to_owned(),
        };
        one_line(&label)
    }
}

/// A text that stands on one line of a trace: without control characters, cut to a sane length.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::new();
    for letter in text.chars() {
        if line.len() + letter.len_utf8() > MAX_LABEL_BYTES {
            break;
        }
        line.push(if letter.is_control() { ' ' } else { letter });
    }
    line.trim().to_owned()
}

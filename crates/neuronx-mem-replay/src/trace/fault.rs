//! What can be wrong with a line, and the tally of lines that were skipped for it.

use std::fmt;

/// Longest excerpt of a line in a message, bytes.
const MAX_EXCERPT_BYTES: usize = 32;

/// The rule that a line breaks. Texts are excerpts with everything unprintable escaped.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The line starts with none of `a`, `f`, `r`, `s`, `m` and `#`.
    #[error("unknown event `{text}`")]
    UnknownEvent {
        /// The first field.
        text: String,
    },
    /// A field is absent or empty.
    #[error("event `{event}` lacks its {field}")]
    MissingField {
        /// The letter of the event.
        event: char,
        /// The field.
        field: &'static str,
    },
    /// There is more on the line than the event has fields.
    #[error("event `{event}` has an extra field `{text}`")]
    ExtraField {
        /// The letter of the event.
        event: char,
        /// What is too much.
        text: String,
    },
    /// A number holds something other than decimal digits.
    #[error("{field} `{text}` is not a decimal number")]
    NotANumber {
        /// The field.
        field: &'static str,
        /// What stands there.
        text: String,
    },
    /// A number does not fit 64 bits.
    #[error("{field} `{text}` does not fit 64 bits")]
    NumberOverflow {
        /// The field.
        field: &'static str,
        /// What stands there.
        text: String,
    },
    /// The line is not UTF-8.
    #[error("not UTF-8 text from byte {column} on")]
    NotUtf8 {
        /// The first wrong byte of the line, from 1.
        column: usize,
    },
    /// The line is longer than [`MAX_LINE_BYTES`](crate::MAX_LINE_BYTES).
    #[error("longer than {limit_bytes} bytes")]
    LineTooLong {
        /// The limit.
        limit_bytes: usize,
    },
    /// The tensor is allocated a second time without a free in between.
    #[error("id {id} is allocated while it is live")]
    AllocatedTwice {
        /// The tensor.
        id: u64,
    },
    /// A tensor is freed that is not live.
    #[error("id {id} is freed but not live")]
    FreeOfNotLive {
        /// The tensor.
        id: u64,
    },
    /// A stream is recorded for a tensor that is not live.
    #[error("a stream is recorded for id {id}, which is not live")]
    RecordOfNotLive {
        /// The tensor.
        id: u64,
    },
}

/// A [`Fault`] without its particulars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// [`Fault::UnknownEvent`].
    UnknownEvent,
    /// [`Fault::MissingField`].
    MissingField,
    /// [`Fault::ExtraField`].
    ExtraField,
    /// [`Fault::NotANumber`].
    NotANumber,
    /// [`Fault::NumberOverflow`].
    NumberOverflow,
    /// [`Fault::NotUtf8`].
    NotUtf8,
    /// [`Fault::LineTooLong`].
    LineTooLong,
    /// [`Fault::AllocatedTwice`].
    AllocatedTwice,
    /// [`Fault::FreeOfNotLive`].
    FreeOfNotLive,
    /// [`Fault::RecordOfNotLive`].
    RecordOfNotLive,
}

impl FaultKind {
    /// All kinds, those of single lines first.
    pub const ALL: [Self; 10] = [
        Self::UnknownEvent,
        Self::MissingField,
        Self::ExtraField,
        Self::NotANumber,
        Self::NumberOverflow,
        Self::NotUtf8,
        Self::LineTooLong,
        Self::AllocatedTwice,
        Self::FreeOfNotLive,
        Self::RecordOfNotLive,
    ];

    /// A few words for messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnknownEvent => "unknown event",
            Self::MissingField => "missing field",
            Self::ExtraField => "extra field",
            Self::NotANumber => "not a number",
            Self::NumberOverflow => "number too large",
            Self::NotUtf8 => "not UTF-8",
            Self::LineTooLong => "line too long",
            Self::AllocatedTwice => "allocated twice",
            Self::FreeOfNotLive => "free of a tensor not live",
            Self::RecordOfNotLive => "record of a tensor not live",
        }
    }
}

impl Fault {
    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> FaultKind {
        match self {
            Self::UnknownEvent { .. } => FaultKind::UnknownEvent,
            Self::MissingField { .. } => FaultKind::MissingField,
            Self::ExtraField { .. } => FaultKind::ExtraField,
            Self::NotANumber { .. } => FaultKind::NotANumber,
            Self::NumberOverflow { .. } => FaultKind::NumberOverflow,
            Self::NotUtf8 { .. } => FaultKind::NotUtf8,
            Self::LineTooLong { .. } => FaultKind::LineTooLong,
            Self::AllocatedTwice { .. } => FaultKind::AllocatedTwice,
            Self::FreeOfNotLive { .. } => FaultKind::FreeOfNotLive,
            Self::RecordOfNotLive { .. } => FaultKind::RecordOfNotLive,
        }
    }
}

/// Lines that a lenient reader or replay left out, by kind.
///
/// Its `Display` is a list such as `3 (unknown event 2, not a number 1)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    counts: [u64; FaultKind::ALL.len()],
}

impl Skipped {
    /// Counts one more.
    pub(crate) fn add(&mut self, kind: FaultKind) {
        self.counts[kind as usize] += 1;
    }

    /// Both tallies together.
    #[must_use]
    pub(crate) fn plus(mut self, other: Self) -> Self {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        self
    }

    /// How many of a kind.
    #[must_use]
    pub const fn of(&self, kind: FaultKind) -> u64 {
        self.counts[kind as usize]
    }

    /// How many in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The kinds that occurred, in the order of [`FaultKind::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (FaultKind, u64)> + '_ {
        FaultKind::ALL.into_iter().map(|kind| (kind, self.of(kind))).filter(|(_, count)| *count > 0)
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.total())?;
        let kinds: Vec<String> =
            self.iter().map(|(kind, count)| format!("{} {count}", kind.name())).collect();
        if kinds.is_empty() { Ok(()) } else { write!(f, " ({})", kinds.join(", ")) }
    }
}

/// The start of a text, fit for one line of a message.
pub(crate) fn excerpt(text: &[u8]) -> String {
    let cut = text.len().min(MAX_EXCERPT_BYTES);
    let mut shown = String::new();
    for letter in String::from_utf8_lossy(&text[..cut]).chars() {
        if matches!(letter, '"' | '\'') {
            shown.push(letter);
        } else {
            shown.extend(letter.escape_debug());
        }
    }
    if cut < text.len() {
        shown.push('…');
    }
    shown
}

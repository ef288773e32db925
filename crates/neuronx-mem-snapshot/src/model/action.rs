//! What a trace entry reports. Knows the ten actions of the schema and keeps any other by name;
//! refuses to know what an action does to the memory.

use super::key::{KNOWN_KEYS, fixed_text};
use super::{StackTable, StrId};

/// The `action` of a trace entry (PyTorch snapshot schema §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// A block was handed out.
    Alloc,
    /// The user freed a block.
    FreeRequested,
    /// The block's memory may be reused.
    FreeCompleted,
    /// A segment was obtained from the runtime.
    SegmentAlloc,
    /// A segment went back to the runtime.
    SegmentFree,
    /// A range was mapped into an expandable segment (PyTorch only).
    SegmentMap,
    /// A range was unmapped from an expandable segment (PyTorch only).
    SegmentUnmap,
    /// A request failed for lack of memory.
    Oom,
    /// A snapshot was taken.
    Snapshot,
    /// A tensor was annotated.
    Annotate,
    /// An action that the schema does not know, by name.
    Other(StrId),
}

impl Action {
    /// The actions of the schema, in the order of their codes.
    pub const ALL: [Self; 10] = [
        Self::Alloc,
        Self::FreeRequested,
        Self::FreeCompleted,
        Self::SegmentAlloc,
        Self::SegmentFree,
        Self::SegmentMap,
        Self::SegmentUnmap,
        Self::Oom,
        Self::Snapshot,
        Self::Annotate,
    ];

    /// The action with this name; `None` if the schema does not know it.
    ///
    /// ```
    /// use neuronx_mem_snapshot::Action;
    ///
    /// assert_eq!(Action::from_name("oom"), Some(Action::Oom));
    /// assert_eq!(Action::from_name("free"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.known_name() == Some(name))
    }

    /// The action's name, as in a snapshot file.
    #[must_use]
    pub fn name(self, stacks: &StackTable) -> &str {
        stacks.text(self.text_id())
    }

    /// A small number for the known actions, `None` for the others.
    #[must_use]
    #[inline]
    pub const fn code(self) -> Option<u8> {
        // Spelled out: the recorder asks for every event. A test compares it with the table.
        match self {
            Self::Alloc => Some(0),
            Self::FreeRequested => Some(1),
            Self::FreeCompleted => Some(2),
            Self::SegmentAlloc => Some(3),
            Self::SegmentFree => Some(4),
            Self::SegmentMap => Some(5),
            Self::SegmentUnmap => Some(6),
            Self::Oom => Some(7),
            Self::Snapshot => Some(8),
            Self::Annotate => Some(9),
            Self::Other(_) => None,
        }
    }

    fn known_name(self) -> Option<&'static str> {
        self.code().map(|code| super::FIXED_TEXTS[KNOWN_KEYS + usize::from(code)])
    }

    #[inline]
    pub(crate) const fn text_id(self) -> StrId {
        match self {
            Self::Alloc => fixed_text(0),
            Self::FreeRequested => fixed_text(1),
            Self::FreeCompleted => fixed_text(2),
            Self::SegmentAlloc => fixed_text(3),
            Self::SegmentFree => fixed_text(4),
            Self::SegmentMap => fixed_text(5),
            Self::SegmentUnmap => fixed_text(6),
            Self::Oom => fixed_text(7),
            Self::Snapshot => fixed_text(8),
            Self::Annotate => fixed_text(9),
            Self::Other(id) => id,
        }
    }

    pub(crate) fn from_text_id(id: StrId) -> Self {
        let known = id.index().checked_sub(KNOWN_KEYS).and_then(|code| Self::ALL.get(code));
        known.copied().unwrap_or(Self::Other(id))
    }
}

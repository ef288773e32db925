//! What stands beside the events: labels of the program and out-of-memory errors. Plain data.

/// A label at an event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mark {
    /// The event that it is, or comes before.
    pub event: u64,
    /// What kind it is.
    pub kind: MarkKind,
    /// Its text.
    pub label: Box<str>,
}

/// What a mark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum MarkKind {
    /// A phase or a step begins here.
    Label,
    /// A range of the program begins.
    Begin,
    /// A range of the program ends.
    End,
    /// A tensor was annotated.
    Annotate,
    /// Anything else that was recorded, such as a snapshot.
    Other,
}

/// A request that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutOfMemoryMark {
    /// The event.
    pub event: u64,
    /// Bytes asked for; of a snapshot of PyTorch, rounded.
    pub bytes: u64,
    /// Free bytes of the device, where the input says so.
    pub device_free_bytes: Option<u64>,
    /// What the allocator said, where it was replayed; else empty.
    pub message: Box<str>,
}

//! The keys and fixed words of the schema. Knows one order of all keys that agrees with the order
//! of every kind of dict, so that "in canonical order" means "ascending"; refuses to know values.

use super::StrId;

/// A key that the schema knows. The numeric order is the canonical order within every dict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Key {
    Segments,
    DeviceTraces,
    AllocatorSettings,
    ExternalAnnotations,
    HostSegments,
    HostTraces,
    Action,
    Addr,
    DeviceFree,
    Stage,
    Name,
    Filename,
    Line,
    Device,
    Address,
    TotalSize,
    AllocatedSize,
    ActiveSize,
    Size,
    RequestedSize,
    Stream,
    TimeUs,
    CompileContext,
    UserMetadata,
    PoolId,
    SegmentType,
    SegmentPoolId,
    IsExpandable,
    State,
    Frames,
    Blocks,
    InternalMetadata,
    Category,
    TraceId,
}

/// Number of known keys.
pub(crate) const KNOWN_KEYS: usize = Key::TraceId as usize + 1;

/// Every table starts with these texts, so that their numbers are constants: the keys in the order
/// of [`Key`], the actions in the order of `Action`, the block states, and common values.
pub(crate) const FIXED_TEXTS: [&str; KNOWN_KEYS + 20] = [
    "segments",
    "device_traces",
    "allocator_settings",
    "external_annotations",
    "host_segments",
    "host_traces",
    "action",
    "addr",
    "device_free",
    "stage",
    "name",
    "filename",
    "line",
    "device",
    "address",
    "total_size",
    "allocated_size",
    "active_size",
    "size",
    "requested_size",
    "stream",
    "time_us",
    "compile_context",
    "user_metadata",
    "pool_id",
    "segment_type",
    "segment_pool_id",
    "is_expandable",
    "state",
    "frames",
    "blocks",
    "internal_metadata",
    "category",
    "trace_id",
    "alloc",
    "free_requested",
    "free_completed",
    "segment_alloc",
    "segment_free",
    "segment_map",
    "segment_unmap",
    "oom",
    "snapshot",
    "annotate",
    "active_allocated",
    "active_pending_free",
    "inactive",
    "active_awaiting_free",
    "small",
    "large",
    "N/A",
    "",
    "START",
    "END",
];

/// Keys that this project adds to a snapshot beside those of PyTorch.
pub mod keys {
    /// Top level: trace entries lost because the ring was full, all devices together (int).
    pub const DROPPED_ENTRIES: &str = "dropped_entries";
    /// In `allocator_settings`: the stable hash of the effective configuration (int).
    pub const CONFIG_HASH: &str = "config_hash";
}

impl Key {
    /// The number of the key's text, the same in every table.
    pub(crate) const fn id(self) -> StrId {
        StrId::from_index(self as usize)
    }

    /// The key's text.
    pub(crate) const fn text(self) -> &'static str {
        FIXED_TEXTS[self as usize]
    }
}

/// The number of a fixed text by its position after the keys.
pub(crate) const fn fixed_text(position: usize) -> StrId {
    StrId::from_index(KNOWN_KEYS + position)
}

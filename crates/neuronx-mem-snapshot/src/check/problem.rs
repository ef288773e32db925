//! What can be wrong with a snapshot that reads well. Knows where and by how much; refuses to judge
//! how bad it is.

/// One broken promise of the PyTorch snapshot schema §2-4. Positions are indices into
/// `segments` (or `host_segments` where `is_host` says so) and the segment's blocks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A key is absent that every consumer needs.
    #[error("segment {segment_idx}: key `{key}` is missing")]
    MissingSegmentKey {
        /// Whether it is a host segment.
        is_host: bool,
        /// Position of the segment.
        segment_idx: usize,
        /// The key.
        key: &'static str,
    },
    /// A block lacks a key that every consumer needs.
    #[error("segment {segment_idx}, block {block_idx}: key `{key}` is missing")]
    MissingBlockKey {
        /// Whether it is in a host segment.
        is_host: bool,
        /// Position of the segment.
        segment_idx: usize,
        /// Position of the block.
        block_idx: usize,
        /// The key.
        key: &'static str,
    },
    /// A block's state is none of the three.
    #[error("segment {segment_idx}, block {block_idx}: unknown state `{state}`")]
    UnknownState {
        /// Whether it is in a host segment.
        is_host: bool,
        /// Position of the segment.
        segment_idx: usize,
        /// Position of the block.
        block_idx: usize,
        /// The state.
        state: String,
    },
    /// A block does not start where the one before ends.
    #[error("segment {segment_idx}, block {block_idx}: starts at {found:#x}, not at {expected:#x}")]
    BlockAddress {
        /// Whether it is in a host segment.
        is_host: bool,
        /// Position of the segment.
        segment_idx: usize,
        /// Position of the block.
        block_idx: usize,
        /// Running sum of sizes.
        expected: u64,
        /// Address in the file.
        found: u64,
    },
    /// A size of a segment is not the sum over its blocks.
    #[error("segment {segment_idx}: `{key}` is {found_bytes}, its blocks add up to {expected_bytes}")]
    Sum {
        /// Whether it is a host segment.
        is_host: bool,
        /// Position of the segment.
        segment_idx: usize,
        /// Which size; `total_size` means that the blocks do not tile the segment.
        key: &'static str,
        /// Sum over the blocks, bytes.
        expected_bytes: u128,
        /// Value in the file, bytes.
        found_bytes: u64,
    },
    /// A segment begins before the end of the one before it on the same device.
    #[error(
        "segment {segment_idx}: starts at {address:#x}, before {previous_end:#x}, the end of the one before"
    )]
    SegmentOrder {
        /// Position of the segment.
        segment_idx: usize,
        /// Its address.
        address: u64,
        /// End of the previous segment of the device.
        previous_end: u64,
    },
    /// A segment's device has no trace list, or the ordinal is impossible.
    #[error("segment {segment_idx}: device {device} has no list among the {n_devices} device traces")]
    Device {
        /// Whether it is a host segment (whose device is -1).
        is_host: bool,
        /// Position of the segment.
        segment_idx: usize,
        /// The device.
        device: i64,
        /// Number of trace lists.
        n_devices: usize,
    },
}

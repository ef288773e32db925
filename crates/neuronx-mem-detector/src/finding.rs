//! One thing that is wrong with how memory was used: the numbers, the stacks, and one line of text.

use std::fmt;

/// The block that a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockFacts {
    /// The n-th block of the device, from 1.
    pub number: u64,
    /// First device address.
    pub address: u64,
    /// Bytes its owner asked for.
    pub requested_bytes: u64,
    /// The stream it belongs to.
    pub stream: u32,
}

/// What is wrong. Addresses are device addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindingKind {
    /// Work uses memory whose owner has freed it.
    UseAfterFree {
        /// The first byte that is used and freed.
        address: u64,
        /// Bytes of the use.
        bytes: u64,
        /// Stream of the work.
        stream: u32,
        /// Number of the work on it.
        ticket: u64,
    },
    /// Freed memory was written before anybody got it again.
    WriteAfterFree {
        /// The first byte that changed.
        address: u64,
        /// What it was filled with.
        expected: u8,
        /// What it holds now.
        found: u8,
    },
    /// A block was freed a second time.
    DoubleFree,
    /// A block was freed that the device never handed out, or so long ago that it is forgotten.
    InvalidFree {
        /// The address in the handle.
        address: u64,
    },
    /// A block was freed while another stream may still use it: `record_stream` is missing.
    UnrecordedStream {
        /// The stream that was not recorded.
        stream: u32,
        /// Its last work that uses the block.
        ticket: u64,
    },
    /// A block's memory was taken over from the work that still uses it on the block's own stream, and
    /// another stream uses it without waiting for that work.
    UnorderedUse {
        /// The stream that uses it.
        stream: u32,
        /// Number of the work on it.
        ticket: u64,
        /// The work of the block's own stream to wait for.
        owner_ticket: u64,
    },
    /// Work uses bytes beyond what the block's owner asked for.
    OutOfBounds {
        /// Where the use starts, from the start of the block.
        offset_bytes: u64,
        /// Bytes of the use.
        bytes: u64,
        /// Stream of the work.
        stream: u32,
        /// Number of the work on it.
        ticket: u64,
    },
    /// Work uses memory in which there is no block, and none that is remembered.
    UnknownAddress {
        /// First byte of the use.
        address: u64,
        /// Bytes of the use.
        bytes: u64,
        /// Stream of the work.
        stream: u32,
        /// Number of the work on it.
        ticket: u64,
    },
}

impl FindingKind {
    /// A name for it: lower case, with hyphens, the same in every version.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::UseAfterFree { .. } => "use-after-free",
            Self::WriteAfterFree { .. } => "write-after-free",
            Self::DoubleFree => "double-free",
            Self::InvalidFree { .. } => "invalid-free",
            Self::UnrecordedStream { .. } => "unrecorded-stream",
            Self::UnorderedUse { .. } => "unordered-use",
            Self::OutOfBounds { .. } => "out-of-bounds",
            Self::UnknownAddress { .. } => "unknown-address",
        }
    }
}

/// Something that is wrong, with everything known about it. `S` is what a stack is.
///
/// Its `Display` is one line; [`report`](Self::report) is the long form.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding<S> {
    /// The n-th finding of the device, from 1.
    pub number: u64,
    /// How often it was seen: findings of one kind with the same stacks count as one.
    pub times: u64,
    /// The device.
    pub device: u32,
    /// What is wrong.
    pub kind: FindingKind,
    /// The block it is about, where it is known.
    pub block: Option<BlockFacts>,
    /// Where the block was allocated.
    pub allocated: Option<S>,
    /// Where it was freed; of a double free the first time.
    pub freed: Option<S>,
    /// Where it was used, or freed again. Of a write to freed memory where that was noticed.
    pub used: Option<S>,
}

impl<S> Finding<S> {
    /// The same finding with its stacks turned into something else.
    pub fn map_stacks<T>(self, mut resolve: impl FnMut(S) -> T) -> Finding<T> {
        Finding {
            number: self.number,
            times: self.times,
            device: self.device,
            kind: self.kind,
            block: self.block,
            allocated: self.allocated.map(&mut resolve),
            freed: self.freed.map(&mut resolve),
            used: self.used.map(&mut resolve),
        }
    }
}

impl<S> fmt::Display for Finding<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.kind.name();
        match self.kind {
            FindingKind::UseAfterFree { address, bytes, stream, ticket } => {
                write!(f, "{name}: work {ticket} of stream {stream} uses {bytes} bytes at {address:#x}")?;
            }
            FindingKind::WriteAfterFree { address, expected, found } => {
                write!(f, "{name}: byte at {address:#x} is {found:#04x}, was filled with {expected:#04x}")?;
            }
            FindingKind::DoubleFree => write!(f, "{name}: freed a second time")?,
            FindingKind::InvalidFree { address } => {
                write!(f, "{name}: no block was handed out at {address:#x} under this handle")?;
            }
            FindingKind::UnrecordedStream { stream, ticket } => {
                write!(
                    f,
                    "{name}: freed while work {ticket} of stream {stream}, never recorded, may use it"
                )?;
            }
            FindingKind::UnorderedUse { stream, ticket, owner_ticket } => write!(
                f,
                "{name}: work {ticket} of stream {stream} does not wait for work {owner_ticket} of the \
                 block's stream, which may still use the memory"
            )?,
            FindingKind::OutOfBounds { offset_bytes, bytes, stream, ticket } => write!(
                f,
                "{name}: work {ticket} of stream {stream} uses {bytes} bytes from offset {offset_bytes}"
            )?,
            FindingKind::UnknownAddress { address, bytes, stream, ticket } => write!(
                f,
                "{name}: work {ticket} of stream {stream} uses {bytes} bytes at {address:#x}, where no block is"
            )?,
        }
        let Some(BlockFacts { number, address, requested_bytes, stream }) = self.block else {
            return write!(f, ", device {}", self.device);
        };
        let device = self.device;
        write!(
            f,
            ", block {number} of {requested_bytes} bytes at {address:#x} of stream {stream}, device {device}"
        )
    }
}

impl<S: fmt::Debug> std::error::Error for Finding<S> {}

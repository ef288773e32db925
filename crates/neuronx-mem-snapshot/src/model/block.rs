//! One block of a segment. Knows its five keys; refuses to know the neighbours.

use super::core::Core;
use super::key::fixed_text;
use super::{Fields, Key, Record, Schema, Slot, StackId, StackTable, StrId};

/// A block (PyTorch snapshot schema §4), 48 bytes. Every key may be absent in old files.
///
/// ```
/// use neuronx_mem_snapshot::{Block, BlockState};
///
/// let block = Block::new(0x1000, 512, BlockState::ActiveAllocated).with_requested_bytes(300);
/// assert_eq!(block.size_bytes(), Some(512));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    core: Core<3, 1>,
}

/// The state of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockState {
    /// In use.
    ActiveAllocated,
    /// Freed by the user, its deallocation is still queued on a stream.
    ActivePendingFree,
    /// Free.
    Inactive,
    /// A state that the schema does not know, by name.
    Other(StrId),
}

const ADDRESS: usize = 0;
const SIZE: usize = 1;
const REQUESTED_SIZE: usize = 2;
const STATE: usize = 0;

static SCHEMA: Schema = Schema::new(
    "block",
    &[
        (Key::Address, Slot::Int(0)),
        (Key::Size, Slot::Int(1)),
        (Key::RequestedSize, Slot::Int(2)),
        (Key::State, Slot::Text(0)),
        (Key::Frames, Slot::Stack),
    ],
);

impl Block {
    /// A block of `size_bytes` at `address` with nothing requested and an empty stack.
    #[must_use]
    pub fn new(address: u64, size_bytes: u64, state: BlockState) -> Self {
        let mut block = Self::default();
        block.core.set_bits(ADDRESS, address);
        block.core.set_bits(SIZE, size_bytes);
        block.core.set_bits(REQUESTED_SIZE, 0);
        block.core.set_text(STATE, Some(state.text_id()));
        block.core.set_stack(Some(StackId::EMPTY));
        block
    }

    /// Sets the bytes that the caller asked for.
    #[must_use]
    pub fn with_requested_bytes(mut self, bytes: u64) -> Self {
        self.core.set_bits(REQUESTED_SIZE, bytes);
        self
    }

    /// Sets the stack of the allocation.
    #[must_use]
    pub fn with_stack(mut self, stack: StackId) -> Self {
        self.core.set_stack(Some(stack));
        self
    }

    /// Start of the block; absent in old files (then it is the running sum of sizes).
    #[must_use]
    pub fn address(&self) -> Option<u64> {
        self.core.bits(ADDRESS)
    }

    /// Size after rounding and splitting, bytes.
    #[must_use]
    pub fn size_bytes(&self) -> Option<u64> {
        self.core.bits(SIZE)
    }

    /// Bytes that the caller asked for. Stale for an inactive block: ignore it there.
    #[must_use]
    pub fn requested_bytes(&self) -> Option<u64> {
        self.core.bits(REQUESTED_SIZE)
    }

    /// State of the block.
    #[must_use]
    pub fn state(&self) -> Option<BlockState> {
        self.core.text(STATE).map(BlockState::from_text_id)
    }

    /// Stack of the allocation; empty if none was recorded or the block is free.
    #[must_use]
    pub fn stack(&self) -> Option<StackId> {
        self.core.stack()
    }

    /// Whether the block is in use or waits for its deallocation.
    #[must_use]
    pub fn is_active(&self) -> bool {
        matches!(self.state(), Some(BlockState::ActiveAllocated | BlockState::ActivePendingFree))
    }
}

impl BlockState {
    /// The state's name, as in a snapshot file.
    #[must_use]
    pub fn name(self, stacks: &StackTable) -> &str {
        stacks.text(self.text_id())
    }

    const fn text_id(self) -> StrId {
        match self {
            Self::ActiveAllocated => fixed_text(10),
            Self::ActivePendingFree => fixed_text(11),
            Self::Inactive => fixed_text(12),
            Self::Other(id) => id,
        }
    }

    fn from_text_id(id: StrId) -> Self {
        // The fourth word is the docstring's name of the second state.
        let pending = [fixed_text(11), fixed_text(13)];
        match id {
            id if id == fixed_text(10) => Self::ActiveAllocated,
            id if pending.contains(&id) => Self::ActivePendingFree,
            id if id == fixed_text(12) => Self::Inactive,
            id => Self::Other(id),
        }
    }
}

impl Record for Block {
    type Core = Core<3, 1>;
    const SCHEMA: &'static Schema = &SCHEMA;

    fn empty() -> Self {
        Self::default()
    }

    fn core(&self) -> &Self::Core {
        &self.core
    }

    fn core_mut(&mut self) -> &mut Self::Core {
        &mut self.core
    }
}

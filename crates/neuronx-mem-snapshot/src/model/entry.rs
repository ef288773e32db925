//! One event of the history. Knows the keys of PyTorch's trace entries and `trace_id`; refuses to
//! interpret the event.

use super::core::Core;
use super::{Action, Fields, Key, PoolId, Record, Schema, Slot, StackId, StackTable, StrId};
use crate::Error;

/// An event of a device trace (PyTorch snapshot schema §5), 88 bytes.
///
/// Every key but `action` may be absent. Texts, stacks and pools are numbers into the snapshot's
/// [`StackTable`].
///
/// ```
/// use neuronx_mem_snapshot::{Action, TraceEntry};
///
/// let entry = TraceEntry::new(Action::Alloc).with_addr(0x1000).with_size_bytes(300);
/// assert_eq!(entry.addr(), Some(0x1000));
/// assert_eq!(entry.stack(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    core: Core<6, 5>,
}

const ADDR: usize = 0;
const DEVICE_FREE: usize = 1;
const SIZE: usize = 2;
const STREAM: usize = 3;
const TIME_US: usize = 4;
const TRACE_ID: usize = 5;
const ACTION: usize = 0;
const COMPILE_CONTEXT: usize = 1;
const USER_METADATA: usize = 2;

static SCHEMA: Schema = Schema::new(
    "trace entry",
    &[
        (Key::Action, Slot::Text(0)),
        (Key::Addr, Slot::Int(0)),
        (Key::DeviceFree, Slot::Int(1)),
        (Key::Size, Slot::Int(2)),
        (Key::Stream, Slot::Int(3)),
        (Key::TimeUs, Slot::Int(4)),
        (Key::CompileContext, Slot::Text(1)),
        (Key::UserMetadata, Slot::Text(2)),
        (Key::PoolId, Slot::Pool),
        (Key::Frames, Slot::Stack),
        (Key::InternalMetadata, Slot::Text(3)),
        (Key::Category, Slot::Text(4)),
        (Key::TraceId, Slot::Int(5)),
    ],
);

impl TraceEntry {
    /// An event with no other key than its action.
    #[must_use]
    pub fn new(action: Action) -> Self {
        let mut entry = Self { core: Core::default() };
        entry.core.set_text(ACTION, Some(action.text_id()));
        entry
    }

    /// What happened.
    #[must_use]
    pub fn action(&self) -> Action {
        self.core.text(ACTION).map_or(Action::Snapshot, Action::from_text_id)
    }

    /// Address of the block or segment; absent for `oom`. A negative Python int is read as the
    /// two's complement that C++ wrote.
    #[must_use]
    pub fn addr(&self) -> Option<u64> {
        self.core.bits(ADDR)
    }

    /// Bytes; what they measure depends on the action (requested, segment, active).
    #[must_use]
    pub fn size_bytes(&self) -> Option<u64> {
        self.core.bits(SIZE)
    }

    /// Stream of the block.
    #[must_use]
    pub fn stream(&self) -> Option<u64> {
        self.core.bits(STREAM)
    }

    /// Unix time in microseconds.
    #[must_use]
    pub fn time_us(&self) -> Option<u64> {
        self.core.bits(TIME_US)
    }

    /// Free bytes of the device, only for `oom`.
    #[must_use]
    pub fn device_free_bytes(&self) -> Option<u64> {
        self.core.bits(DEVICE_FREE)
    }

    /// Runtime trace id, increasing by one an event (ours; absent in PyTorch's files).
    #[must_use]
    pub fn trace_id(&self) -> Option<u64> {
        self.core.bits(TRACE_ID)
    }

    /// Call stack; `None` when the key `frames` is absent, which is not the same as an empty stack.
    #[must_use]
    pub fn stack(&self) -> Option<StackId> {
        self.core.stack()
    }

    /// Private pool of the block.
    #[must_use]
    pub fn pool(&self) -> Option<PoolId> {
        self.core.pool()
    }

    /// Text that the program attached (`_set_memory_metadata`).
    #[must_use]
    pub fn user_metadata<'t>(&self, stacks: &'t StackTable) -> Option<&'t str> {
        self.core.text(USER_METADATA).map(|id| stacks.text(id))
    }

    /// Compilation context, `"N/A"` when there is none.
    #[must_use]
    pub fn compile_context<'t>(&self, stacks: &'t StackTable) -> Option<&'t str> {
        self.core.text(COMPILE_CONTEXT).map(|id| stacks.text(id))
    }

    /// Sets the address.
    #[must_use]
    pub fn with_addr(mut self, addr: u64) -> Self {
        self.core.set_bits(ADDR, addr);
        self
    }

    /// Sets the size in bytes.
    #[must_use]
    pub fn with_size_bytes(mut self, bytes: u64) -> Self {
        self.core.set_bits(SIZE, bytes);
        self
    }

    /// Sets the stream.
    #[must_use]
    pub fn with_stream(mut self, stream: u64) -> Self {
        self.core.set_bits(STREAM, stream);
        self
    }

    /// Sets the time, Unix microseconds.
    #[must_use]
    pub fn with_time_us(mut self, time_us: u64) -> Self {
        self.core.set_bits(TIME_US, time_us);
        self
    }

    /// Sets the free bytes of the device (`oom`).
    #[must_use]
    pub fn with_device_free_bytes(mut self, bytes: u64) -> Self {
        self.core.set_bits(DEVICE_FREE, bytes);
        self
    }

    /// Sets the trace id.
    #[must_use]
    pub fn with_trace_id(mut self, trace_id: u64) -> Self {
        self.core.set_bits(TRACE_ID, trace_id);
        self
    }

    /// Sets the call stack; [`StackId::EMPTY`] writes an empty list.
    #[must_use]
    pub fn with_stack(mut self, stack: StackId) -> Self {
        self.core.set_stack(Some(stack));
        self
    }

    /// Sets the private pool.
    #[must_use]
    pub fn with_pool(mut self, pool: PoolId) -> Self {
        self.core.set_pool(Some(pool));
        self
    }

    /// Sets the compilation context.
    #[must_use]
    pub fn with_compile_context(mut self, text: StrId) -> Self {
        self.core.set_text(COMPILE_CONTEXT, Some(text));
        self
    }

    /// Sets the attached text.
    #[must_use]
    pub fn with_user_metadata(mut self, text: StrId) -> Self {
        self.core.set_text(USER_METADATA, Some(text));
        self
    }
}

impl Record for TraceEntry {
    type Core = Core<6, 5>;
    const SCHEMA: &'static Schema = &SCHEMA;

    fn empty() -> Self {
        Self { core: Core::default() }
    }

    fn core(&self) -> &Self::Core {
        &self.core
    }

    fn core_mut(&mut self) -> &mut Self::Core {
        &mut self.core
    }

    fn check_complete(&self) -> Result<(), Error> {
        match self.core.text(ACTION) {
            Some(_) => Ok(()),
            None => Err(Error::MissingKey { record: SCHEMA.name, key: Key::Action.text() }),
        }
    }
}

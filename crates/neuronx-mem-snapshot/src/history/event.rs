//! One event on its way into the history. Knows what a caller can say about it; refuses to know
//! whether it will be kept.

use crate::model::{Action, PoolId, StackId};

/// An event to record. Everything but action and time is optional.
///
/// ```
/// use neuronx_mem_snapshot::{Action, history::Event};
///
/// let event = Event::new(Action::Oom, 1_000).with_size_bytes(1 << 30).with_device_free_bytes(4096);
/// assert_eq!(event.action(), Action::Oom);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    pub(super) action: Action,
    pub(super) time_us: u64,
    /// Address, or for `oom` the free bytes of the device: no event has both.
    pub(super) addr_or_free: u64,
    pub(super) size_bytes: u64,
    pub(super) stream: u64,
    pub(super) stack: Option<StackId>,
    pub(super) pool: PoolId,
    pub(super) user_metadata: &'a str,
}

impl<'a> Event<'a> {
    /// An event at a time in Unix microseconds, on the default stream and pool.
    #[must_use]
    #[inline(always)]
    pub const fn new(action: Action, time_us: u64) -> Self {
        Self {
            action,
            time_us,
            addr_or_free: 0,
            size_bytes: 0,
            stream: 0,
            stack: None,
            pool: PoolId::DEFAULT,
            user_metadata: "",
        }
    }

    /// What happened.
    #[must_use]
    #[inline(always)]
    pub const fn action(&self) -> Action {
        self.action
    }

    /// Sets the address of the block or segment; without meaning for `oom`.
    #[must_use]
    #[inline(always)]
    pub const fn with_addr(mut self, addr: u64) -> Self {
        self.addr_or_free = addr;
        self
    }

    /// Sets the free bytes of the device, for `oom` only.
    #[must_use]
    #[inline(always)]
    pub const fn with_device_free_bytes(mut self, bytes: u64) -> Self {
        self.addr_or_free = bytes;
        self
    }

    /// Sets the size in bytes (requested for blocks, whole for segments, active for `snapshot`).
    #[must_use]
    #[inline(always)]
    pub const fn with_size_bytes(mut self, bytes: u64) -> Self {
        self.size_bytes = bytes;
        self
    }

    /// Sets the stream of the block.
    #[must_use]
    #[inline(always)]
    pub const fn with_stream(mut self, stream: u64) -> Self {
        self.stream = stream;
        self
    }

    /// Sets the call stack, a number of the history's own table.
    #[must_use]
    #[inline(always)]
    pub const fn with_stack(mut self, stack: Option<StackId>) -> Self {
        self.stack = stack;
        self
    }

    /// Sets the private pool, a number of the history's own table.
    #[must_use]
    #[inline(always)]
    pub const fn with_pool(mut self, pool: PoolId) -> Self {
        self.pool = pool;
        self
    }

    /// Sets the text that the program attached.
    #[must_use]
    #[inline(always)]
    pub const fn with_user_metadata(mut self, text: &'a str) -> Self {
        self.user_metadata = text;
        self
    }
}

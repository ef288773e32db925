//! Whether the runtime is open. The memory's fate at closing is the device's business.

use neuronx_mem_runtime::Status;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lifecycle {
    Uninitialized,
    Open,
    Closed,
}

impl Lifecycle {
    /// What every call answers in this state; `None` while it is open.
    pub(crate) fn refusal(self) -> Option<Status> {
        match self {
            Self::Uninitialized => Some(Status::UNINITIALIZED),
            Self::Open => None,
            Self::Closed => Some(Status::CLOSED),
        }
    }
}

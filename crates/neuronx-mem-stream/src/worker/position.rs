//! A place in a stream. All waiting is for places: one that was reached stays reached.

use crate::{StreamId, Ticket};

/// Behind the work `ticket` of a stream and all before it; ticket 0 is its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) stream: StreamId,
    pub(super) ticket: Ticket,
}

//! The history of a memory snapshot as a trace: which blocks came and went, in the order recorded.
//! Knows PyTorch's actions; adds nothing that the snapshot does not show.

mod events;
mod final_state;
mod lives;
mod mark;
mod steps;

pub use events::HistoryEvents;
pub use mark::HistoryMark;
pub use steps::{HistoryChange, HistoryStep, HistorySteps};

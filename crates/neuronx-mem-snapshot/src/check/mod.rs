//! Checks over a snapshot. Knows the sums that the PyTorch snapshot schema promises and how a
//! complete history leads to the live blocks; refuses to repair anything.
//!
//! ```
//! use neuronx_mem_snapshot::{Block, BlockState, Segment, Snapshot};
//!
//! let mut snapshot = Snapshot::new();
//! snapshot.set_n_devices(1);
//! let blocks = vec![Block::new(0x1000, 512, BlockState::Inactive)];
//! snapshot.segments.push(Segment::from_blocks(0, 0x1000, true, blocks));
//! assert_eq!(snapshot.verify(), []);
//! ```

mod problem;
mod replay;
mod verify;

#[cfg(test)]
mod tests;

pub use problem::Problem;
pub use replay::LiveBlocks;

//! The restricted pickle reader. Knows builtin types only and works in three steps: the machine
//! runs the instructions into a flat heap, the depth check walks it once, the converter turns it
//! into the model. Refuses code, and never recurses deeper than the depth limit.

mod compact;
mod convert;
mod cursor;
mod depth;
mod heap;
mod machine;
mod memo;
mod traces;
mod val;

#[cfg(test)]
mod tests;

use crate::Error;
use crate::limits::{Budget, Limits};
use crate::model::Snapshot;

/// Reads one pickle. Bytes after STOP are ignored, as Python does.
pub(crate) fn read_pickle(bytes: &[u8], limits: &Limits) -> Result<Snapshot, Error> {
    limits.check_input(bytes.len() as u64)?;
    let budget = Budget::new(limits, bytes.len() as u64);
    let mut finished = machine::run(bytes, limits, budget)?;
    let mut heights = depth::Heights::new(&finished.heap, &mut finished.budget)?;
    depth::check(&finished, limits.depth(), &mut heights)?;
    drop(heights);
    convert::convert(finished, limits)
}

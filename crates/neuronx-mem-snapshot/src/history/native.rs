//! Native call stacks. Knows how to unwind and to resolve each return address once; refuses to be
//! cheap: a capture takes microseconds, which is why it is a feature of its own.

use std::collections::HashMap;

use backtrace::Backtrace;
use smallvec::SmallVec;

use super::StackProvider;
use crate::model::{FrameId, StackId, StackTable};

/// Captures the stack of the calling Rust or C++ code. Serves one [`StackTable`].
///
/// ```
/// use neuronx_mem_snapshot::history::{NativeStacks, StackProvider};
/// use neuronx_mem_snapshot::StackTable;
///
/// let mut stacks = StackTable::new();
/// let stack = NativeStacks::new().capture(&mut stacks).unwrap();
/// assert!(stacks.frames(stack).count() > 0);
/// ```
#[derive(Debug, Default)]
pub struct NativeStacks {
    /// Frames behind each address; several when calls were inlined.
    resolved: HashMap<usize, SmallVec<[FrameId; 2]>>,
}

impl NativeStacks {
    /// A provider that has resolved nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl StackProvider for NativeStacks {
    fn capture(&mut self, stacks: &mut StackTable) -> Option<StackId> {
        let trace = Backtrace::new_unresolved();
        let mut frames = SmallVec::<[FrameId; 64]>::new();
        for frame in trace.frames() {
            let known = self.resolved.entry(frame.ip() as usize).or_insert_with(|| resolve(frame, stacks));
            frames.extend_from_slice(known);
        }
        (!frames.is_empty()).then(|| stacks.intern_stack(&frames))
    }
}

fn resolve(frame: &backtrace::BacktraceFrame, stacks: &mut StackTable) -> SmallVec<[FrameId; 2]> {
    let mut found = SmallVec::new();
    backtrace::resolve(frame.ip(), |symbol| {
        let name = symbol.name().map_or_else(|| "??".to_owned(), |name| name.to_string());
        let filename = symbol.filename().map_or_else(|| "??".to_owned(), |path| path.display().to_string());
        found.push(stacks.intern_frame(&name, &filename, u64::from(symbol.lineno().unwrap_or(0))));
    });
    if found.is_empty() {
        found.push(stacks.intern_frame("??", "??", frame.ip() as u64));
    }
    found
}

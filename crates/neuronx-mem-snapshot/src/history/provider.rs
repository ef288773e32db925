//! Where call stacks come from. Knows the one question a recorder asks; refuses to know how frames
//! are found: a Python front end, native unwinding and tests each answer in their own way.

use crate::model::{StackId, StackTable};

/// Captures the current call stack.
///
/// ```
/// use neuronx_mem_snapshot::history::StackProvider;
/// use neuronx_mem_snapshot::{StackId, StackTable};
///
/// struct Fixed;
/// impl StackProvider for Fixed {
///     fn capture(&mut self, stacks: &mut StackTable) -> Option<StackId> {
///         let frame = stacks.intern_frame("forward", "model.py", 12);
///         Some(stacks.intern_stack(&[frame]))
///     }
/// }
/// assert!(Fixed.capture(&mut StackTable::new()).is_some());
/// ```
pub trait StackProvider {
    /// Puts the current stack into the table, innermost frame first; `None` if there is none.
    fn capture(&mut self, stacks: &mut StackTable) -> Option<StackId>;
}

/// Captures nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStacks;

impl StackProvider for NoStacks {
    fn capture(&mut self, _stacks: &mut StackTable) -> Option<StackId> {
        None
    }
}

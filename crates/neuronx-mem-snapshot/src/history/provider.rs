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

/// Captures call stacks on many threads at once, and says only later what is in them.
///
/// For a source that must not be asked under a lock of somebody else, because it takes one of its own:
/// Python's interpreter lock. Numbers are handed out at capture and explained by [`table`](Self::table).
///
/// ```
/// use std::sync::Mutex;
///
/// use neuronx_mem_snapshot::history::SharedStacks;
/// use neuronx_mem_snapshot::{StackId, StackTable};
///
/// struct Lines(Mutex<Vec<u64>>);
/// impl SharedStacks for Lines {
///     fn capture(&self) -> Option<StackId> {
///         let mut lines = self.0.lock().ok()?;
///         lines.push(12);
///         Some(StackId::from_index(lines.len())) // 0 is the empty stack
///     }
///     fn table(&self) -> StackTable {
///         let mut table = StackTable::new();
///         for line in self.0.lock().into_iter().flat_map(|lines| lines.clone()) {
///             let frame = table.intern_frame("forward", "model.py", line);
///             table.append_stack(&[frame]);
///         }
///         table
///     }
/// }
///
/// let source = Lines(Mutex::default());
/// let (first, second) = (source.capture().unwrap(), source.capture().unwrap());
/// assert_ne!(first, second);
/// assert_eq!(source.table().stack(first), source.table().stack(second));
/// ```
pub trait SharedStacks: Send + Sync {
    /// The number of the calling thread's stack in every later [`table`](Self::table); `None` if there
    /// is none.
    fn capture(&self) -> Option<StackId>;

    /// The same for a free, which may come on any thread and at any time: a source that would have to
    /// wait for somebody answers `None`. Unless it says otherwise, as [`capture`](Self::capture).
    fn capture_at_free(&self) -> Option<StackId> {
        self.capture()
    }

    /// A table in which every number handed out so far is a stack, innermost frame first. Slow:
    /// names and lines are looked up here.
    fn table(&self) -> StackTable;
}

/// Captures nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStacks;

impl StackProvider for NoStacks {
    fn capture(&mut self, _stacks: &mut StackTable) -> Option<StackId> {
        None
    }
}

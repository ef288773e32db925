//! Which ids are live, and what belongs to each: the check that needs more than one line.

use hashbrown::HashMap;

use crate::Fault;

/// The live ids of a trace. Memory grows with the tensors live at once, not with the trace.
///
/// ```
/// use neuronx_mem_replay::{Fault, LiveIds};
///
/// let mut live = LiveIds::new();
/// live.allocate(7, ())?;
/// assert_eq!(live.allocate(7, ()), Err(Fault::AllocatedTwice { id: 7 }));
/// live.free(7)?;
/// assert_eq!(live.free(7), Err(Fault::FreeOfNotLive { id: 7 }));
/// # Ok::<(), Fault>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct LiveIds<T> {
    values: HashMap<u64, T>,
}

impl<T> LiveIds<T> {
    /// Starts with no id live.
    #[must_use]
    pub fn new() -> Self {
        Self { values: HashMap::new() }
    }

    /// How many are live.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether none is live.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether an id is live. O(1).
    #[must_use]
    #[inline]
    pub fn contains(&self, id: u64) -> bool {
        self.values.contains_key(&id)
    }

    /// Makes an id live. O(1).
    ///
    /// # Errors
    ///
    /// [`Fault::AllocatedTwice`]; the first value stays.
    #[inline]
    pub fn allocate(&mut self, id: u64, value: T) -> Result<(), Fault> {
        // One look-up for the usual case; the other is on its way out anyway.
        match self.values.insert(id, value) {
            None => Ok(()),
            Some(first) => {
                self.values.insert(id, first);
                Err(Fault::AllocatedTwice { id })
            }
        }
    }

    /// Ends an id's life. O(1).
    ///
    /// # Errors
    ///
    /// [`Fault::FreeOfNotLive`].
    #[inline]
    pub fn free(&mut self, id: u64) -> Result<T, Fault> {
        self.values.remove(&id).ok_or(Fault::FreeOfNotLive { id })
    }

    /// What belongs to an id that another stream uses. O(1).
    ///
    /// # Errors
    ///
    /// [`Fault::RecordOfNotLive`].
    pub fn recorded(&self, id: u64) -> Result<&T, Fault> {
        self.values.get(&id).ok_or(Fault::RecordOfNotLive { id })
    }
}

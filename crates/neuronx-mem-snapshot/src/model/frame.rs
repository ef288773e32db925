//! One frame of a call stack. Knows name, file and line; refuses to resolve anything.

use super::core::Core;
use super::{Fields, Key, Record, Schema, Slot, StackTable, StrId, Value};

/// A frame, as a view into its [`StackTable`].
#[derive(Clone, Copy, Debug)]
pub struct Frame<'t> {
    record: &'t FrameRecord,
    stacks: &'t StackTable,
}

/// A frame as stored; equal frames of one table have equal records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct FrameRecord {
    core: Core<1, 2>,
}

const LINE: usize = 0;
const NAME: usize = 0;
const FILENAME: usize = 1;

static SCHEMA: Schema = Schema::new(
    "frame",
    &[(Key::Name, Slot::Text(0)), (Key::Filename, Slot::Text(1)), (Key::Line, Slot::Int(0))],
);

impl<'t> Frame<'t> {
    pub(crate) fn new(record: &'t FrameRecord, stacks: &'t StackTable) -> Self {
        Self { record, stacks }
    }

    /// Function name, `"??"` when it was not resolved.
    #[must_use]
    pub fn name(&self) -> &'t str {
        self.record.core.text(NAME).map_or("", |id| self.stacks.text(id))
    }

    /// File name, or the library when there is no debug information.
    #[must_use]
    pub fn filename(&self) -> &'t str {
        self.record.core.text(FILENAME).map_or("", |id| self.stacks.text(id))
    }

    /// Line in the file, or offset in the library.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.record.core.bits(LINE).unwrap_or(0)
    }

    /// The value of a key beside the three (`fx_node_op`, ...).
    #[must_use]
    pub fn extra(&self, key: &str) -> Option<&'t Value> {
        let extras = self.stacks.extras(self.record.core.extras()?);
        let wanted = self.stacks.find_text(key)?;
        extras.iter().find(|(key, _)| *key == wanted).map(|(_, value)| value)
    }
}

impl FrameRecord {
    pub(crate) fn with_parts(name: StrId, filename: StrId, line: u64) -> Self {
        let mut core = Core::default();
        core.set_text(NAME, Some(name));
        core.set_text(FILENAME, Some(filename));
        core.set_bits(LINE, line);
        Self { core }
    }
}

impl Record for FrameRecord {
    type Core = Core<1, 2>;
    const SCHEMA: &'static Schema = &SCHEMA;

    fn empty() -> Self {
        Self::default()
    }

    fn core(&self) -> &Self::Core {
        &self.core
    }

    fn core_mut(&mut self) -> &mut Self::Core {
        &mut self.core
    }
}

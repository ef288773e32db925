//! Begin or end of a named range of the program. Knows its four keys; refuses to pair them.

use super::core::Core;
use super::key::fixed_text;
use super::{Fields, Key, Record, Schema, Slot, StackTable, StrId};

/// One entry of `external_annotations` (PyTorch snapshot schema §7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Annotation {
    core: Core<2, 2>,
}

const DEVICE: usize = 0;
const TIME_US: usize = 1;
const STAGE: usize = 0;
const NAME: usize = 1;

static SCHEMA: Schema = Schema::new(
    "annotation",
    &[
        (Key::Stage, Slot::Text(0)),
        (Key::Name, Slot::Text(1)),
        (Key::Device, Slot::Int(0)),
        (Key::TimeUs, Slot::Int(1)),
    ],
);

impl Annotation {
    /// The begin (`is_start`) or end of the range `name` on a device, Unix microseconds.
    #[must_use]
    pub fn new(is_start: bool, name: StrId, device: u32, time_us: u64) -> Self {
        let mut core = Core::default();
        core.set_text(STAGE, Some(fixed_text(if is_start { 18 } else { 19 })));
        core.set_text(NAME, Some(name));
        core.set_bits(DEVICE, u64::from(device));
        core.set_bits(TIME_US, time_us);
        Self { core }
    }

    /// `"START"` or `"END"`.
    #[must_use]
    pub fn stage<'t>(&self, stacks: &'t StackTable) -> Option<&'t str> {
        self.core.text(STAGE).map(|id| stacks.text(id))
    }

    /// Name of the range.
    #[must_use]
    pub fn name<'t>(&self, stacks: &'t StackTable) -> Option<&'t str> {
        self.core.text(NAME).map(|id| stacks.text(id))
    }

    /// Device that was current.
    #[must_use]
    pub fn device(&self) -> Option<i64> {
        self.core.int(DEVICE).and_then(|device| i64::try_from(device).ok())
    }

    /// Unix time in microseconds, on the clock of the trace entries.
    #[must_use]
    pub fn time_us(&self) -> Option<u64> {
        self.core.bits(TIME_US)
    }
}

impl Record for Annotation {
    type Core = Core<2, 2>;
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

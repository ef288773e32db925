//! How a dict of a known kind maps to a compact store. Knows, for each kind, which key lives in
//! which slot, and how to note the order of keys; refuses to know where keys and values come from.

use smallvec::SmallVec;

use super::{Block, ExtrasId, Fields, KNOWN_KEYS, Key, OrderId, PoolId, StackId, StackTable, StrId, Value};
use crate::Error;
use crate::limits::{LimitKind, MAX_RECORD_KEYS};

/// Where a key of a record is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Not a key of this kind of dict.
    Unknown,
    Int(u8),
    Text(u8),
    Flag,
    Pool,
    Stack,
    Blocks,
}

/// The keys of one kind of dict.
#[derive(Debug)]
pub(crate) struct Schema {
    /// For error messages.
    pub(crate) name: &'static str,
    /// All keys of the kind, in canonical order.
    pub(crate) keys: &'static [(Key, Slot)],
    slots: [Slot; KNOWN_KEYS],
}

/// A dict of a known kind.
pub(crate) trait Record: Sized {
    type Core: Fields;
    const SCHEMA: &'static Schema;

    /// A dict without keys.
    fn empty() -> Self;
    fn core(&self) -> &Self::Core;
    fn core_mut(&mut self) -> &mut Self::Core;

    /// Only a segment has blocks.
    fn blocks(&self) -> Option<&[Block]> {
        None
    }

    fn set_blocks(&mut self, _blocks: Option<Vec<Block>>) {}

    /// Fails if a key is missing without which the dict means nothing.
    fn check_complete(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// A value on its way into a slot.
#[derive(Clone, Debug)]
pub(crate) enum FieldValue {
    Int(i128),
    Text(StrId),
    Flag(bool),
    Pool(PoolId),
    Stack(StackId),
    Blocks(Vec<Block>),
}

/// Names of types as Python calls them, for error messages.
#[derive(Debug)]
pub(crate) struct ValueType;

/// Notes the order in which keys appear, at no cost while it is the canonical one.
#[derive(Debug, Default)]
pub(crate) struct KeyTracker {
    keys: SmallVec<[StrId; 16]>,
    seen_extra: bool,
    shuffled: bool,
    repeated: bool,
}

/// Builds a record key by key, as a Python dict would: a repeated key keeps its place and takes
/// the last value.
#[derive(Debug)]
pub(crate) struct RecordBuilder<R> {
    pub(crate) record: R,
    tracker: KeyTracker,
    extras: Vec<(StrId, Value)>,
}

impl Schema {
    pub(crate) const fn new(name: &'static str, keys: &'static [(Key, Slot)]) -> Self {
        let mut slots = [Slot::Unknown; KNOWN_KEYS];
        let mut position = 0;
        while position < keys.len() {
            let (key, slot) = keys[position];
            assert!(position == 0 || (keys[position - 1].0 as u8) < key as u8, "canonical order ascends");
            slots[key as usize] = slot;
            position += 1;
        }
        Self { name, keys, slots }
    }

    /// The slot of a key, [`Slot::Unknown`] for a key of other kinds of dict or of none.
    #[inline]
    pub(crate) fn slot(&self, key: StrId) -> Slot {
        self.slots.get(key.index()).copied().unwrap_or(Slot::Unknown)
    }

    pub(crate) fn wrong_type(&self, key: &str, slot: Slot, found: &'static str) -> Error {
        Error::WrongType { record: self.name, key: key.to_owned(), expected: slot.type_name(), found }
    }
}

impl Slot {
    const fn type_name(self) -> &'static str {
        match self {
            Self::Unknown => "a value",
            Self::Int(_) => "int",
            Self::Text(_) => "str",
            Self::Flag => "bool",
            Self::Pool => "a pair of ints",
            Self::Stack => "a list of frames",
            Self::Blocks => "a list of blocks",
        }
    }
}

impl ValueType {
    pub(crate) const NONE: &'static str = "None";
    pub(crate) const BOOL: &'static str = "bool";
    pub(crate) const INT: &'static str = "int";
    pub(crate) const FLOAT: &'static str = "float";
    pub(crate) const STR: &'static str = "str";
    pub(crate) const LIST: &'static str = "list";
    pub(crate) const TUPLE: &'static str = "tuple";
    pub(crate) const DICT: &'static str = "dict";
}

impl KeyTracker {
    /// Notes a key. Returns `false` if it was there before.
    #[inline]
    pub(crate) fn push(&mut self, key: StrId, is_extra: bool) -> Result<bool, Error> {
        let ascends = self.keys.last().is_none_or(|&last| last < key);
        if is_extra || self.seen_extra || self.shuffled || !ascends {
            if self.keys.contains(&key) {
                self.repeated = true;
                return Ok(false);
            }
            self.shuffled |= !is_extra && (self.seen_extra || !ascends);
            self.seen_extra |= is_extra;
        }
        if self.keys.len() == MAX_RECORD_KEYS {
            return Err(LimitKind::RecordKeys.error(MAX_RECORD_KEYS as u64));
        }
        self.keys.push(key);
        Ok(true)
    }

    /// Puts the unknown keys in the order in which all keys first came, which repeated ones upset: what
    /// is known at last may have been unknown before, and the other way round.
    pub(crate) fn settle(&mut self, extras: &mut [(StrId, Value)]) {
        if !self.repeated {
            return;
        }
        extras.sort_by_key(|(key, _)| self.keys.iter().position(|other| other == key));
        let is_extra = |key: &StrId| extras.iter().any(|(extra, _)| extra == key);
        let n_known = self.keys.iter().take_while(|key| !is_extra(key)).count();
        let (known, others) = self.keys.split_at(n_known);
        self.shuffled = !known.is_sorted() || !others.iter().all(is_extra);
    }

    /// The order, `None` when it is canonical.
    #[inline]
    pub(crate) fn finish(&self, stacks: &mut StackTable) -> Option<OrderId> {
        self.shuffled.then(|| stacks.intern_order(&self.keys))
    }
}

impl<R: Record> RecordBuilder<R> {
    pub(crate) fn new() -> Self {
        Self { record: R::empty(), tracker: KeyTracker::default(), extras: Vec::new() }
    }

    /// Stores the value of a known key.
    pub(crate) fn field(&mut self, key: StrId, slot: Slot, value: FieldValue) -> Result<(), Error> {
        if !self.tracker.push(key, false)? {
            self.extras.retain(|(other, _)| *other != key);
        }
        let core = self.record.core_mut();
        match (slot, value) {
            (Slot::Int(index), FieldValue::Int(value)) => {
                if !core.set_int(usize::from(index), Some(value)) {
                    return Err(R::SCHEMA.wrong_type(key_text(key), slot, "int beyond 64 bits"));
                }
            }
            (Slot::Text(index), FieldValue::Text(id)) => core.set_text(usize::from(index), Some(id)),
            (Slot::Flag, FieldValue::Flag(flag)) => core.set_flag(Some(flag)),
            (Slot::Pool, FieldValue::Pool(pool)) => core.set_pool(Some(pool)),
            (Slot::Stack, FieldValue::Stack(stack)) => core.set_stack(Some(stack)),
            (Slot::Blocks, FieldValue::Blocks(blocks)) => self.record.set_blocks(Some(blocks)),
            (slot, _) => return Err(R::SCHEMA.wrong_type(key_text(key), slot, "another type")),
        }
        Ok(())
    }

    /// Stores the value of an unknown key, or None under a known one.
    pub(crate) fn extra(&mut self, key: StrId, value: Value) -> Result<(), Error> {
        if !self.tracker.push(key, true)? {
            clear(&mut self.record, R::SCHEMA.slot(key));
            self.extras.retain(|(other, _)| *other != key);
        }
        self.extras.push((key, value));
        Ok(())
    }

    pub(crate) fn finish(mut self, stacks: &mut StackTable) -> R {
        self.tracker.settle(&mut self.extras);
        let order = self.tracker.finish(stacks);
        let extras: Option<ExtrasId> = (!self.extras.is_empty()).then(|| stacks.intern_extras(self.extras));
        let core = self.record.core_mut();
        core.set_order(order);
        core.set_extras(extras);
        self.record
    }
}

fn clear<R: Record>(record: &mut R, slot: Slot) {
    let core = record.core_mut();
    match slot {
        Slot::Unknown => {}
        Slot::Int(index) => {
            core.set_int(usize::from(index), None);
        }
        Slot::Text(index) => core.set_text(usize::from(index), None),
        Slot::Flag => core.set_flag(None),
        Slot::Pool => core.set_pool(None),
        Slot::Stack => core.set_stack(None),
        Slot::Blocks => record.set_blocks(None),
    }
}

fn key_text(key: StrId) -> &'static str {
    super::FIXED_TEXTS.get(key.index()).copied().unwrap_or("?")
}

//! Turns the heap into the model. Knows where in a snapshot each kind of dict belongs; refuses to
//! copy what the file shares: stacks and frames are translated once, whoever refers to them.

use std::collections::HashMap;

use smallvec::SmallVec;

use super::heap::{Heap, NodeKind};
use super::machine::Finished;
use super::val::{Unpacked, Val};
use crate::Error;
use crate::limits::{Budget, LimitKind, Limits, MAX_RECORD_KEYS};
use crate::model::{
    Annotation, Block, FieldValue, Fields, FrameId, FrameRecord, Key, KeyTracker, Record, RecordBuilder,
    Segment, Slot, Snapshot, SnapshotForm, StackId, StackTable, StrId, Value,
};

/// Converts a finished program.
pub(super) fn convert(finished: Finished, limits: &Limits) -> Result<Snapshot, Error> {
    let Finished { root, heap, stacks, mut budget } = finished;
    budget.charge(heap.n_nodes() * size_of::<u32>())?;
    let converter = Converter {
        numbers: vec![0; heap.n_nodes()],
        values: HashMap::new(),
        n_extra_values: 0,
        max_extra_values: limits.max_extra_values,
        heap,
        stacks,
        budget,
    };
    converter.snapshot(root)
}

pub(super) struct Converter {
    pub(super) heap: Heap,
    pub(super) stacks: StackTable,
    pub(super) budget: Budget,
    /// For each list or dict that became a stack or frame, its number + 1.
    numbers: Vec<u32>,
    /// Containers that became values, with the count of values in them.
    values: HashMap<usize, (Value, u64)>,
    n_extra_values: u64,
    max_extra_values: u64,
}

impl Converter {
    fn snapshot(mut self, root: Val) -> Result<Snapshot, Error> {
        let not_a_snapshot = Error::NotASnapshot { found: self.heap.type_name(root) };
        let Unpacked::Node(node) = root.unpack() else { return Err(not_a_snapshot) };
        match self.heap.kind(node) {
            NodeKind::List => {
                let mut snapshot = Snapshot::bare(StackTable::new(), SnapshotForm::SegmentList);
                snapshot.segments = self.records::<Segment>(node)?;
                snapshot.finish(self.stacks, Vec::new(), KeyTracker::default());
                Ok(snapshot)
            }
            NodeKind::Tuple => Err(not_a_snapshot),
            NodeKind::Dict | NodeKind::Entry | NodeKind::Block => self.full(node),
        }
    }

    fn full(mut self, node: usize) -> Result<Snapshot, Error> {
        let mut snapshot = Snapshot::bare(StackTable::new(), SnapshotForm::Full);
        let (mut keys, mut extras) = (KeyTracker::default(), Vec::new());
        let (mut device_traces, mut host_traces) = (None, None);
        let mut has_segments = false;
        for (key, val) in last_of_each(&self.pairs(node, "snapshot")?) {
            let header = crate::emit::HEADER_KEYS.into_iter().find(|header| header.id() == key);
            let header = header.filter(|_| val != Val::NONE);
            keys.push(key, header.is_none())?;
            match header {
                None => extras.push((key, self.extra(val)?)),
                Some(Key::AllocatorSettings) => snapshot.allocator_settings = Some(self.extra(val)?),
                Some(header) => {
                    let list = self.list(val, "snapshot", header.text())?;
                    match header {
                        Key::DeviceTraces => device_traces = Some(list),
                        Key::HostTraces => host_traces = Some(list),
                        Key::ExternalAnnotations => {
                            snapshot.external_annotations = Some(self.records::<Annotation>(list)?);
                        }
                        Key::HostSegments => snapshot.host_segments = Some(self.records::<Segment>(list)?),
                        _ => {
                            snapshot.segments = self.records::<Segment>(list)?;
                            has_segments = true;
                        }
                    }
                }
            }
        }
        if !has_segments {
            return Err(Error::MissingKey { record: "snapshot", key: Key::Segments.text() });
        }
        let mut lists = Vec::new();
        if let Some(node) = device_traces {
            for position in 0..self.heap.items(node).len() {
                let val = self.heap.items(node)[position];
                let list = self.list(val, "snapshot", Key::DeviceTraces.text())?;
                self.budget.push(&mut lists, list)?;
            }
        }
        let n_devices = lists.len();
        lists.extend(host_traces);
        let mut traces = super::traces::take(&mut self, &lists)?;
        snapshot.host_traces = host_traces.and_then(|_| traces.pop());
        debug_assert_eq!(traces.len(), n_devices);
        snapshot.device_traces = device_traces.map(|_| traces);
        snapshot.finish(self.stacks, extras, keys);
        Ok(snapshot)
    }

    /// The node of a list.
    fn list(&self, val: Val, record: &'static str, key: &'static str) -> Result<usize, Error> {
        match val.unpack() {
            Unpacked::Node(node) if self.heap.kind(node) == NodeKind::List => Ok(node),
            _ => Err(Error::WrongType {
                record,
                key: key.to_owned(),
                expected: "a list",
                found: self.heap.type_name(val),
            }),
        }
    }

    fn records<R: Record>(&mut self, list: usize) -> Result<Vec<R>, Error> {
        let n_items = self.heap.items(list).len();
        let mut records = Vec::new();
        self.budget.reserve(&mut records, n_items)?;
        for position in 0..n_items {
            let val = self.heap.items(list)[position];
            records.push(self.record(val)?);
        }
        Ok(records)
    }

    /// A block: recognised ones only need their stack.
    fn block(&mut self, val: Val) -> Result<Block, Error> {
        match val.unpack() {
            Unpacked::Node(node) if self.heap.kind(node) == NodeKind::Block => {
                let mut block = self.heap.blocks[self.heap.record_index(node)];
                if let Some(stack) = block.core().stack() {
                    let stack = self.stack(stack.index())?;
                    block.core_mut().set_stack(Some(stack));
                }
                Ok(block)
            }
            _ => self.record(val),
        }
    }

    /// A dict of a known kind, key by key.
    pub(super) fn record<R: Record>(&mut self, val: Val) -> Result<R, Error> {
        let name = R::SCHEMA.name;
        let node = match val.unpack() {
            Unpacked::Node(node) if !matches!(self.heap.kind(node), NodeKind::List | NodeKind::Tuple) => node,
            _ => {
                let found = self.heap.type_name(val);
                return Err(Error::WrongType { record: name, key: "*".into(), expected: "dict", found });
            }
        };
        let mut builder = RecordBuilder::<R>::new();
        for (key, val) in self.pairs(node, name)? {
            let slot = R::SCHEMA.slot(key);
            if slot == Slot::Unknown || val == Val::NONE {
                let value = self.extra(val)?;
                builder.extra(key, value)?;
            } else {
                let value = self.field(val, slot).transpose()?.ok_or_else(|| {
                    R::SCHEMA.wrong_type(self.stacks.text(key), slot, self.heap.type_name(val))
                })?;
                builder.field(key, slot, value)?;
            }
        }
        let record = builder.finish(&mut self.stacks);
        self.budget.check(self.stacks.memory_bytes())?;
        record.check_complete()?;
        Ok(record)
    }

    /// The value for a slot; `None` if it has another type.
    fn field(&mut self, val: Val, slot: Slot) -> Option<Result<FieldValue, Error>> {
        Some(Ok(match (slot, val.unpack()) {
            (Slot::Int(_), _) => FieldValue::Int(self.heap.as_int(val)?),
            (Slot::Text(_), Unpacked::Text(id)) => FieldValue::Text(id),
            (Slot::Flag, Unpacked::Bool(flag)) => FieldValue::Flag(flag),
            (Slot::Pool, _) => FieldValue::Pool(self.heap.as_pair(val, &mut self.stacks)?),
            (Slot::Stack, Unpacked::Node(node)) if self.heap.kind(node) == NodeKind::List => {
                return Some(self.stack(node).map(FieldValue::Stack));
            }
            (Slot::Blocks, Unpacked::Node(node)) if self.heap.kind(node) == NodeKind::List => {
                return Some(self.blocks(node).map(FieldValue::Blocks));
            }
            _ => return None,
        }))
    }

    fn blocks(&mut self, list: usize) -> Result<Vec<Block>, Error> {
        let n_items = self.heap.items(list).len();
        let mut blocks = Vec::new();
        self.budget.reserve(&mut blocks, n_items)?;
        for position in 0..n_items {
            let val = self.heap.items(list)[position];
            blocks.push(self.block(val)?);
        }
        Ok(blocks)
    }

    /// The stack that a list of frames stands for, translated once.
    pub(super) fn stack(&mut self, list: usize) -> Result<StackId, Error> {
        if let Some(known) = self.numbers[list].checked_sub(1) {
            return Ok(StackId::from_index(known as usize));
        }
        let mut frames = SmallVec::<[FrameId; 64]>::new();
        for position in 0..self.heap.items(list).len() {
            let val = self.heap.items(list)[position];
            frames.push(self.frame(val)?);
        }
        let stack = self.stacks.intern_stack(&frames);
        self.budget.check(self.stacks.memory_bytes())?;
        self.numbers[list] = u32::try_from(stack.index() + 1).unwrap_or(u32::MAX);
        Ok(stack)
    }

    fn frame(&mut self, val: Val) -> Result<FrameId, Error> {
        if let Unpacked::Node(node) = val.unpack()
            && self.heap.kind(node) != NodeKind::List
            && let Some(known) = self.numbers[node].checked_sub(1)
        {
            return Ok(FrameId::from_index(known as usize));
        }
        let record = self.record::<FrameRecord>(val)?;
        let frame = self.stacks.intern_frame_record(record);
        if let Unpacked::Node(node) = val.unpack() {
            self.numbers[node] = u32::try_from(frame.index() + 1).unwrap_or(u32::MAX);
        }
        Ok(frame)
    }

    /// The pairs of a dict whose keys must be texts.
    fn pairs(&mut self, node: usize, record: &'static str) -> Result<Vec<(StrId, Val)>, Error> {
        self.heap.expand(node, &self.stacks, &mut self.budget)?;
        let items = self.heap.items(node);
        if items.len() > 2 * MAX_RECORD_KEYS {
            return Err(LimitKind::RecordKeys.error(MAX_RECORD_KEYS as u64));
        }
        let mut pairs = Vec::with_capacity(items.len() / 2);
        for &[key, val] in items.as_chunks::<2>().0 {
            let Some(key) = key.as_text() else {
                let found = self.heap.type_name(key);
                return Err(Error::WrongType { record, key: "*".into(), expected: "str as a key", found });
            };
            pairs.push((key, val));
        }
        Ok(pairs)
    }

    /// A value under an unknown key.
    fn extra(&mut self, val: Val) -> Result<Value, Error> {
        let (value, n_values) = self.value(val)?;
        self.n_extra_values = self.n_extra_values.saturating_add(n_values);
        if self.n_extra_values > self.max_extra_values {
            return Err(LimitKind::ExtraValues.error(self.max_extra_values));
        }
        Ok(value)
    }

    /// The value and how many values it would be without sharing. Recursion is bounded by the
    /// depth check.
    fn value(&mut self, val: Val) -> Result<(Value, u64), Error> {
        let scalar = match val.unpack() {
            Unpacked::None => Value::None,
            Unpacked::Bool(value) => Value::Bool(value),
            Unpacked::Int(value) => Value::Int(i128::from(value)),
            Unpacked::WideInt(_) => Value::Int(self.heap.as_int(val).unwrap_or(0)),
            Unpacked::Float(index) => Value::Float(self.heap.as_float(index)),
            Unpacked::Text(id) => Value::Str(self.stacks.shared_text(id)),
            Unpacked::Pair(pair) => {
                let (first, second) = self.stacks.pool(pair);
                Value::Tuple([Value::Int(first), Value::Int(second)].into())
            }
            Unpacked::Node(node) => return self.container(node),
        };
        Ok((scalar, 1))
    }

    fn container(&mut self, node: usize) -> Result<(Value, u64), Error> {
        if let Some((value, n_values)) = self.values.get(&node) {
            return Ok((value.clone(), *n_values));
        }
        self.heap.expand(node, &self.stacks, &mut self.budget)?;
        let kind = self.heap.kind(node);
        let n_items = self.heap.items(node).len();
        let (mut items, mut n_values) = (Vec::new(), 1_u64);
        self.budget.charge(CONTAINER_BYTES + n_items * size_of::<Value>())?;
        self.budget.reserve(&mut items, n_items)?;
        for position in 0..n_items {
            let (value, n) = self.value(self.heap.items(node)[position])?;
            n_values = n_values.saturating_add(n);
            items.push(value);
        }
        let value = match kind {
            NodeKind::List => Value::List(items.into()),
            NodeKind::Tuple => Value::Tuple(items.into()),
            _ => Value::Dict(self.dict_pairs(node, items).into()),
        };
        self.values.insert(node, (value.clone(), n_values));
        Ok((value, n_values))
    }

    /// Keys and values of a dict; a repeated key keeps its place and takes the last value.
    fn dict_pairs(&self, node: usize, items: Vec<Value>) -> Vec<(Value, Value)> {
        let keys = self.heap.items(node).iter().step_by(2);
        let mut places: HashMap<Val, usize> = HashMap::with_capacity(keys.len());
        let mut pairs: Vec<(Value, Value)> = Vec::with_capacity(keys.len());
        let mut items = items.into_iter();
        for &key in keys {
            let (Some(name), Some(value)) = (items.next(), items.next()) else { break };
            match places.get(&key).and_then(|&place| pairs.get_mut(place)) {
                Some((_, old)) => *old = value,
                None => {
                    places.insert(key, pairs.len());
                    pairs.push((name, value));
                }
            }
        }
        pairs
    }
}

/// Memory of a shared container beside its items.
const CONTAINER_BYTES: usize = 96;

/// Each key once, at its first place with its last value. The caller bounded the number of keys.
fn last_of_each(pairs: &[(StrId, Val)]) -> Vec<(StrId, Val)> {
    let mut result: Vec<(StrId, Val)> = Vec::with_capacity(pairs.len());
    for &(key, val) in pairs {
        match result.iter_mut().find(|(other, _)| *other == key) {
            Some((_, old)) => *old = val,
            None => result.push((key, val)),
        }
    }
    result
}

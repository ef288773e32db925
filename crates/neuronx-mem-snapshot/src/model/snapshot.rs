//! A whole snapshot. Knows its six parts, the table they share and what else the file held;
//! refuses to keep the parts consistent by itself (see `verify`).

use super::{Annotation, KeyTracker, OrderId, Segment, StackTable, StrId, TraceEntry, Value, keys};

/// A memory snapshot (PyTorch snapshot schema §2).
///
/// `None` means that the key is absent, as in files of older versions; that is kept apart from an
/// empty list. Texts and stacks of all records are numbers into [`stacks`](Self::stacks).
///
/// ```
/// use neuronx_mem_snapshot::Snapshot;
///
/// let snapshot = Snapshot::new();
/// assert_eq!(snapshot.host_traces.as_deref(), Some(&[][..]));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// All segments of all devices, by address within a device.
    pub segments: Vec<Segment>,
    /// Events of each device, oldest first; the position is the device ordinal.
    pub device_traces: Option<Vec<Vec<TraceEntry>>>,
    /// Settings of the allocator, normally a dict.
    pub allocator_settings: Option<Value>,
    /// Named ranges of the program, all devices in one list.
    pub external_annotations: Option<Vec<Annotation>>,
    /// Segments of the pinned host allocator.
    pub host_segments: Option<Vec<Segment>>,
    /// Events of the pinned host allocator.
    pub host_traces: Option<Vec<TraceEntry>>,
    stacks: StackTable,
    form: SnapshotForm,
    extras: Vec<(StrId, Value)>,
    order: Option<OrderId>,
}

/// How the file is laid out at the top.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SnapshotForm {
    /// A dict of six parts.
    #[default]
    Full,
    /// Only the list of segments (`torch.cuda.memory_snapshot()`).
    SegmentList,
}

impl Snapshot {
    /// A snapshot with all six parts, all empty.
    #[must_use]
    pub fn new() -> Self {
        Self {
            device_traces: Some(Vec::new()),
            allocator_settings: Some(Value::Dict([].into())),
            external_annotations: Some(Vec::new()),
            host_segments: Some(Vec::new()),
            host_traces: Some(Vec::new()),
            ..Self::bare(StackTable::new(), SnapshotForm::Full)
        }
    }

    /// The table of texts and stacks.
    #[must_use]
    pub fn stacks(&self) -> &StackTable {
        &self.stacks
    }

    /// The table, to add texts and stacks for new records.
    pub fn stacks_mut(&mut self) -> &mut StackTable {
        &mut self.stacks
    }

    /// How the file was, and will be, laid out.
    #[must_use]
    pub fn form(&self) -> SnapshotForm {
        self.form
    }

    /// Chooses the layout. [`SnapshotForm::SegmentList`] writes the segments and nothing else.
    pub fn set_form(&mut self, form: SnapshotForm) {
        self.form = form;
    }

    /// The events of one device; empty when there are none.
    #[must_use]
    pub fn trace(&self, device_idx: usize) -> &[TraceEntry] {
        self.device_traces.as_ref().and_then(|traces| traces.get(device_idx)).map_or(&[], Vec::as_slice)
    }

    /// Appends an event to a device's trace, adding empty traces for lower devices.
    pub fn push_entry(&mut self, device_idx: usize, entry: TraceEntry) {
        self.trace_and_stacks_mut(device_idx).0.push(entry);
    }

    /// Makes sure that devices `0..n_devices` have a trace, if only an empty one: consumers look
    /// the list of every device up.
    pub fn set_n_devices(&mut self, n_devices: usize) {
        let traces = self.device_traces.get_or_insert_default();
        if traces.len() < n_devices {
            traces.resize_with(n_devices, Vec::new);
        }
    }

    /// A device's trace, made when it is missing, and the table for its numbers.
    pub(crate) fn trace_and_stacks_mut(
        &mut self,
        device_idx: usize,
    ) -> (&mut Vec<TraceEntry>, &mut StackTable) {
        self.set_n_devices(device_idx + 1);
        let traces = self.device_traces.get_or_insert_default();
        (&mut traces[device_idx], &mut self.stacks)
    }

    /// The value of a top-level key that the schema does not know.
    #[must_use]
    pub fn extra(&self, key: &str) -> Option<&Value> {
        let wanted = self.stacks.find_text(key)?;
        self.extras.iter().find(|(key, _)| *key == wanted).map(|(_, value)| value)
    }

    /// Sets a top-level key that the schema does not know.
    pub fn set_extra(&mut self, key: &str, value: Value) {
        let wanted = self.stacks.intern_text(key);
        match self.extras.iter_mut().find(|(key, _)| *key == wanted) {
            Some((_, old)) => *old = value,
            None => self.extras.push((wanted, value)),
        }
    }

    /// One allocator setting.
    #[must_use]
    pub fn setting(&self, key: &str) -> Option<&Value> {
        self.allocator_settings.as_ref()?.get(key)
    }

    /// Sets one allocator setting, replacing its old value in place. Cost: O(settings).
    pub fn set_setting(&mut self, key: &str, value: Value) {
        let mut pairs = match &self.allocator_settings {
            Some(Value::Dict(pairs)) => pairs.to_vec(),
            _ => Vec::new(),
        };
        match pairs.iter_mut().find(|(name, _)| name.as_str() == Some(key)) {
            Some((_, old)) => *old = value,
            None => pairs.push((key.into(), value)),
        }
        self.allocator_settings = Some(Value::Dict(pairs.into()));
    }

    /// Trace entries lost because the ring was full; 0 when the file does not say.
    #[must_use]
    pub fn dropped_entries(&self) -> u64 {
        let value = self.extra(keys::DROPPED_ENTRIES).and_then(Value::as_int);
        value.and_then(|n_dropped| u64::try_from(n_dropped).ok()).unwrap_or(0)
    }

    /// Adds to the count of lost entries.
    pub fn add_dropped_entries(&mut self, n_dropped: u64) {
        let total = self.dropped_entries().saturating_add(n_dropped);
        self.set_extra(keys::DROPPED_ENTRIES, Value::from(total));
    }

    /// The hash of the configuration that the allocator ran with.
    #[must_use]
    pub fn config_hash(&self) -> Option<u64> {
        self.setting(keys::CONFIG_HASH).and_then(Value::as_int).and_then(|hash| u64::try_from(hash).ok())
    }

    /// Notes the hash of the configuration.
    pub fn set_config_hash(&mut self, hash: u64) {
        self.set_setting(keys::CONFIG_HASH, Value::from(hash));
    }

    /// A snapshot with no parts but an empty list of segments.
    pub(crate) fn bare(stacks: StackTable, form: SnapshotForm) -> Self {
        Self {
            segments: Vec::new(),
            device_traces: None,
            allocator_settings: None,
            external_annotations: None,
            host_segments: None,
            host_traces: None,
            stacks,
            form,
            extras: Vec::new(),
            order: None,
        }
    }

    pub(crate) fn extras(&self) -> &[(StrId, Value)] {
        &self.extras
    }

    pub(crate) fn order(&self) -> Option<OrderId> {
        self.order
    }

    /// Puts in what the reader gathered: the table, unknown keys and the order of all keys.
    pub(crate) fn finish(
        &mut self,
        mut stacks: StackTable,
        mut extras: Vec<(StrId, Value)>,
        mut keys: KeyTracker,
    ) {
        keys.settle(&mut extras);
        self.order = keys.finish(&mut stacks);
        self.extras = extras;
        self.stacks = stacks;
    }
}

impl Default for Snapshot {
    fn default() -> Self {
        Self::new()
    }
}

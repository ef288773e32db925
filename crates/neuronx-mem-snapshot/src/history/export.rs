//! Reads the history back. Knows how to turn records into trace entries; refuses to change the
//! history while doing so.

use super::History;
use super::recorder::Record;
use crate::model::{Action, Snapshot, StackId, StackImporter, TraceEntry};

/// An event of the history, as a view.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'h> {
    record: &'h Record,
    history: &'h History,
}

/// The events of a history, oldest first.
#[derive(Clone, Debug)]
pub struct Entries<'h> {
    records: std::iter::Chain<std::slice::Iter<'h, Record>, std::slice::Iter<'h, Record>>,
    history: &'h History,
}

impl History {
    /// The events, oldest first.
    #[must_use]
    pub fn entries(&self) -> Entries<'_> {
        Entries { records: self.ring.iter(), history: self }
    }

    /// Appends the events to a device's trace in a snapshot and adds the dropped ones to its count.
    ///
    /// Stacks go into the snapshot's table, each once. Cost: O(events + distinct stacks).
    pub fn export(&self, snapshot: &mut Snapshot, device_idx: usize) {
        self.export_with(snapshot, device_idx, &mut StackImporter::new());
    }

    /// As [`export`](Self::export), with an importer that has carried stacks of this history into
    /// this snapshot before, for example those of live blocks.
    pub fn export_with(&self, snapshot: &mut Snapshot, device_idx: usize, importer: &mut StackImporter) {
        if self.n_dropped() > 0 {
            snapshot.add_dropped_entries(self.n_dropped());
        }
        let (trace, stacks) = snapshot.trace_and_stacks_mut(device_idx);
        let no_context = stacks.intern_text("N/A");
        trace.reserve(self.len());
        for entry in self.entries() {
            let action = match entry.action() {
                Action::Other(id) => Action::Other(stacks.intern_text(self.stacks.text(id))),
                known => known,
            };
            let metadata = stacks.intern_text(entry.user_metadata());
            let pool = stacks.intern_pool_of(&self.stacks, entry.record.pool);
            let mut exported = TraceEntry::new(action)
                .with_size_bytes(entry.size_bytes())
                .with_stream(entry.stream())
                .with_time_us(entry.time_us())
                .with_compile_context(no_context)
                .with_user_metadata(metadata)
                .with_pool(pool)
                .with_trace_id(entry.trace_id());
            exported = match (entry.addr(), entry.device_free_bytes()) {
                (_, Some(bytes)) => exported.with_device_free_bytes(bytes),
                (addr, None) => exported.with_addr(addr.unwrap_or(0)),
            };
            if let Some(stack) = entry.stack() {
                exported = exported.with_stack(importer.import(&self.stacks, stack, stacks));
            }
            trace.push(exported);
        }
    }
}

impl<'h> Entry<'h> {
    /// What happened.
    #[must_use]
    pub fn action(&self) -> Action {
        Action::from_text_id(self.record.action)
    }

    /// Address of the block or segment; `None` for `oom`.
    #[must_use]
    pub fn addr(&self) -> Option<u64> {
        (self.action() != Action::Oom).then_some(self.record.addr_or_free)
    }

    /// Free bytes of the device; only for `oom`.
    #[must_use]
    pub fn device_free_bytes(&self) -> Option<u64> {
        (self.action() == Action::Oom).then_some(self.record.addr_or_free)
    }

    /// Size in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.record.size_bytes
    }

    /// Stream of the block.
    #[must_use]
    pub fn stream(&self) -> u64 {
        self.record.stream
    }

    /// Unix time in microseconds.
    #[must_use]
    pub fn time_us(&self) -> u64 {
        self.record.time_us
    }

    /// Trace id: 1 for the first event ever, then one more each.
    #[must_use]
    pub fn trace_id(&self) -> u64 {
        self.record.trace_id
    }

    /// Call stack, a number of [`History::stacks`].
    #[must_use]
    pub fn stack(&self) -> Option<StackId> {
        self.record.stack
    }

    /// Text that the program attached, empty if none.
    #[must_use]
    pub fn user_metadata(&self) -> &'h str {
        self.history.metadata.text(self.record.metadata)
    }
}

impl<'h> Iterator for Entries<'h> {
    type Item = Entry<'h>;

    fn next(&mut self) -> Option<Entry<'h>> {
        let history = self.history;
        self.records.next().map(|record| Entry { record, history })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.records.size_hint()
    }
}

impl DoubleEndedIterator for Entries<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let history = self.history;
        self.records.next_back().map(|record| Entry { record, history })
    }
}

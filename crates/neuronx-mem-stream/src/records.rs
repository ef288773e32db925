//! The streams that used a block besides its own, for blocks that have any. Most have none, so
//! the sets live here and a block carries a number.

use smallvec::SmallVec;

use crate::{RecordId, StreamError, StreamId};

/// Streams in order of first use; more than a few for one block is rare.
pub(crate) type StreamSet = SmallVec<[StreamId; 4]>;

#[derive(Debug, Default)]
pub(crate) struct Records {
    sets: Vec<StreamSet>,
    spare: Vec<u32>,
}

impl Records {
    /// Adds a stream to a set, or to a new one. A stream is in a set once.
    pub(crate) fn add(
        &mut self,
        record: Option<RecordId>,
        stream: StreamId,
    ) -> Result<RecordId, StreamError> {
        let record = match record {
            Some(record) => record,
            None => self.new_set()?,
        };
        let unknown = StreamError::UnknownRecord { number: record.get() };
        let set = self.sets.get_mut(record.index()).ok_or(unknown)?;
        if !set.contains(&stream) {
            set.push(stream);
        }
        Ok(record)
    }

    pub(crate) fn get(&self, record: RecordId) -> Result<&StreamSet, StreamError> {
        let set = self.sets.get(record.index()).filter(|set| !set.is_empty());
        set.ok_or(StreamError::UnknownRecord { number: record.get() })
    }

    /// Empties a set and lets its number be used again.
    pub(crate) fn remove(&mut self, record: RecordId) {
        if let Some(set) = self.sets.get_mut(record.index()) {
            set.clear();
            self.spare.push(record.get());
        }
    }

    fn new_set(&mut self) -> Result<RecordId, StreamError> {
        if let Some(record) = self.spare.pop().and_then(RecordId::from_number) {
            return Ok(record);
        }
        let out_of_slots = StreamError::OutOfSlots { what: "recorded set" };
        let record = RecordId::from_index(self.sets.len()).ok_or(out_of_slots)?;
        self.sets.push(StreamSet::new());
        Ok(record)
    }
}

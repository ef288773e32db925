//! The queue over all streams of one device. Decides when a deallocation has run; what running
//! means is its owner's business.

use crate::lane::Lane;
use crate::records::Records;
use crate::{RecordId, StreamError, StreamId, Ticket};

/// Deallocations in stream order, for the streams of one device.
///
/// `T` names a block to the owner. A free on an idle stream costs two comparisons and queues
/// nothing; a queued one costs O(1) for each stream that it waits for.
#[derive(Debug)]
pub struct FreeQueue<T> {
    lanes: Vec<Lane>,
    entries: Vec<Entry<T>>,
    spare: Vec<u32>,
    records: Records,
    n_pending: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    token: T,
    bytes: u64,
    /// Streams on which the deallocation has yet to run.
    n_waits: u32,
}

impl<T: Copy> FreeQueue<T> {
    /// Makes a queue with the default stream.
    #[must_use]
    pub fn new() -> Self {
        Self {
            lanes: vec![Lane::default()],
            entries: Vec::new(),
            spare: Vec::new(),
            records: Records::default(),
            n_pending: 0,
        }
    }

    /// Adds a stream. O(1).
    ///
    /// # Errors
    ///
    /// [`StreamError::OutOfSlots`] after 2^32 streams.
    pub fn add_stream(&mut self) -> Result<StreamId, StreamError> {
        let number =
            u32::try_from(self.lanes.len()).map_err(|_| StreamError::OutOfSlots { what: "stream" })?;
        self.lanes.push(Lane::default());
        Ok(StreamId(number))
    }

    /// How many streams there are, the default one included.
    #[must_use]
    pub fn n_streams(&self) -> u32 {
        u32::try_from(self.lanes.len()).unwrap_or(u32::MAX)
    }

    /// Notes one more piece of work on a stream. O(1).
    ///
    /// # Errors
    ///
    /// [`StreamError::UnknownStream`].
    pub fn submit(&mut self, stream: StreamId) -> Result<Ticket, StreamError> {
        let lane = self.lane_mut(stream)?;
        lane.submitted += 1;
        Ok(Ticket(lane.submitted))
    }

    /// Notes that `stream` uses a block of `owner`'s: its deallocation will wait for both.
    ///
    /// `record` is what this returned for the block before; the block's owner keeps the result
    /// and hands it to [`enqueue_free`](Self::enqueue_free). Recording the owner, or the same
    /// stream twice, changes nothing. O(streams recorded for the block).
    ///
    /// # Errors
    ///
    /// [`StreamError::UnknownStream`], [`StreamError::UnknownRecord`].
    pub fn record_stream(
        &mut self,
        record: Option<RecordId>,
        owner: StreamId,
        stream: StreamId,
    ) -> Result<Option<RecordId>, StreamError> {
        self.lane(stream)?;
        if stream == owner {
            return Ok(record);
        }
        self.records.add(record, stream).map(Some)
    }

    /// Queues the deallocation of a block on its own stream and on every recorded one, behind
    /// the work already submitted there.
    ///
    /// Returns the block when all of them are idle: then the deallocation has run. Otherwise a
    /// later completion hands it out. The recorded set is used up. O(streams recorded).
    ///
    /// # Errors
    ///
    /// [`StreamError::UnknownStream`], [`StreamError::UnknownRecord`]; nothing is queued then.
    #[inline(always)]
    pub fn enqueue_free(
        &mut self,
        token: T,
        bytes: u64,
        owner: StreamId,
        record: Option<RecordId>,
    ) -> Result<Option<T>, StreamError> {
        if self.lane(owner)?.is_idle() && record.is_none() {
            return Ok(Some(token));
        }
        self.enqueue_busy(token, bytes, owner, record)
    }

    /// Notes that work up to `ticket` has completed on a stream, and hands every block whose
    /// last deallocation has now run to `ready`, in the order in which they were queued there.
    ///
    /// A ticket that was known complete changes nothing. O(blocks waiting for that work).
    ///
    /// # Errors
    ///
    /// [`StreamError::UnknownStream`], [`StreamError::CompletedBeforeSubmitted`].
    pub fn complete(
        &mut self,
        stream: StreamId,
        ticket: Ticket,
        ready: impl FnMut(T),
    ) -> Result<(), StreamError> {
        let lane = self.lane_mut(stream)?;
        if ticket.0 > lane.submitted {
            let (completed, submitted) = (ticket.0, lane.submitted);
            return Err(StreamError::CompletedBeforeSubmitted { stream, completed, submitted });
        }
        lane.completed = lane.completed.max(ticket.0);
        self.drain(stream, ready);
        Ok(())
    }

    /// Notes that all work of a stream has completed; see [`complete`](Self::complete).
    ///
    /// # Errors
    ///
    /// [`StreamError::UnknownStream`].
    pub fn complete_stream(&mut self, stream: StreamId, ready: impl FnMut(T)) -> Result<(), StreamError> {
        let lane = self.lane_mut(stream)?;
        lane.completed = lane.submitted;
        self.drain(stream, ready);
        Ok(())
    }

    /// Takes back the oldest queued deallocation that waits for `stream` alone and `is_wanted`.
    ///
    /// For reuse on that very stream: what is allocated there comes after all work that could
    /// still touch the block, so stream order makes it safe. O(deallocations queued there).
    ///
    /// # Errors
    ///
    /// [`StreamError::UnknownStream`].
    pub fn take_back(
        &mut self,
        stream: StreamId,
        mut is_wanted: impl FnMut(T) -> bool,
    ) -> Result<Option<T>, StreamError> {
        self.lane(stream)?;
        let entries = &self.entries;
        let lane = &mut self.lanes[stream.0 as usize];
        let is_candidate = |index: u32| {
            let entry = &entries[index as usize];
            entry.n_waits == 1 && is_wanted(entry.token)
        };
        let Some(index) = lane.take(is_candidate) else { return Ok(None) };
        let entry = &self.entries[index as usize];
        lane.pending_bytes -= entry.bytes;
        self.spare.push(index);
        self.n_pending -= 1;
        Ok(Some(entry.token))
    }

    /// Notes that all work of the device has completed, stream by stream from 0.
    pub fn complete_all(&mut self, mut ready: impl FnMut(T)) {
        for number in 0..self.n_streams() {
            let lane = &mut self.lanes[number as usize];
            lane.completed = lane.submitted;
            self.drain(StreamId(number), &mut ready);
        }
    }

    /// Whether a stream has no work ahead of what is submitted next.
    ///
    /// # Errors
    ///
    /// [`StreamError::UnknownStream`].
    pub fn is_idle(&self, stream: StreamId) -> Result<bool, StreamError> {
        self.lane(stream).map(Lane::is_idle)
    }

    /// The last work submitted to a stream, and the last known complete; 0 for none.
    ///
    /// # Errors
    ///
    /// [`StreamError::UnknownStream`].
    pub fn cursors(&self, stream: StreamId) -> Result<(Ticket, Ticket), StreamError> {
        self.lane(stream).map(|lane| (Ticket(lane.submitted), Ticket(lane.completed)))
    }

    /// Blocks whose deallocation has not run on every stream yet.
    #[must_use]
    #[inline]
    pub fn n_pending(&self) -> u64 {
        self.n_pending
    }

    /// Blocks waiting for a stream, and their bytes. A block that waits for two counts in both.
    ///
    /// # Errors
    ///
    /// [`StreamError::UnknownStream`].
    pub fn pending_on(&self, stream: StreamId) -> Result<(usize, u64), StreamError> {
        self.lane(stream).map(|lane| (lane.n_pending(), lane.pending_bytes))
    }

    #[inline(never)]
    fn enqueue_busy(
        &mut self,
        token: T,
        bytes: u64,
        owner: StreamId,
        record: Option<RecordId>,
    ) -> Result<Option<T>, StreamError> {
        let mut waits = record.map_or(Ok(Default::default()), |record| self.records.get(record).cloned())?;
        waits.push(owner);
        // A deallocation on an idle stream runs at once, so only the busy ones are waited for.
        waits.retain(|stream| !self.lanes[stream.0 as usize].is_idle());
        if let Some(record) = record {
            self.records.remove(record);
        }
        if waits.is_empty() {
            return Ok(Some(token));
        }
        let n_waits = u32::try_from(waits.len()).unwrap_or(u32::MAX);
        let entry = self.new_entry(Entry { token, bytes, n_waits })?;
        for stream in waits {
            self.lanes[stream.0 as usize].push(entry, bytes);
        }
        self.n_pending += 1;
        Ok(None)
    }

    fn new_entry(&mut self, entry: Entry<T>) -> Result<u32, StreamError> {
        if let Some(index) = self.spare.pop() {
            self.entries[index as usize] = entry;
            return Ok(index);
        }
        let out_of_slots = StreamError::OutOfSlots { what: "queued deallocation" };
        let index = u32::try_from(self.entries.len()).map_err(|_| out_of_slots)?;
        self.entries.push(entry);
        Ok(index)
    }

    fn drain(&mut self, stream: StreamId, mut ready: impl FnMut(T)) {
        while let Some(index) = self.lanes[stream.0 as usize].pop_ready() {
            let entry = &mut self.entries[index as usize];
            self.lanes[stream.0 as usize].pending_bytes -= entry.bytes;
            entry.n_waits -= 1;
            if entry.n_waits == 0 {
                let token = entry.token;
                self.spare.push(index);
                self.n_pending -= 1;
                ready(token);
            }
        }
    }

    #[inline(always)]
    fn lane(&self, stream: StreamId) -> Result<&Lane, StreamError> {
        let unknown = StreamError::UnknownStream { stream, n_streams: self.n_streams() };
        self.lanes.get(stream.0 as usize).ok_or(unknown)
    }

    fn lane_mut(&mut self, stream: StreamId) -> Result<&mut Lane, StreamError> {
        let unknown = StreamError::UnknownStream { stream, n_streams: self.n_streams() };
        self.lanes.get_mut(stream.0 as usize).ok_or(unknown)
    }
}

impl<T: Copy> Default for FreeQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

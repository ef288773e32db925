//! The streams of a trace on the device, and the work that is outstanding on them. Work completes
//! by count, never by time, so a replay is the same every time.

use hashbrown::HashMap;
use neuronx_mem::streams::{StreamId, Ticket};
use neuronx_mem::{AllocError, Device, Stream};

/// Device streams by their numbers in the trace.
pub(super) struct Streams {
    device: Device,
    /// In order of first appearance; the default stream comes first, seen or not.
    streams: Vec<Stream>,
    idx_of: HashMap<u64, usize>,
    in_flight: u64,
}

impl Streams {
    pub(super) fn new(device: &Device, in_flight: u64) -> Self {
        let streams = vec![device.default_stream()];
        Self { device: device.clone(), streams, idx_of: HashMap::new(), in_flight }
    }

    /// The device stream of a number in the trace: 0 is the default one, any other is made when
    /// it first appears.
    #[inline]
    pub(super) fn id(&mut self, number: u64) -> Result<StreamId, AllocError> {
        if number == 0 {
            return Ok(StreamId::DEFAULT);
        }
        self.idx(number).map(|idx| self.streams[idx].id())
    }

    /// Submits one piece of work and completes the one that is due for it.
    #[inline]
    pub(super) fn submit(&mut self, number: u64) -> Result<(), AllocError> {
        if self.in_flight == 0 {
            return Ok(());
        }
        let idx = self.idx(number)?;
        let stream = &self.streams[idx];
        let Ticket(submitted) = stream.submit()?;
        match submitted.checked_sub(self.in_flight) {
            Some(due) if due > 0 => stream.complete(Ticket(due)),
            _ => Ok(()),
        }
    }

    fn idx(&mut self, number: u64) -> Result<usize, AllocError> {
        if number == 0 {
            return Ok(0);
        }
        if let Some(idx) = self.idx_of.get(&number) {
            return Ok(*idx);
        }
        let idx = self.streams.len();
        self.streams.push(self.device.new_stream()?);
        self.idx_of.insert(number, idx);
        Ok(idx)
    }
}

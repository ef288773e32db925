//! Giving segments back to the runtime: on demand, during recovery, and at the end.

use neuronx_mem_pool::ReleasedSegment;
use neuronx_mem_runtime::{RuntimeError, SegmentHandle};
use neuronx_mem_snapshot::Action;
use neuronx_mem_stream::StreamId;

use super::recorder::BlockEvent;
use super::{Device, Shared, stats_pool};
use crate::AllocError;

/// Segments that were given back, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// How many.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Released {
    pub(crate) fn add(&mut self, other: Self) {
        self.segments += other.segments;
        self.bytes += other.bytes;
    }
}

impl Device {
    /// Frees cached constants, waits for the device, then gives every fully free segment back to the
    /// runtime.
    ///
    /// # Errors
    ///
    /// [`AllocError::Runtime`] of the first segment that the runtime would not take; all others
    /// are given back all the same.
    pub fn empty_cache(&self) -> Result<Released, AllocError> {
        self.clear_scalars();
        self.synchronize();
        let growth = self.shared.growth.lock();
        let released = self.release_free_segments();
        drop(growth);
        Ok(released?)
    }

    /// Gives fully free segments back. The caller holds the growth lock.
    pub(super) fn release_free_segments(&self) -> Result<Released, RuntimeError> {
        self.shared.flush_quarantine();
        let segments = {
            let mut state = self.shared.state.lock();
            let segments = state.pool.release_free_segments();
            for segment in &segments {
                state.stats.segment_freed(stats_pool(segment.kind), segment.bytes);
                let (address, bytes) = (segment.address, segment.bytes);
                let event = BlockEvent { address, bytes, stream: StreamId::DEFAULT };
                state.recorder.segment(Action::SegmentFree, &event, None);
            }
            segments
        };
        self.shared.verify_released(&segments);
        self.shared.give_all_back(&segments)
    }
}

impl Shared {
    /// Gives segments back, and first those that the runtime would not take before: it still holds
    /// their memory, so they are tried again each time.
    fn give_all_back(&self, segments: &[ReleasedSegment]) -> Result<Released, RuntimeError> {
        let mut waiting = std::mem::take(&mut *self.refused.lock());
        waiting.extend_from_slice(segments);
        let mut released = Released::default();
        let mut first_error = None;
        for segment in waiting {
            match self.runtime.free_segment(self.id, SegmentHandle(segment.tag)) {
                Ok(()) => released.add(Released { segments: 1, bytes: segment.bytes }),
                Err(error) => {
                    tracing::error!(%error, address = segment.address, "segment could not be given back");
                    first_error = first_error.or(Some(error));
                    self.refused.lock().push(segment);
                }
            }
        }
        first_error.map_or(Ok(released), Err)
    }
}

impl Drop for Shared {
    /// The last block, stream and clone are gone: the runtime gets everything back.
    fn drop(&mut self) {
        self.verify_all();
        let segments = self.state.get_mut().pool.release_all_segments();
        // Failures are logged one by one; there is nobody to return them to, and no later call that
        // would offer a refused segment again.
        if self.give_all_back(&segments).is_err() {
            let _ = self.give_all_back(&[]);
        }
    }
}

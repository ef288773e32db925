//! Filling freed memory, and looking at it before it is used again: runtime calls, so never under the
//! device's lock. A runtime that fails here is logged, and the memory counts as not filled.

use neuronx_mem_detector::{POISON, Poisoned};
use neuronx_mem_pool::{BlockId, ReleasedSegment};
use neuronx_mem_runtime::SegmentHandle;
use neuronx_mem_snapshot::StackId;

use crate::AllocError;
use crate::device::{Handle, Shared, State};

/// A piece of a segment to look at.
#[derive(Clone, Copy, Debug)]
struct Piece {
    segment: SegmentHandle,
    offset_bytes: u64,
    poisoned: Poisoned,
}

/// A block to fill.
#[derive(Clone, Copy, Debug)]
struct Filling {
    id: BlockId,
    segment: SegmentHandle,
    offset_bytes: u64,
    extent_bytes: u64,
}

impl Shared {
    /// Looks at the memory of a block before its owner gets it; passes the answer on.
    pub(in crate::device) fn verified(
        &self,
        answer: Result<Option<Handle>, AllocError>,
    ) -> Result<Option<Handle>, AllocError> {
        if let Ok(Some(handle)) = &answer
            && self.settings.is_watched()
        {
            let pieces = self.state.lock().pieces_of(handle);
            self.verify(&pieces);
            self.say();
        }
        answer
    }

    /// Ends a free: one that was refused is a finding, and what has come back is filled.
    pub(in crate::device) fn after_free(
        &self,
        id: BlockId,
        address: u64,
        stack: Option<StackId>,
        is_ok: bool,
    ) {
        if !self.settings.is_watched() {
            return;
        }
        if !is_ok && let Some(watched) = &mut self.state.lock().watch.watched {
            let finding = watched.detector.free_refused(id.to_bits(), address, stack);
            watched.unsaid.push(finding);
        }
        self.settle_freed();
        self.say();
    }

    /// Fills the memory of deallocations that have run, and lets go what the quarantine has no room
    /// for.
    pub(in crate::device) fn settle_freed(&self) {
        if !self.settings.is_watched() {
            return;
        }
        let (is_poisoning, fillings) = self.state.lock().fillings();
        for filling in fillings {
            let Filling { id, segment, offset_bytes, extent_bytes } = filling;
            let fill = || self.runtime.fill_memory(self.id, segment, offset_bytes, extent_bytes, POISON);
            let filled = is_poisoning.then(fill).transpose();
            if let Err(error) = &filled {
                tracing::warn!(%error, "freed memory could not be filled");
            }
            let is_poisoned = is_poisoning && filled.is_ok();
            self.state.lock().leave(id, extent_bytes, is_poisoned);
        }
    }

    /// Lets all memory go that is only kept back; whether there was any.
    pub(in crate::device) fn flush_quarantine(&self) -> bool {
        if !self.settings.is_watched() {
            return false;
        }
        let mut state = self.state.lock();
        let leaving =
            state.watch.watched.as_mut().map(|watched| watched.quarantine.flush()).unwrap_or_default();
        leaving.iter().for_each(|id| state.finish(*id));
        !leaving.is_empty()
    }

    /// Looks at segments before the runtime gets them back.
    pub(in crate::device) fn verify_released(&self, segments: &[ReleasedSegment]) {
        if !self.settings.is_watched() {
            return;
        }
        let pieces = self.state.lock().pieces_of_released(segments);
        self.verify(&pieces);
        self.say();
    }

    /// Looks at all memory that has to be unchanged still.
    pub(in crate::device) fn verify_all(&self) {
        if !self.settings.is_watched() {
            return;
        }
        let pieces = self.state.lock().all_pieces();
        self.verify(&pieces);
        self.say();
    }

    /// Logs what was found: each finding the first, second, fourth … time, so that a loop does not
    /// flood the log.
    pub(super) fn say(&self) {
        let unsaid = {
            let mut state = self.state.lock();
            state.watch.watched.as_mut().map(|watched| std::mem::take(&mut watched.unsaid))
        };
        let is_due = |finding: &neuronx_mem_detector::Finding<StackId>| finding.times.is_power_of_two();
        for finding in unsaid.into_iter().flatten().filter(is_due) {
            let report = finding.map_stacks(|stack| self.capture.resolve(stack)).report();
            tracing::error!(target: "neuronx_mem::detector", "{report}");
        }
    }

    fn verify(&self, pieces: &[Piece]) {
        for piece in pieces {
            let Piece { segment, offset_bytes, poisoned } = *piece;
            match self.runtime.find_other_byte(self.id, segment, offset_bytes, poisoned.bytes, POISON) {
                Ok(None) => {}
                Ok(Some((at, found))) => {
                    let address = poisoned.address + at.saturating_sub(offset_bytes);
                    let stack = self.capture.for_allocate();
                    if let Some(watched) = &mut self.state.lock().watch.watched {
                        let finding = watched.detector.poison_broken(&poisoned, address, found, stack);
                        watched.unsaid.push(finding);
                    }
                }
                Err(error) => tracing::warn!(%error, "freed memory could not be looked at"),
            }
        }
    }
}

impl State {
    fn pieces_of(&mut self, handle: &Handle) -> Vec<Piece> {
        let Self { pool, watch, .. } = self;
        let Some(watched) = &mut watch.watched else { return Vec::new() };
        let Some(poisoned) = watched.to_verify.remove(&handle.id.to_bits()) else { return Vec::new() };
        let Some((segment, offset)) = pool.slice_of(handle.id) else { return Vec::new() };
        let base = handle.address - offset;
        poisoned.into_iter().map(|poisoned| piece(segment, base, poisoned)).collect()
    }

    fn pieces_of_released(&mut self, segments: &[ReleasedSegment]) -> Vec<Piece> {
        let Some(watched) = &mut self.watch.watched else { return Vec::new() };
        let mut pieces = Vec::new();
        for segment in segments {
            let poisoned = watched.detector.released(segment.address, segment.bytes);
            pieces.extend(poisoned.into_iter().map(|p| piece(segment.tag, segment.address, p)));
        }
        pieces
    }

    fn all_pieces(&self) -> Vec<Piece> {
        let Some(watched) = &self.watch.watched else { return Vec::new() };
        let segments: Vec<(u64, u64, u64)> =
            self.pool.segments().map(|s| (s.address, s.bytes, s.tag)).collect();
        let place = |poisoned: Poisoned| {
            let idx =
                segments.partition_point(|(address, ..)| *address <= poisoned.address).checked_sub(1)?;
            let (address, bytes, tag) = segments[idx];
            (poisoned.address - address < bytes).then(|| piece(tag, address, poisoned))
        };
        watched.detector.all_poisoned().into_iter().filter_map(place).collect()
    }

    /// Takes the blocks to fill, and whether to fill them.
    fn fillings(&mut self) -> (bool, Vec<Filling>) {
        let Self { pool, watch, .. } = self;
        let Some(watched) = &mut watch.watched else { return (false, Vec::new()) };
        let place = |id: BlockId| {
            let (segment, offset_bytes) = pool.slice_of(id)?;
            let extent_bytes = pool.block(id)?.extent_bytes;
            Some(Filling { id, segment: SegmentHandle(segment), offset_bytes, extent_bytes })
        };
        (watched.is_poisoning, std::mem::take(&mut watched.to_fill).into_iter().filter_map(place).collect())
    }

    /// A block's memory was filled, or not: it goes into the quarantine, and the oldest leave it.
    fn leave(&mut self, id: BlockId, extent_bytes: u64, is_poisoned: bool) {
        let Some(watched) = &mut self.watch.watched else { return };
        watched.detector.freed(id.to_bits(), is_poisoned);
        let leaving = watched.quarantine.push(id, extent_bytes);
        leaving.into_iter().for_each(|id| self.finish(id));
    }
}

fn piece(segment: u64, base: u64, poisoned: Poisoned) -> Piece {
    Piece { segment: SegmentHandle(segment), offset_bytes: poisoned.address - base, poisoned }
}

//! What the program tells the detector: which work uses which memory, and which stream waits for
//! which. And what the detector tells the program. Without a detector asked for, all of it does
//! nothing.

use neuronx_mem_detector::{Access, CallStack, Finding};
use neuronx_mem_snapshot::StackId;
use neuronx_mem_stream::Ticket;

use super::enabled::submitted;
use crate::device::{Device, Handle};
use crate::{Block, Stream};

impl Device {
    /// Says that the last work submitted to `stream` uses `bytes` from a device address.
    ///
    /// Call it right after the work was submitted. A stream of another device is not followed.
    /// O(log blocks), and a call stack.
    ///
    /// ```
    /// use neuronx_mem::{Allocator, DeviceId, detector::DetectorOptions, sim::SimulatedRuntime};
    ///
    /// let runtime = SimulatedRuntime::default();
    /// let allocator = Allocator::builder().runtime(runtime).detector(DetectorOptions::default()).build()?;
    /// let device = allocator.device(DeviceId(0))?;
    /// let (compute, copy) = (device.default_stream(), device.new_stream()?);
    ///
    /// let block = allocator.allocate(4096, &compute)?;
    /// copy.submit()?;
    /// device.note_use(block.address(), 4096, &copy)?;
    /// drop(block); // block.record_stream(&copy) is missing
    /// let findings = device.detector_findings();
    /// assert!(findings[0].to_string().starts_with("unrecorded-stream: freed while work 1 of stream 1"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What is wrong with the use, which is among [`detector_findings`](Self::detector_findings) as
    /// well. That a stream was not recorded shows only when the block is freed.
    pub fn note_use(&self, address: u64, bytes: u64, stream: &Stream) -> Result<(), Box<Finding<CallStack>>> {
        self.note(stream, |detector, ticket, stack| {
            detector.used(&Access { address, bytes, stream: stream.id().0, ticket }, stack)
        })
    }

    /// Says that the last work submitted to `stream` uses a block, which a stale handle still names
    /// when its memory belongs to another block by now.
    ///
    /// # Errors
    ///
    /// As for [`note_use`](Self::note_use).
    pub fn note_use_of(&self, handle: Handle, stream: &Stream) -> Result<(), Box<Finding<CallStack>>> {
        self.note(stream, |detector, ticket, stack| {
            detector.used_block(handle.id.to_bits(), stream.id().0, ticket, stack)
        })
    }

    /// What was found so far, in order of number. At most
    /// [`max_findings`](neuronx_mem_detector::DetectorOptions::max_findings).
    #[must_use]
    pub fn detector_findings(&self) -> Vec<Finding<CallStack>> {
        let findings = {
            let state = self.shared.state.lock();
            state.watch.watched.as_ref().map(|w| w.detector.findings().to_vec()).unwrap_or_default()
        };
        findings.into_iter().map(|finding| self.resolve(finding)).collect()
    }

    /// How often something was wrong, repeated findings and those beyond the limit included.
    #[must_use]
    pub fn n_detector_findings(&self) -> u64 {
        self.shared.state.lock().watch.watched.as_ref().map_or(0, |watched| watched.detector.n_seen())
    }

    /// Looks at all freed memory now, for writes that came after its free. Otherwise it is looked at
    /// when it is handed out again or given back. One runtime call for each piece of freed memory.
    pub fn verify_freed_memory(&self) {
        self.shared.verify_all();
    }

    fn note(
        &self,
        stream: &Stream,
        judge: impl FnOnce(
            &mut neuronx_mem_detector::Detector<StackId>,
            u64,
            Option<StackId>,
        ) -> Option<Finding<StackId>>,
    ) -> Result<(), Box<Finding<CallStack>>> {
        if !self.shared.settings.is_watched() || !self.is_same(stream.device()) {
            return Ok(());
        }
        let stack = self.shared.capture.for_allocate();
        let found = {
            let mut state = self.shared.state.lock();
            let ticket = submitted(&state.queue, stream.id()).0;
            let watched = state.watch.watched.as_mut();
            watched.and_then(|watched| {
                let found = judge(&mut watched.detector, ticket, stack);
                watched.unsaid.extend(found.clone());
                found
            })
        };
        self.shared.say();
        found.map_or(Ok(()), |finding| Err(Box::new(self.resolve(finding))))
    }

    fn resolve(&self, finding: Finding<StackId>) -> Finding<CallStack> {
        finding.map_stacks(|stack| self.shared.capture.resolve(stack))
    }
}

impl Block {
    /// Says that the last work submitted to `stream` uses the block; see [`Device::note_use`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn note_use(&self, stream: &Stream) -> Result<(), Box<Finding<CallStack>>> {
        self.handle().map_or(Ok(()), |handle| self.device().note_use_of(handle, stream))
    }
}

impl Stream {
    /// Says that work submitted to this stream from now on waits for all that was submitted to
    /// `other` so far: for programs that order streams by themselves. A wait through the device's
    /// worker is known already.
    pub fn note_wait(&self, other: &Self) {
        if !self.device().is_same(other.device()) {
            return;
        }
        let mut state = self.device().shared.state.lock();
        let ticket = submitted(&state.queue, other.id());
        // What was submitted already does not wait.
        let next = Ticket(submitted(&state.queue, self.id()).0 + 1);
        state.stream_waits_from(self.id(), next, other.id(), ticket);
    }
}

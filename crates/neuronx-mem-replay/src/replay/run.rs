//! A whole trace through one allocator. Reads the clock twice, the environment never.

use std::time::Instant;

use neuronx_mem::{Allocator, AllocatorBuilder, Device, DeviceId, Handle};

use super::driver::{Driver, Refusal};
use super::report::Tally;
use crate::{Event, EventSource, ReplayError, ReplayOptions, ReplayReport, TraceOutOfMemory};

/// Replays traces, each on a fresh simulated device.
///
/// Out of memory ends a replay and is part of the report. A line that does not fit the lines
/// before it, such as a free of a tensor that is not live, ends it with an error, or is skipped
/// and counted when the source is lenient.
#[derive(Clone, Copy, Debug, Default)]
pub struct Replay {
    options: ReplayOptions,
}

/// What a replay leaves behind.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The figures.
    pub report: ReplayReport,
    /// The device as the last event left it, to be looked at.
    pub device: Device,
}

/// How far a replay has come, shown after each event that had an effect.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// Number of the event, from 1; skipped lines have none.
    pub number: u64,
    /// Its line, from 1.
    pub line: u64,
    /// The event.
    pub event: &'a Event,
    /// The block that it allocated, freed or recorded; `None` for one of no bytes.
    pub handle: Option<Handle>,
    /// The device after it.
    pub device: &'a Device,
}

impl Replay {
    /// Sets a replay up.
    #[must_use]
    pub fn new(options: ReplayOptions) -> Self {
        Self { options }
    }

    /// Its options.
    #[must_use]
    pub fn options(&self) -> &ReplayOptions {
        &self.options
    }

    /// Replays the events of a source. About 0.1 µs an event.
    ///
    /// # Errors
    ///
    /// The first error of the source; [`ReplayError::Rejected`] for an event that does not fit
    /// those before it; [`ReplayError::Allocator`] for a failure other than memory, such as a
    /// request that no device could hold.
    pub fn run(&self, source: impl EventSource) -> Result<Outcome, ReplayError> {
        self.observe(source, |_| {})
    }

    /// Replays as [`run`](Self::run) does, and shows the device to `observer` after each event.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn observe(
        &self,
        source: impl EventSource,
        observer: impl FnMut(&Progress<'_>),
    ) -> Result<Outcome, ReplayError> {
        self.drive(self.device(Allocator::builder())?, source, observer)
    }

    /// A fresh device of the options.
    pub(super) fn device(&self, builder: AllocatorBuilder) -> Result<Device, ReplayError> {
        let allocator = builder.runtime(self.options.runtime()).config(self.options.config).build()?;
        // A simulated runtime has a device 0 unless told otherwise.
        Ok(allocator.devices()[DeviceId(0).0 as usize].clone())
    }

    pub(super) fn drive(
        &self,
        device: Device,
        mut source: impl EventSource,
        mut observer: impl FnMut(&Progress<'_>),
    ) -> Result<Outcome, ReplayError> {
        let start = Instant::now();
        let mut driver = Driver::new(&device, self.options.in_flight);
        let mut tally = Tally::default();
        let limit = self.options.until.unwrap_or(u64::MAX);
        while tally.events < limit {
            let Some(next) = source.next() else { break };
            let next = next?;
            match driver.apply(&next.event) {
                Ok(handle) => {
                    tally.done(&next.event, &device);
                    let (number, line, event) = (tally.events, next.line, &next.event);
                    observer(&Progress { number, line, event, handle, device: &device });
                }
                Err(Refusal::Fault(fault)) if source.is_lenient() => tally.skipped.add(fault.kind()),
                Err(Refusal::Fault(fault)) => {
                    return Err(ReplayError::rejected(source.name(), next.line, fault));
                }
                Err(Refusal::OutOfMemory(error)) => {
                    let (event, line) = (tally.events + 1, next.line);
                    tally.out_of_memory = Some(TraceOutOfMemory { event, line, error: *error });
                    break;
                }
                Err(Refusal::Allocator(error)) => {
                    let (input, line) = (source.name().to_owned(), next.line);
                    return Err(ReplayError::Allocator { input, line, source: error });
                }
            }
        }
        let elapsed = start.elapsed();
        let report = tally.report(&source, &device, elapsed);
        Ok(Outcome { report, device })
    }
}

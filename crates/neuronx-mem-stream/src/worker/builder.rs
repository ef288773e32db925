//! How a worker is set up. Reads no environment: whoever does hands the values in.

use std::sync::Arc;

use super::shared::{Settings, Shared};
use super::{Clock, Completion, MonotonicClock, ProcessIdentity, SystemProcess, Worker, WorkerError};

/// Streams that a device has besides the default one.
pub const STREAM_POOL_SIZE: u32 = 3;

/// Settings of a worker, all with defaults; made by [`Worker::builder`].
#[derive(Debug)]
#[must_use = "a builder starts nothing until `start`"]
pub struct WorkerBuilder {
    settings: Settings,
}

impl WorkerBuilder {
    pub(super) fn new(device: u32) -> Self {
        let settings = Settings {
            device,
            stream_pool_size: STREAM_POOL_SIZE,
            is_streams_enabled: true,
            is_launch_blocking: false,
            completion: None,
            clock: Arc::new(MonotonicClock::new()),
            process: Arc::new(SystemProcess),
        };
        Self { settings }
    }

    /// How many streams there can be besides the default one; [`STREAM_POOL_SIZE`] by default.
    pub fn stream_pool_size(mut self, n_streams: u32) -> Self {
        self.settings.stream_pool_size = n_streams;
        self
    }

    /// Whether there are streams at all; otherwise every stream, whatever its number, is the
    /// default one (`TORCH_NEURONX_ENABLE_STREAMS=0`). On by default.
    pub fn enable_streams(mut self, is_enabled: bool) -> Self {
        self.settings.is_streams_enabled = is_enabled;
        self
    }

    /// Whether each submission completes before the call returns (`NEURON_LAUNCH_BLOCKING=1`). A
    /// panic of the work is then returned by the call. Off by default.
    pub fn launch_blocking(mut self, is_blocking: bool) -> Self {
        self.settings.is_launch_blocking = is_blocking;
        self
    }

    /// Who is told of submissions and completions; nobody by default.
    pub fn completion(mut self, completion: Arc<dyn Completion>) -> Self {
        self.settings.completion = Some(completion);
        self
    }

    /// The clock of timed events; [`MonotonicClock`] by default.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.settings.clock = clock;
        self
    }

    /// How a fork is noticed; [`SystemProcess`] by default.
    pub fn process(mut self, process: Arc<dyn ProcessIdentity>) -> Self {
        self.settings.process = process;
        self
    }

    /// Starts the thread, named `neuron-worker-<device>`.
    ///
    /// # Errors
    ///
    /// [`WorkerError::ThreadNotStarted`].
    pub fn start(self) -> Result<Worker, WorkerError> {
        Worker::start(Arc::new(Shared::new(self.settings)))
    }
}

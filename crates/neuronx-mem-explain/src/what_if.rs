//! Whether another configuration would have served the request: the same events, replayed under it,
//! and then the request itself. Tries what it is given; `tune` searches.

use std::num::NonZero;
use std::thread;

use neuronx_mem::AllocatorConfig;
use neuronx_mem_replay::{Replay, ReplayError, ReplayOptions};

use crate::explain::ExplainOptions;
use crate::{ExplainError, Input};

/// A request under another configuration.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ConfigTrial {
    /// The configuration.
    pub config: AllocatorConfig,
    /// Whether the trace comes as far and the request is served.
    pub serves: bool,
    /// Reserved memory before the request, bytes.
    pub reserved_bytes: u64,
}

/// Configurations worth a try when memory is lost between blocks: finer size classes, smaller
/// segments, and large blocks that are kept whole.
#[must_use]
pub fn usual_configs() -> Vec<AllocatorConfig> {
    const TEXTS: [&str; 6] = [
        "kRoundupPower2Divisions=16",
        "kMediumSegmentSize=33554432",
        "kRoundupPower2Divisions=16,kMediumSegmentSize=33554432",
        "kMaxSplitSizeBytes=268435456",
        "kMaxSplitSizeBytes=134217728",
        "kMaxSplitSizeBytes=67108864",
    ];
    TEXTS.iter().map(|text| AllocatorConfig::parse(text).config).collect()
}

/// Tries each, on as many threads as the machine has cores. The result does not depend on their number.
pub(crate) fn try_configs(
    input: &Input,
    options: &ExplainOptions,
    need_bytes: u64,
    event: u64,
) -> Result<Vec<ConfigTrial>, ExplainError> {
    let n_threads = thread::available_parallelism().map_or(1, NonZero::get).max(1);
    let share = options.configs.len().div_ceil(n_threads).max(1);
    let one = |config: &AllocatorConfig| trial(input, &options.replay, *config, need_bytes, event);
    thread::scope(|scope| {
        let parts = options.configs.chunks(share);
        let workers: Vec<_> =
            parts.map(|part| scope.spawn(move || part.iter().map(one).collect::<Vec<_>>())).collect();
        let join = |worker: thread::ScopedJoinHandle<'_, Vec<_>>| {
            worker.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload))
        };
        workers.into_iter().flat_map(join).collect()
    })
}

fn trial(
    input: &Input,
    options: &ReplayOptions,
    config: AllocatorConfig,
    need_bytes: u64,
    event: u64,
) -> Result<ConfigTrial, ExplainError> {
    let replay = Replay::new(ReplayOptions { config, until: Some(event), ..*options });
    let outcome = match replay.run(input.trace().events()) {
        // A request that this allocator refuses outright, in the history of another one.
        Err(ReplayError::Allocator { .. }) => {
            return Ok(ConfigTrial { config, serves: false, reserved_bytes: 0 });
        }
        outcome => outcome?,
    };
    let reserved_bytes = outcome.report.reserved_bytes;
    let mut serves = outcome.report.out_of_memory.is_none();
    if serves {
        let stream = outcome.device.default_stream();
        serves = outcome.device.allocate(need_bytes, &stream).is_ok();
    }
    Ok(ConfigTrial { config, serves, reserved_bytes })
}

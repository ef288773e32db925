//! The same trace under several configurations. Judges by figures only; searches nothing.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use neuronx_mem::AllocatorConfig;

use crate::{Replay, ReplayError, ReplayOptions, ReplayReport, Trace};

/// One report a configuration, in the order in which they were given.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// The reports.
    pub rows: Vec<ReplayReport>,
    /// The best of them, see [`best_of`]; `None` without any.
    pub best: Option<usize>,
}

/// Replays a trace once a configuration, on as many threads as the machine has cores.
///
/// `options.config` is not used. The result does not depend on the number of threads.
///
/// ```
/// use neuronx_mem::AllocatorConfig;
/// use neuronx_mem_replay::{ReplayOptions, Trace, TraceReader, compare};
///
/// let trace = Trace::read(TraceReader::new("a,1,4194304,0\nf,1\n".as_bytes(), "one tensor"))?;
/// let smaller = AllocatorConfig::parse("kMediumSegmentSize=16777216").config;
/// let configs = [AllocatorConfig::default(), smaller];
/// let comparison = compare(&trace, &ReplayOptions::default(), &configs)?;
/// assert_eq!(comparison.rows[0].reserved_peak_bytes, 64 << 20);
/// assert_eq!(comparison.rows[1].reserved_peak_bytes, 16 << 20);
/// assert_eq!(comparison.best, Some(1));
/// # Ok::<(), neuronx_mem_replay::ReplayError>(())
/// ```
///
/// # Errors
///
/// As [`Replay::run`], of the first configuration that fails.
pub fn compare(
    trace: &Trace,
    options: &ReplayOptions,
    configs: &[AllocatorConfig],
) -> Result<Comparison, ReplayError> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((idx, config)) = take(&next, configs) {
            let replay = Replay::new(ReplayOptions { config, ..*options });
            done.push((idx, replay.run(trace.events()).map(|outcome| outcome.report)));
        }
        done
    };
    let n_threads = thread::available_parallelism().map_or(1, NonZero::get).min(configs.len());
    let mut done: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
        let join = |worker: thread::ScopedJoinHandle<'_, Vec<_>>| {
            worker.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload))
        };
        workers.into_iter().flat_map(join).collect()
    });
    done.sort_by_key(|(idx, _)| *idx);
    let rows = done.into_iter().map(|(_, row)| row).collect::<Result<Vec<_>, _>>()?;
    let best = best_of(&rows);
    Ok(Comparison { rows, best })
}

/// The report with the fewest out-of-memory errors, then the lowest peak of reserved memory, then
/// the fewest segments taken from the runtime; the first of several such.
#[must_use]
pub fn best_of(rows: &[ReplayReport]) -> Option<usize> {
    let cost = |row: &ReplayReport| (row.num_ooms, row.reserved_peak_bytes, row.num_device_alloc);
    (0..rows.len()).min_by_key(|idx| cost(&rows[*idx]))
}

fn take(next: &AtomicUsize, configs: &[AllocatorConfig]) -> Option<(usize, AllocatorConfig)> {
    let idx = next.fetch_add(1, Ordering::Relaxed);
    configs.get(idx).map(|config| (idx, *config))
}

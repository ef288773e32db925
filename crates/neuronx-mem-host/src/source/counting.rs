//! A source that counts what another one hands out, so that nothing can leak unseen.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{BackedRun, PageRun, PageSource};
use crate::HostError;

/// Counts the runs of the source inside.
///
/// ```
/// use neuronx_mem_host::{CountingSource, NumberedPages, PageSource};
///
/// let pages = CountingSource::new(NumberedPages::new(1 << 20));
/// let run = pages.allocate(8192)?;
/// assert_eq!((pages.counts().live_runs, pages.counts().live_bytes), (1, 8192));
/// drop(run);
/// assert_eq!((pages.counts().live_runs, pages.counts().peak_bytes), (0, 8192));
/// # Ok::<(), neuronx_mem_host::HostError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CountingSource<S> {
    source: S,
    cells: Arc<Cells>,
}

/// What a [`CountingSource`] has counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceCounts {
    /// Runs that are out.
    pub live_runs: u64,
    /// Their bytes.
    pub live_bytes: u64,
    /// The most bytes that were out at once.
    pub peak_bytes: u64,
    /// Runs that were handed out in all.
    pub runs: u64,
    /// Calls that failed.
    pub failures: u64,
}

#[derive(Debug, Default)]
struct Cells {
    live_runs: AtomicU64,
    live_bytes: AtomicU64,
    peak_bytes: AtomicU64,
    runs: AtomicU64,
    failures: AtomicU64,
}

/// A run of a [`CountingSource`].
#[derive(Debug)]
pub struct CountedRun<R: PageRun> {
    run: R,
    cells: Arc<Cells>,
}

impl<S> CountingSource<S> {
    /// Counts what `source` hands out from now on. O(1).
    #[must_use]
    pub fn new(source: S) -> Self {
        Self { source, cells: Arc::default() }
    }

    /// Returns the counts; exact while no other thread is in the source. O(1).
    #[must_use]
    pub fn counts(&self) -> SourceCounts {
        let read = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        SourceCounts {
            live_runs: read(&self.cells.live_runs),
            live_bytes: read(&self.cells.live_bytes),
            peak_bytes: read(&self.cells.peak_bytes),
            runs: read(&self.cells.runs),
            failures: read(&self.cells.failures),
        }
    }

    /// Returns the source inside. O(1).
    #[must_use]
    pub const fn inner(&self) -> &S {
        &self.source
    }
}

impl<S: PageSource> PageSource for CountingSource<S> {
    type Run = CountedRun<S::Run>;

    fn allocate(&self, bytes: u64) -> Result<Self::Run, HostError> {
        let cells = &self.cells;
        let run = self.source.allocate(bytes).inspect_err(|_| {
            cells.failures.fetch_add(1, Ordering::Relaxed);
        })?;
        cells.runs.fetch_add(1, Ordering::Relaxed);
        cells.live_runs.fetch_add(1, Ordering::Relaxed);
        let live = cells.live_bytes.fetch_add(run.bytes(), Ordering::Relaxed) + run.bytes();
        cells.peak_bytes.fetch_max(live, Ordering::Relaxed);
        Ok(CountedRun { run, cells: Arc::clone(cells) })
    }
}

impl<R: PageRun> PageRun for CountedRun<R> {
    fn address(&self) -> u64 {
        self.run.address()
    }

    fn bytes(&self) -> u64 {
        self.run.bytes()
    }
}

// SAFETY: address and bytes are those of the run inside, which this run owns and never hands out, so
// the promise of that run holds for this one.
#[expect(unsafe_code, reason = "a counted run passes the promise of the run inside on")]
unsafe impl<R: BackedRun> BackedRun for CountedRun<R> {}

impl<R: PageRun> Drop for CountedRun<R> {
    fn drop(&mut self) {
        self.cells.live_runs.fetch_sub(1, Ordering::Relaxed);
        self.cells.live_bytes.fetch_sub(self.run.bytes(), Ordering::Relaxed);
    }
}

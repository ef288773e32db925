//! Call stacks for the history, captured before the device's lock is taken. Has a lock of its own,
//! which only threads that capture ever take, and which is not held while a shared source is asked.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use neuronx_mem_snapshot::history::{History, NoStacks, Recording, SharedStacks, StackProvider};
use neuronx_mem_snapshot::{Action, StackId, StackTable};
use parking_lot::Mutex;

pub(super) struct Capture {
    /// Somebody wants events or stacks. The one thing that the hot path looks at.
    is_on: AtomicBool,
    /// Somebody can tell a stack: without a provider nothing is captured, whatever is wanted.
    has_provider: AtomicBool,
    on_allocate: AtomicBool,
    on_free: AtomicBool,
    /// Wanted whatever the history says.
    is_always: bool,
    source: Mutex<Source>,
}

/// Where stacks come from.
#[expect(clippy::large_enum_variant, reason = "one a device")]
enum Source {
    /// Takes turns, and fills a table of ours.
    Exclusive { provider: Box<dyn StackProvider + Send>, table: StackTable },
    /// Takes care of itself, and has its own table.
    Shared(Arc<dyn SharedStacks>),
}

impl Capture {
    pub(super) fn new() -> Self {
        let source = Source::Exclusive { provider: Box::new(NoStacks), table: StackTable::new() };
        Self {
            is_on: AtomicBool::new(false),
            has_provider: AtomicBool::new(false),
            on_allocate: AtomicBool::new(false),
            on_free: AtomicBool::new(false),
            is_always: false,
            source: Mutex::new(source),
        }
    }

    /// Captures a stack at every allocation and free, whatever the history says.
    #[cfg(feature = "detector")]
    pub(super) fn for_all(provider: Box<dyn StackProvider + Send>) -> Self {
        let mut capture = Self { is_always: true, ..Self::new() };
        capture.set_provider(provider);
        (*capture.on_allocate.get_mut(), *capture.on_free.get_mut()) = (true, true);
        *capture.is_on.get_mut() = true;
        capture
    }

    /// The frames of a stack.
    #[cfg(feature = "detector")]
    pub(super) fn resolve(&self, stack: StackId) -> neuronx_mem_detector::CallStack {
        let frame = |frame: neuronx_mem_snapshot::Frame<'_>| neuronx_mem_detector::StackFrame {
            function: frame.name().to_owned(),
            file: frame.filename().to_owned(),
            line: frame.line(),
        };
        let frames = |table: &StackTable| table.frames(stack).map(frame).collect();
        let source = self.source.lock();
        let shared = match &*source {
            Source::Exclusive { table, .. } => {
                return neuronx_mem_detector::CallStack { frames: frames(table) };
            }
            Source::Shared(shared) => Arc::clone(shared),
        };
        drop(source);
        neuronx_mem_detector::CallStack { frames: frames(&shared.table()) }
    }

    /// Whether the numbers given out before mean nothing any more.
    pub(super) fn set_provider(&self, provider: Box<dyn StackProvider + Send>) -> bool {
        self.has_provider.store(true, Ordering::Relaxed);
        let source = &mut *self.source.lock();
        if let Source::Exclusive { provider: before, .. } = source {
            *before = provider;
            return false;
        }
        *source = Source::Exclusive { provider, table: StackTable::new() };
        true
    }

    /// Whether stacks come from this source already.
    pub(super) fn is_shared_with(&self, shared: &Arc<dyn SharedStacks>) -> bool {
        matches!(&*self.source.lock(), Source::Shared(now) if Arc::ptr_eq(now, shared))
    }

    pub(super) fn set_shared(&self, shared: Arc<dyn SharedStacks>) {
        *self.source.lock() = Source::Shared(shared);
        self.has_provider.store(true, Ordering::Relaxed);
    }

    /// Takes over which events want a stack.
    pub(super) fn follow(&self, history: &History) {
        let has_provider = self.has_provider.load(Ordering::Relaxed);
        let wants = |action| has_provider && (self.is_always || history.wants_stack(action));
        self.on_allocate.store(wants(Action::Alloc), Ordering::Relaxed);
        self.on_free.store(wants(Action::FreeRequested), Ordering::Relaxed);
        let is_on = self.is_always || history.options().recording != Recording::Off;
        self.is_on.store(is_on, Ordering::Relaxed);
    }

    /// Whether an operation that begins now is to be recorded. One load, outside the lock: another
    /// thread's operation that is under way while the history is switched on may be left out.
    #[inline(always)]
    pub(super) fn is_on(&self) -> bool {
        // The other build exists to measure what a history that is off costs: `cargo xtask bench`.
        option_env!("NEURONX_MEM_BENCH_WITHOUT_RECORDER").is_none() && self.is_on.load(Ordering::Relaxed)
    }

    /// The caller's stack for an allocation, if one is wanted. One load when not.
    #[inline]
    pub(super) fn for_allocate(&self) -> Option<StackId> {
        if self.on_allocate.load(Ordering::Relaxed) { self.take(SharedStacks::capture) } else { None }
    }

    /// The caller's stack for a free, if one is wanted. One load when not.
    #[inline]
    pub(super) fn for_free(&self) -> Option<StackId> {
        if self.on_free.load(Ordering::Relaxed) { self.take(SharedStacks::capture_at_free) } else { None }
    }

    /// A copy of the table that all stacks are numbers into.
    pub(super) fn table(&self) -> StackTable {
        let source = self.source.lock();
        let shared = match &*source {
            Source::Exclusive { table, .. } => return table.clone(),
            Source::Shared(shared) => Arc::clone(shared),
        };
        drop(source);
        shared.table()
    }

    #[cold]
    fn take(&self, ask: impl FnOnce(&(dyn SharedStacks + 'static)) -> Option<StackId>) -> Option<StackId> {
        let mut source = self.source.lock();
        let shared = match &mut *source {
            Source::Exclusive { provider, table } => return provider.capture(table),
            Source::Shared(shared) => Arc::clone(shared),
        };
        drop(source);
        ask(&*shared)
    }
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture").field("on_allocate", &self.on_allocate).finish_non_exhaustive()
    }
}

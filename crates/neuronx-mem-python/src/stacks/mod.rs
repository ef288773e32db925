//! Call stacks of Python for the memory history: cheap to capture, symbolised when a snapshot is taken.
//!
//! A capture walks the frames and looks the sequence of (code, instruction) up in a table: no name, no
//! line, no memory for a stack that was seen before. Knows one table a process, which is never freed. Code
//! that appears in a stack is kept alive, so that its address means the same for ever.
//!
//! Threads may hold no interpreter lock when they allocate: it is taken here, before the table's own and
//! never while that is held. A free never takes it, and has no stack without it. Nothing is captured while
//! the interpreter ends.

mod native;
mod python;
mod table;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use neuronx_mem::snapshot::history::{SharedStacks, StackKind};
use neuronx_mem::snapshot::{StackId, StackTable};
use parking_lot::Mutex;
use pyo3::prelude::*;
use smallvec::SmallVec;

use native::NativeSymbols;
use python::Frames;
use table::{Place, PlaceTable};

/// Frames of a stack, innermost first; more than these are rare and go to the heap.
type Places = SmallVec<[Place; 64]>;

/// Set when the interpreter is about to end.
static IS_STOPPED: AtomicBool = AtomicBool::new(false);

static SOURCE: OnceLock<Arc<InterpreterStacks>> = OnceLock::new();

/// Stacks of the interpreter's threads, with native frames on top where they are wanted.
#[derive(Debug)]
pub(crate) struct InterpreterStacks {
    frames: Option<Frames>,
    has_native: AtomicBool,
    table: Mutex<PlaceTable>,
}

/// The source for all devices of the process.
pub(crate) fn source(py: Python<'_>, kind: StackKind) -> Arc<InterpreterStacks> {
    let make = || {
        let frames = Frames::find(py);
        Arc::new(InterpreterStacks { frames, has_native: AtomicBool::new(false), table: Mutex::default() })
    };
    let source = SOURCE.get_or_init(make);
    source.has_native.store(kind == StackKind::All, Ordering::Relaxed);
    Arc::clone(source)
}

impl SharedStacks for InterpreterStacks {
    fn capture(&self) -> Option<StackId> {
        if IS_STOPPED.load(Ordering::Acquire) {
            return None;
        }
        let mut places = Places::new();
        if self.has_native.load(Ordering::Relaxed) {
            native::walk(&mut places);
        }
        // `None` while the interpreter ends, or in the garbage collector's hands.
        Python::try_attach(|py| {
            if let Some(frames) = &self.frames {
                frames.walk(py, &mut places);
            }
            if places.is_empty() {
                return None;
            }
            let (number, is_new) = self.table.lock().number_of(&places);
            if is_new {
                places.iter().for_each(|place| python::keep(py, place));
            }
            Some(StackId::from_index(number))
        })
        .flatten()
    }

    /// Never waits for the interpreter: a free on a thread without its lock has no stack. Such threads
    /// (autograd's, say) run no Python of their own.
    fn capture_at_free(&self) -> Option<StackId> {
        let has_lock = self.frames.as_ref().is_some_and(Frames::has_lock);
        if has_lock { self.capture() } else { None }
    }

    fn table(&self) -> StackTable {
        // Looking names up may run finalisers of Python, which free blocks and so come back here:
        // a copy is taken, and the table let go.
        let stacks = self.table.lock().stacks();
        let mut table = StackTable::new();
        let mut natives = NativeSymbols::new();
        Python::try_attach(|py| {
            for stack in stacks {
                let mut named = SmallVec::<[_; 64]>::new();
                let n_native = stack.iter().take_while(|place| place.is_native()).count();
                let (native, interpreted) = stack.split_at(n_native);
                natives.add(native, !interpreted.is_empty(), &mut table, &mut named);
                for place in interpreted {
                    let (name, file, line) = self
                        .frames
                        .as_ref()
                        .map_or_else(Default::default, |frames| frames.describe(py, place));
                    named.push(table.intern_frame(&name, &file, line));
                }
                table.append_stack(&named);
            }
        });
        table
    }
}

/// Captures nothing from now on: called when the interpreter is about to end.
#[pyfunction]
pub(crate) fn stop_capturing() {
    IS_STOPPED.store(true, Ordering::Release);
}

/// How many distinct stacks were captured so far.
#[pyfunction]
pub(crate) fn n_captured_stacks() -> usize {
    SOURCE.get().map_or(0, |source| source.table.lock().len())
}

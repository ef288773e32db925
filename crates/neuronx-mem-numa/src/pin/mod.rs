//! Binding the threads of this process to CPUs, and undoing it.
//!
//! Knows which threads follow and which are left alone. Refuses to move memory: what was touched before
//! stays where it is, and [`StatusReport`](crate::StatusReport) counts it.

#[cfg(target_os = "linux")]
#[path = "enabled.rs"]
mod call;
#[cfg(not(target_os = "linux"))]
#[path = "disabled.rs"]
mod call;
mod tasks;

use std::collections::BTreeSet;

use crate::{CpuSet, NumaError};

/// The most often that threads are listed while new ones appear. Each new thread comes from one that was
/// not bound yet, so there are few.
const MAX_PASSES: usize = 64;

/// The threads of this process, bound to CPUs.
///
/// The main thread goes first, then every thread whose affinity was the main thread's. A thread with
/// another one has it on purpose and keeps it. Threads that start later inherit from those that start
/// them. Dropping the value changes nothing; [`undo`](Self::undo) does.
///
/// Memory is not moved and no memory policy is set: pages land on the node of the thread that touches
/// them first (guidelines for memory management, "Pin host memory to the local NUMA node").
#[derive(Debug)]
#[must_use = "without it the pin cannot be undone"]
pub struct Pin {
    original: CpuSet,
    target: CpuSet,
    bound: BTreeSet<i32>,
    /// Threads that had the target before, on purpose or from an earlier pin.
    already: BTreeSet<i32>,
    left_alone: BTreeSet<i32>,
    refused: BTreeSet<i32>,
}

/// What [`Pin::undo`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UndoReport {
    /// Threads that have the affinity of before the pin again, those that started since included.
    pub n_restored: usize,
    /// Threads that were bound and have another affinity now; they keep it.
    pub n_left_alone: usize,
    /// Threads that the system refused to change.
    pub n_refused: usize,
}

impl Pin {
    /// Binds the threads of this process to these CPUs.
    ///
    /// Doing it again with the same CPUs changes nothing, and undoing the second one neither. A thread
    /// that ends meanwhile is passed over. Cost: three system calls a thread.
    ///
    /// # Errors
    ///
    /// [`NumaError::NoCpus`] for an empty set, [`NumaError::CpuBeyondCall`] for a CPU above 1023,
    /// [`NumaError::Affinity`] when the main thread cannot be bound, such as to CPUs that are all outside
    /// its cpuset, [`NumaError::Threads`] without `/proc`, [`NumaError::Unsupported`] elsewhere than on
    /// Linux. The main thread is bound as before then.
    pub fn apply(cpus: &CpuSet) -> Result<Self, NumaError> {
        if cpus.is_empty() {
            return Err(NumaError::NoCpus);
        }
        let main = tasks::main_thread();
        let refused = |source| NumaError::Affinity { tid: main, source };
        let before: Vec<(i32, CpuSet)> =
            tasks::list()?.into_iter().filter_map(|tid| Some((tid, call::affinity(tid).ok()?))).collect();
        let original = call::affinity(main).map_err(refused)?;
        call::set_affinity(main, cpus)?;
        // What the kernel makes of it: a cpuset may take CPUs away.
        let target = call::affinity(main).map_err(refused)?;
        let already = before.into_iter().filter(|(_, affinity)| *affinity == target).map(|(tid, _)| tid);
        let already: BTreeSet<i32> = already.collect();
        let bound = if already.contains(&main) { BTreeSet::new() } else { [main].into() };
        let [left_alone, refused] = [BTreeSet::new(), BTreeSet::new()];
        let mut pin = Self { original, target, bound, already, left_alone, refused };
        for _ in 0..MAX_PASSES {
            match pin.pass() {
                Ok(true) => {}
                Ok(false) => return Ok(pin),
                Err(error) => {
                    call::set_affinity(main, &pin.original)?;
                    return Err(error);
                }
            }
        }
        tracing::warn!("threads start faster than they can be bound; the last ones may not be bound");
        Ok(pin)
    }

    /// Returns the CPUs that the threads are bound to: those wanted, less what a cpuset takes away.
    pub fn cpus(&self) -> &CpuSet {
        &self.target
    }

    /// Returns the affinity that the main thread had before.
    pub fn original(&self) -> &CpuSet {
        &self.original
    }

    /// Returns how many threads were bound; 0 when all of them were bound so before.
    pub fn n_bound(&self) -> usize {
        self.bound.len()
    }

    /// Returns how many threads had an affinity of their own and kept it.
    pub fn n_left_alone(&self) -> usize {
        self.left_alone.len()
    }

    /// Returns how many threads the system refused to change.
    pub fn n_refused(&self) -> usize {
        self.refused.len()
    }

    /// Gives the threads back the affinity of before, those that started since the pin too.
    ///
    /// Threads that have another affinity by now keep it, and so do those that had these CPUs already
    /// before the pin.
    ///
    /// # Errors
    ///
    /// [`NumaError::Threads`] without `/proc`.
    pub fn undo(self) -> Result<UndoReport, NumaError> {
        let mut report = UndoReport::default();
        if self.original == self.target {
            return Ok(report);
        }
        let mut seen = BTreeSet::new();
        for _ in 0..MAX_PASSES {
            let mut has_news = false;
            for tid in tasks::list()? {
                if self.already.contains(&tid) || self.left_alone.contains(&tid) || !seen.insert(tid) {
                    continue;
                }
                has_news = true;
                match call::affinity(tid) {
                    Ok(affinity) if affinity == self.target => {
                        match call::set_affinity(tid, &self.original) {
                            Ok(()) => report.n_restored += 1,
                            Err(_) if call::affinity(tid).is_err() => {}
                            Err(_) => report.n_refused += 1,
                        }
                    }
                    Ok(_) => report.n_left_alone += usize::from(self.bound.contains(&tid)),
                    Err(_) => {}
                }
            }
            if !has_news {
                break;
            }
        }
        Ok(report)
    }

    /// Goes through the threads once; says whether one was there that no pass had seen.
    fn pass(&mut self) -> Result<bool, NumaError> {
        let mut has_news = false;
        for tid in tasks::list()? {
            let known = [&self.bound, &self.already, &self.left_alone, &self.refused];
            if known.iter().any(|known| known.contains(&tid)) {
                continue;
            }
            // Only a thread that has ended has none.
            let Ok(affinity) = call::affinity(tid) else { continue };
            has_news = true;
            let group = if affinity == self.target {
                // It started since, from a thread that was bound.
                &mut self.bound
            } else if affinity != self.original {
                &mut self.left_alone
            } else if call::set_affinity(tid, &self.target).is_ok() {
                &mut self.bound
            } else if call::affinity(tid).is_ok() {
                &mut self.refused
            } else {
                continue;
            };
            group.insert(tid);
        }
        Ok(has_news)
    }
}

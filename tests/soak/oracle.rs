//! Who may hold which addresses, kept beside the allocator. Knows two rules: no two blocks overlap, and
//! a block's memory comes back only when the work before its free has completed, on all its streams,
//! or to its own stream.
//!
//! Threads meet the oracle and the allocator one after the other, so all it holds is on the safe side:
//! a block is noted after it was handed out and forgotten before it is freed, work counts as submitted
//! once that call has returned, and as completed before the call that completes it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::epoch::N_STREAMS;

/// Work of each stream: a stream's number, and the last work before the free.
type Waits = Vec<(usize, u64)>;

#[derive(Debug, Default)]
pub(crate) struct Oracle {
    state: Mutex<State>,
    /// Work submitted to each stream, and completed, as far as the threads have counted.
    pub(crate) submitted: [AtomicU64; N_STREAMS],
    pub(crate) completed: [AtomicU64; N_STREAMS],
}

#[derive(Debug, Default)]
struct State {
    /// Ends of held blocks by first address.
    held: BTreeMap<u64, u64>,
    /// Freed memory by first address: its end, and what it waits for.
    freed: BTreeMap<u64, (u64, Waits)>,
}

impl Oracle {
    /// Notes a block that was handed out on a stream. `known_complete` may know of more completed work
    /// than was counted here: recovery waits for streams too.
    pub(crate) fn take(
        &self,
        start: u64,
        bytes: u64,
        stream: usize,
        known_complete: impl Fn(usize) -> u64,
    ) -> Result<(), String> {
        let end = start + bytes;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((other, other_end)) = overlapping(&state.held, start, end, |held| *held) {
            return Err(format!("block {start:#x} to {end:#x} overlaps {other:#x} to {other_end:#x}"));
        }
        while let Some((freed, _)) = overlapping(&state.freed, start, end, |(end, _)| *end) {
            let Some((freed_end, waits)) = state.freed.remove(&freed) else { break };
            for (waited, ticket) in &waits {
                if *waited == stream || self.completed[*waited].load(Ordering::SeqCst) >= *ticket {
                    continue;
                }
                let completed = known_complete(*waited);
                if completed < *ticket {
                    return Err(format!(
                        "block {start:#x} to {end:#x} of stream {stream} reuses memory that waits for work \
                         {ticket} of stream {waited}, which has completed {completed}"
                    ));
                }
            }
            if freed < start {
                state.freed.insert(freed, (start, waits.clone()));
            }
            if end < freed_end {
                state.freed.insert(end, (freed_end, waits));
            }
        }
        state.held.insert(start, end);
        Ok(())
    }

    /// Notes that a block is about to be freed that these streams use.
    pub(crate) fn give(&self, start: u64, streams: &[usize]) {
        let last = |stream: &usize| (*stream, self.submitted[*stream].load(Ordering::SeqCst));
        let waits = streams.iter().map(last).collect();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(end) = state.held.remove(&start) {
            state.freed.insert(start, (end, waits));
        }
    }

    /// Forgets freed memory: all of it was given back to the device. Fails when a block is held.
    pub(crate) fn end_epoch(&self) -> Result<(), String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.freed.clear();
        let n_held = state.held.len();
        if n_held == 0 { Ok(()) } else { Err(format!("{n_held} blocks are held after all were freed")) }
    }
}

/// The lowest entry that shares a byte with `start..end`, and its end.
fn overlapping<T>(
    entries: &BTreeMap<u64, T>,
    start: u64,
    end: u64,
    end_of: impl Fn(&T) -> u64,
) -> Option<(u64, u64)> {
    let below = entries.range(..=start).next_back().filter(|(_, entry)| end_of(entry) > start);
    let found = below.or_else(|| entries.range(start..end).next());
    found.map(|(first, entry)| (*first, end_of(entry)))
}

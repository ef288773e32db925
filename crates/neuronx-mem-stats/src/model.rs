//! Model checking: the consistent read over `loom`'s atomics, in every order and with every stale
//! value that the memory model allows.
//!
//! Built by `--cfg loom` only, and as unit tests, so that no other build knows `loom`:
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test --release -p neuronx-mem-stats --lib model
//! ```
//!
//! Tests named `in_all_orders` search the full space; those named `within_three_preemptions` leave out
//! executions that switch away more than three times from a thread that could have gone on: their full
//! space did not end within five minutes.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::sync::Arc;

use loom::thread;

use crate::counter::{Cell, PoolGauge};
use crate::sequence::Sequence;
use crate::{Values, device_stats};

/// Switches away from a thread that could have gone on.
const THREE_PREEMPTIONS: Option<usize> = Some(3);

/// Two values that only ever change together, under a sequence lock.
#[derive(Default)]
struct Pair {
    sequence: Sequence,
    left: Cell,
    right: Cell,
}

impl Pair {
    fn raise(&self) {
        self.sequence.write(|| {
            self.left.add(1);
            self.right.add(1);
        });
    }

    /// One attempt: a reader that fails tries again, which shows the checker nothing new.
    fn try_read(&self) -> Option<(u64, u64)> {
        self.sequence.try_read(|| (self.left.get(), self.right.get()))
    }
}

fn check(bound: Option<usize>, scenario: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    // Whatever the environment says.
    builder.preemption_bound = bound;
    builder.check(scenario);
}

/// A writer of `n_writes` and readers of `n_reads` each, none of which sees half a write or goes back.
fn check_pair(bound: Option<usize>, n_readers: usize, n_writes: u64, n_reads: usize) {
    check(bound, move || {
        let pair = Arc::new(Pair::default());
        let readers: Vec<_> = (0..n_readers)
            .map(|_| {
                let pair = Arc::clone(&pair);
                thread::spawn(move || {
                    let mut before = 0;
                    for _ in 0..n_reads {
                        let Some((left, right)) = pair.try_read() else { continue };
                        assert_eq!(left, right, "half a write was seen");
                        assert!(left >= before, "a later read saw an earlier state");
                        before = left;
                    }
                })
            })
            .collect();
        (0..n_writes).for_each(|_| pair.raise());
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        assert_eq!(pair.try_read(), Some((n_writes, n_writes)));
    });
}

/// A step of the writer is four stores around a fence, an attempt of a reader four loads.
#[test]
fn three_threads_of_four_operations_each_in_all_orders() {
    check_pair(None, 2, 1, 1);
}

#[test]
fn two_steps_beside_two_attempts_in_all_orders() {
    check_pair(None, 1, 2, 2);
}

#[test]
fn two_steps_beside_two_readers_within_three_preemptions() {
    check_pair(THREE_PREEMPTIONS, 2, 2, 1);
}

#[test]
fn a_counter_of_both_pools_beside_an_increase_in_all_orders() {
    check(None, || {
        let shared = Arc::new((Sequence::default(), PoolGauge::default()));
        let of_reader = Arc::clone(&shared);
        let reading = thread::spawn(move || {
            let (sequence, gauge) = &*of_reader;
            let Some([all, small, large]) = sequence.try_read(|| gauge.values()) else { return };
            assert_eq!((all.current, all.peak, all.allocated), (small.current, small.peak, small.allocated));
            assert_eq!((small.peak, small.allocated, small.freed), (small.current, small.current, 0));
            assert_eq!(large, Values::default());
        });
        let (sequence, gauge) = &*shared;
        sequence.write(|| gauge.increase(0, 4096));
        reading.join().unwrap();
        assert_eq!(gauge.values()[0].current, 4096);
    });
}

#[test]
fn a_read_of_all_statistics_waits_for_a_writer_in_all_orders() {
    check(None, || {
        let (mut writer, reader) = device_stats(None);
        let reading = thread::spawn(move || {
            let counters = reader.read().counters();
            assert!(counters.device_synchronizations <= 1, "{counters:?}");
        });
        writer.synchronized();
        reading.join().unwrap();
    });
}

//! The staging allocator's hot pair: allocate and free one buffer of a size that was just freed, on one
//! thread, beside two uncontended locks of a mutex, which is the floor.

use std::hint::black_box;

use neuronx_mem::host::{NumberedPages, StagingAllocator, StagingOptions};

use crate::claims::Verdict;
use crate::measure::{Cell, thread_cpu_ns};

const PAIRS: u64 = 500_000;

/// What one pair may take.
const LIMIT_NS: f64 = 60.0;

pub const WORKLOAD: &str = "host hot pair";

const SIZES: [(&str, u64); 2] = [("staging, 4 KiB", 4096), ("staging, 3 MiB", 3 << 20)];

/// One cell a size, in nanoseconds a pair.
pub fn measure(is_wanted: &dyn Fn(&str) -> bool, repetitions: usize) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for (subject, bytes) in SIZES {
        if is_wanted(subject) {
            let pages = NumberedPages::new(1 << 30);
            let staging = StagingAllocator::new(pages, StagingOptions::default()).expect("no reserve");
            let pair = || drop(black_box(staging.allocate(black_box(bytes)).expect("1 GiB is ample")));
            cells.push(Cell::new(subject, WORKLOAD, samples(repetitions, pair)));
        }
    }
    if is_wanted("two locks") {
        let mutex = std::sync::Mutex::new(0_u64);
        let lock = || *black_box(&mutex).lock().expect("nobody panics") += 1;
        let pair = || {
            lock();
            lock();
        };
        cells.push(Cell::new("two locks", WORKLOAD, samples(repetitions, pair)));
    }
    cells
}

/// The claim that is made in absolute time, on the minimum: a noisy machine only ever adds.
pub fn verdicts(cells: &[Cell]) -> Vec<Verdict> {
    let ours = cells.iter().filter(|cell| cell.workload == WORKLOAD && cell.subject.starts_with("staging"));
    let verdict = |cell: &Cell| Verdict {
        claim: "staging hot pair, minimum, <= 60 ns uncontended",
        measured: cell.minimum_ns,
        limit: LIMIT_NS,
        holds: cell.minimum_ns <= LIMIT_NS,
    };
    ours.map(verdict).collect()
}

fn samples(repetitions: usize, pair: impl Fn()) -> Vec<f64> {
    (0..=repetitions)
        .map(|_| {
            let before = thread_cpu_ns();
            (0..PAIRS).for_each(|_| pair());
            (thread_cpu_ns() - before) as f64 / PAIRS as f64
        })
        // The first one warms the caches.
        .skip(1)
        .collect()
}

//! The kernels of the int64 crate against `memcpy` of the same 64 MiB, in the same run.
//!
//! A kernel counts as fast enough when it gets at least 70 % of the bandwidth of `memcpy`, so when it
//! takes no more than 1/0.7 of its time. Only the compiler's vector code gets there.

use std::hint::black_box;

use neuronx_mem_int64::kernels;

use crate::claims::Verdict;
use crate::measure::{Cell, thread_cpu_ns};
use crate::table::find;

/// The column: one step is 1 KiB of the 64 MiB.
const WORKLOAD: &str = "int64, 64 MiB";

const N_VALUES: usize = 8 << 20;

const MEMCPY: &str = "memcpy";

/// The kernels, and what is claimed of those that must keep up.
const KERNELS: [(&str, Option<&str>); 5] = [
    (MEMCPY, None),
    ("int64 scan", Some("int64 scan >= 70 % of memcpy's bandwidth (time ratio)")),
    ("int64 pack", Some("int64 pack >= 70 % of memcpy's bandwidth (time ratio)")),
    ("int64 sign-extend", None),
    ("int64 truncate", None),
];

/// How much longer than `memcpy` a kernel may take.
const LIMIT: f64 = 1.0 / 0.7;

/// The memory of all kernels: allocated and touched once.
struct Buffers {
    values: Vec<i64>,
    copy: Vec<i64>,
    words: Vec<i32>,
}

impl Buffers {
    fn new() -> Self {
        // Values of both signs that fit, as indices and counts do.
        let values = (0..N_VALUES as i64).map(|number| (number % 100_003) - 50_000).collect();
        Self { values, copy: vec![1; N_VALUES], words: vec![1; N_VALUES] }
    }

    fn run(&mut self, kernel: &str) {
        match kernel {
            MEMCPY => self.copy.copy_from_slice(black_box(&self.values)),
            "int64 scan" => assert!(black_box(kernels::scan(black_box(&self.values))).is_clean()),
            "int64 pack" => kernels::copy_low_words(black_box(&self.values), &mut self.words).unwrap_or(()),
            "int64 sign-extend" => kernels::sign_extend(black_box(&self.words), &mut self.copy).unwrap_or(()),
            _ => kernels::truncate(black_box(&mut self.copy)),
        }
        black_box((&mut self.copy, &mut self.words));
    }
}

/// Measures every kernel in turn, so that a slow moment of the machine hits them alike.
pub fn measure(is_wanted: impl Fn(&str, &str) -> bool, repetitions: usize) -> Vec<Cell> {
    let wanted: Vec<&str> =
        KERNELS.iter().map(|(name, _)| *name).filter(|name| is_wanted(WORKLOAD, name)).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut buffers = Buffers::new();
    let mut samples = vec![Vec::new(); wanted.len()];
    wanted.iter().for_each(|name| buffers.run(name));
    for _ in 0..repetitions {
        for (name, samples) in wanted.iter().zip(&mut samples) {
            let before = thread_cpu_ns();
            buffers.run(name);
            samples.push((thread_cpu_ns() - before) as f64 / (N_VALUES * 8 / 1024) as f64);
        }
    }
    wanted.iter().zip(samples).map(|(name, samples)| Cell::new(name, WORKLOAD, samples)).collect()
}

/// Judges the kernels for which both sides were measured.
pub fn verdicts(cells: &[Cell]) -> Vec<Verdict> {
    let judge = |(kernel, claim): &(&str, Option<&'static str>)| {
        let claim = (*claim)?;
        let measured = find(cells, kernel, WORKLOAD)?.median_ns / find(cells, MEMCPY, WORKLOAD)?.median_ns;
        Some(Verdict { claim, measured, limit: LIMIT, holds: measured <= LIMIT })
    };
    KERNELS.iter().filter_map(judge).collect()
}

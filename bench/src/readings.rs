//! What reading the statistics costs beside a plain atomic load. Readings take no lock, so nothing
//! else runs here.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use neuronx_mem::Device;

use crate::measure::{Cell, thread_cpu_ns};
use crate::subject::ours;

pub const WORKLOAD: &str = "one reading";
pub const NAMES: [&str; 3] = ["atomic load", "memory_allocated()", "all statistics"];

const READINGS: u64 = 1_000_000;

pub fn measure(subject: &str, repetitions: usize) -> Cell {
    let device = ours::device();
    let atomic = AtomicU64::new(1);
    let samples = (0..repetitions).map(|_| once(subject, &device, &atomic)).collect();
    Cell::new(subject, WORKLOAD, samples)
}

fn once(subject: &str, device: &Device, atomic: &AtomicU64) -> f64 {
    let before = thread_cpu_ns();
    for _ in 0..READINGS {
        match subject {
            "atomic load" => drop(black_box(black_box(atomic).load(Ordering::Relaxed))),
            "memory_allocated()" => drop(black_box(black_box(device).memory_allocated())),
            _ => drop(black_box(black_box(device).memory_stats())),
        }
    }
    (thread_cpu_ns() - before) as f64 / READINGS as f64
}

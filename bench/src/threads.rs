//! Two threads on one device: CPU time per step of both, random sizes, a stream each.

use std::sync::{Arc, Barrier};

use neuronx_mem::Device;

use crate::measure::{Cell, thread_cpu_ns};
use crate::subject::ours;
use crate::workload::Random;

const LIVE: u64 = 500;
const PAIRS: u64 = 100_000;

pub fn measure(subject: &str, repetitions: usize) -> Cell {
    let n_threads = if subject.contains('2') { 2 } else { 1 };
    let device = ours::device();
    let samples = (0..repetitions).map(|_| once(&device, n_threads)).collect();
    Cell::new(subject, "1k random", samples)
}

fn once(device: &Device, n_threads: usize) -> f64 {
    let barrier = Arc::new(Barrier::new(n_threads));
    let times = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads)
            .map(|number| {
                let barrier = Arc::clone(&barrier);
                scope.spawn(move || churn(device, number as u64, &barrier))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or(0)).sum::<u64>()
    });
    times as f64 / (PAIRS * 2 * n_threads as u64) as f64
}

fn churn(device: &Device, number: u64, barrier: &Barrier) -> u64 {
    let stream = device.default_stream().id();
    let mut random = Random(0x9E37_79B9 + number * 77);
    let mut size = move || {
        let floor = 256u64 << random.below(18);
        (floor + random.below(floor), random.below(LIVE) as usize)
    };
    let mut held: Vec<_> =
        (0..LIVE).map(|_| device.allocate_handle(size().0, stream).expect("memory is ample")).collect();
    barrier.wait();
    let before = thread_cpu_ns();
    for _ in 0..PAIRS {
        let (bytes, slot) = size();
        if let Some(handle) = held[slot] {
            device.free_handle(handle).expect("freed once");
        }
        held[slot] = device.allocate_handle(bytes, stream).expect("memory is ample");
    }
    let spent = thread_cpu_ns() - before;
    for handle in held.into_iter().flatten() {
        device.free_handle(handle).expect("freed once");
    }
    spent
}

//! Eight threads on one staging allocator, 10 million pairs of allocate and free: nothing leaks, no block
//! has two owners, and no more is taken than what was live needs.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

use neuronx_mem_host::{
    CountingSource, MappedOptions, MappedPages, NumberedPages, PageSource, StagingAllocator, StagingBuffer,
    StagingOptions,
};

const N_THREADS: u64 = 8;

/// Numbers that are the same on every run, one sequence a thread.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

/// Keeps up to 16 buffers and exchanges one of them in each step, mostly small ones.
fn work<S: PageSource>(staging: &StagingAllocator<S>, seed: u64, n_pairs: u64) {
    let mut random = Random(seed);
    let mut held: [Option<StagingBuffer<'_, S>>; 16] = [const { None }; 16];
    for _ in 0..n_pairs {
        let bytes = 1 + random.next() % (256 << (random.next() % 12));
        let place = &mut held[random.next() as usize % 16];
        *place = None;
        *place = Some(staging.allocate(bytes).unwrap());
    }
}

#[test]
fn ten_million_pairs_leave_nothing_behind() {
    let source = CountingSource::new(NumberedPages::new(1 << 40));
    let staging = StagingAllocator::new(source.clone(), StagingOptions::default()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..N_THREADS {
            let staging = &staging;
            scope.spawn(move || work(staging, thread, 10_000_000 / N_THREADS));
        }
    });
    let statistics = staging.statistics();
    assert_eq!((statistics.allocations, statistics.frees), (10_000_000, 10_000_000));
    assert_eq!((statistics.live_blocks, statistics.live_bytes, statistics.failures), (0, 0, 0));
    assert_eq!(statistics.reserved_bytes, source.counts().live_bytes);
    // At most 128 buffers of at most 512 KiB are live at once; the rest is caches, which are bounded.
    assert!(statistics.reserved_bytes < 384 << 20, "{statistics:?}");
    staging.trim();
    let counts = source.counts();
    assert_eq!((counts.live_runs, counts.live_bytes), (0, 0));
}

#[test]
fn no_two_threads_write_to_one_byte() {
    let source = CountingSource::new(MappedPages::new(MappedOptions::default()));
    let staging = StagingAllocator::new(source.clone(), StagingOptions::default()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..N_THREADS {
            let staging = &staging;
            scope.spawn(move || {
                let mut random = Random(thread);
                let mut held: Vec<StagingBuffer<'_, _>> = Vec::new();
                for step in 0..5_000_u64 {
                    let mut buffer = staging.allocate(1 + random.next() % 20_000).unwrap();
                    let mark = (step % 31) as u8 * 8 + thread as u8;
                    buffer.fill(mark);
                    held.push(buffer);
                    if held.len() > 20 {
                        let old = held.swap_remove(random.next() as usize % 20);
                        assert!(old.iter().all(|byte| *byte == old[0] && u64::from(*byte % 8) == thread));
                    }
                }
            });
        }
    });
    drop(staging);
    assert_eq!(source.counts().live_runs, 0);
}

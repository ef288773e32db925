//! The allocator with its worker: allocations, frees and work in stream order on a real thread
//! (allocator semantics §5). Order comes from channels and waits, never from time.

#![cfg(feature = "worker")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::sync::Arc;
use std::sync::mpsc::{self, Sender};

use neuronx_mem::sim::SimulatedRuntime;
use neuronx_mem::streams::Ticket;
use neuronx_mem::streams::worker::{Priority, WorkerError};
use neuronx_mem::{AllocError, Allocator, Device, DeviceId, Stream};

const MIB: u64 = 1 << 20;

fn setup(memory_bytes: u64) -> (Arc<SimulatedRuntime>, Device) {
    let runtime = Arc::new(SimulatedRuntime::builder().memory_bytes(memory_bytes).build());
    let allocator = Allocator::builder().shared_runtime(runtime.clone()).worker().build().unwrap();
    (runtime, allocator.device(DeviceId(0)).unwrap().clone())
}

/// Holds a stream up until the sender is used or dropped.
fn stall(stream: &Stream) -> Sender<()> {
    let (sender, receiver) = mpsc::channel();
    // A sender that is gone opens the gate as well.
    stream.run(move || receiver.recv().unwrap_or(())).unwrap();
    sender
}

#[test]
fn a_free_runs_behind_the_work_before_it() {
    let (_, device) = setup(1 << 30);
    let stream = device.default_stream();
    let block = device.allocate(4 * MIB, &stream).unwrap();
    let gate = stall(&stream);
    drop(block);
    assert_eq!((device.memory_allocated(), device.memory_stats().is_settled()), (4 * MIB, false));
    drop(gate);
    stream.synchronize();
    assert_eq!((device.memory_allocated(), device.memory_stats().is_settled()), (0, true));
}

#[test]
fn a_queued_allocation_takes_what_was_freed_before_it() {
    let (_, device) = setup(1 << 30);
    let stream = device.default_stream();
    let block = device.allocate(40 * MIB, &stream).unwrap();
    let address = block.address();
    let gate = stall(&stream);
    drop(block);
    let pending = stream.allocate_async(40 * MIB).unwrap();
    drop(gate);
    let again = pending.wait().unwrap().unwrap();
    assert_eq!((again.address(), device.max_memory_reserved()), (address, 40 * MIB));
}

#[test]
fn a_stalled_stream_delays_only_its_own_blocks() {
    let (_, device) = setup(1 << 30);
    let (stalled, other) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    let held = device.allocate(MIB, &stalled).unwrap();
    let signal = device.worker().unwrap().create_signal();
    signal.wait(&device.worker().unwrap().stream(stalled.id()).unwrap()).unwrap();
    drop(held);
    for _ in 0..10_000 {
        let block = device.allocate(MIB, &other).unwrap();
        other.submit().unwrap();
        drop(block);
        other.synchronize();
    }
    assert_eq!((device.memory_allocated(), stalled.pending()), (MIB, (1, MIB)));
    // They were reused: one segment served them all, and the block that waits.
    assert_eq!(device.memory_stats().counters().device_allocations, 1);
    signal.set().unwrap();
    device.synchronize();
    assert_eq!(device.memory_allocated(), 0);
}

#[test]
fn oom_step_1_waits_for_real_work() {
    let (_, device) = setup(64 * MIB);
    let stream = device.default_stream();
    let block = device.allocate(40 * MIB, &stream).unwrap();
    let gate = stall(&stream);
    drop(block);
    let again = std::thread::scope(|scope| {
        let asking = scope.spawn(|| device.allocate(40 * MIB, &stream).unwrap());
        drop(gate);
        asking.join().unwrap()
    });
    assert_eq!((again.block_bytes(), device.memory_stats().counters().ooms), (40 * MIB, 0));
}

#[test]
fn oom_inside_work_does_not_wait_for_itself() {
    let (_, device) = setup(64 * MIB);
    let stream = device.default_stream();
    let _held = device.allocate(40 * MIB, &stream).unwrap();
    let result = stream.allocate_async(40 * MIB).unwrap().wait().unwrap();
    assert!(result.unwrap_err().is_out_of_memory());
    assert!(stream.is_idle() || stream.try_synchronize().is_ok());
}

#[test]
fn work_that_panics_poisons_its_stream_and_frees_still_run() {
    let (_, device) = setup(1 << 30);
    let (bad, good) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    let block = device.allocate(MIB, &bad).unwrap();
    let gate = stall(&bad);
    bad.run(|| panic!("kernel failed")).unwrap();
    drop(block);
    drop(gate);
    let error = bad.try_synchronize().unwrap_err();
    assert!(matches!(error, AllocError::Worker(WorkerError::StreamPoisoned { .. })), "{error}");
    assert_eq!(device.memory_allocated(), 0);
    assert!(good.run(|| {}).is_ok() && good.try_synchronize().is_ok());
}

#[test]
fn events_order_streams() {
    let (_, device) = setup(1 << 30);
    let high = device.new_stream_with_priority(Priority::new(1).unwrap()).unwrap();
    let low = device.new_stream().unwrap();
    let gate = stall(&low);
    let (sender, receiver) = mpsc::channel();
    let log = sender.clone();
    low.run(move || log.send("first").unwrap()).unwrap();
    let event = device.new_event().unwrap();
    low.record_event(&event).unwrap();
    high.wait_event(&event).unwrap();
    high.run(move || sender.send("second").unwrap()).unwrap();
    drop(gate);
    device.synchronize();
    assert_eq!(receiver.iter().collect::<Vec<_>>(), ["first", "second"]);
}

#[test]
fn completion_is_the_workers_business() {
    let (_, device) = setup(1 << 30);
    let stream = device.default_stream();
    assert_eq!(stream.complete(Ticket(1)), Err(AllocError::DrivenByWorker { stream: stream.id() }));
    let plain = Allocator::builder().runtime(SimulatedRuntime::default()).build().unwrap();
    let stream = plain.device(DeviceId(0)).unwrap().default_stream();
    assert_eq!(stream.run(|| {}), Err(AllocError::NoWorker));
}

#[test]
fn everything_goes_back_when_the_last_owner_goes() {
    let (runtime, device) = setup(1 << 30);
    let stream = device.default_stream();
    let block = device.allocate(MIB, &stream).unwrap();
    let gate = stall(&stream);
    drop(block);
    drop(gate);
    drop((stream, device));
    assert_eq!(runtime.counters(DeviceId(0)).held_bytes, 0);
}

/// xorshift: the program of one thread, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap()
    }
}

#[test]
fn four_threads_on_four_streams_end_like_a_sequential_program() {
    let (_, device) = setup(1 << 33);
    let streams: Vec<Stream> = (0..4).map(|_| device.new_stream().unwrap()).collect();
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let (device, streams) = (&device, &streams);
            scope.spawn(move || {
                let mut random = Random(thread * 7919 + 1);
                let mut held = Vec::new();
                for _ in 0..500 {
                    let stream = &streams[random.index(4)];
                    let block = device.allocate(1 + random.below(3 * MIB), stream).unwrap();
                    if random.below(3) == 0 {
                        block.record_stream(&streams[random.index(4)]).unwrap();
                    }
                    stream.run(|| {}).unwrap();
                    held.push(block);
                    if held.len() > 20 {
                        drop(held.swap_remove(random.index(20)));
                    }
                }
            });
        }
    });
    device.synchronize();
    device.inspect(|pool| pool.validate()).unwrap();
    let stats = device.memory_stats();
    let counters = stats.counters();
    assert_eq!((counters.allocation_requests, counters.tensor_frees), (2000, 2000));
    assert_eq!((device.memory_allocated(), stats.is_settled()), (0, true));
}

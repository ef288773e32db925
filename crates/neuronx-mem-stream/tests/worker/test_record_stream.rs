//! Deallocations behind real work: a free queue that follows the worker.

use neuronx_mem_stream::worker::Priority;

use crate::support::{Gate, Owner, worker_of};

#[test]
fn test_record_stream_basic() {
    let owner = Owner::new();
    let worker = worker_of(&owner);
    let stream = worker.default_stream();
    owner.free(1, &stream, &[]);
    assert_eq!(owner.reusable(), [1]); // idle: at once
    let gate = Gate::close(&stream);
    owner.free(2, &stream, &[]);
    assert_eq!((owner.reusable(), owner.n_pending()), (vec![1], 1));
    gate.open();
    worker.synchronize_all().unwrap();
    assert_eq!((owner.reusable(), owner.n_pending()), (vec![1, 2], 0));
}

#[test]
fn test_record_stream_multi_stream() {
    let owner = Owner::new();
    let worker = worker_of(&owner);
    let [a, b, c] = [0, 0, 0].map(|_| worker.create_stream(Priority::DEFAULT).unwrap());
    let signals = [&a, &b, &c].map(|stream| {
        let signal = worker.create_signal();
        signal.wait(stream).unwrap();
        signal
    });
    owner.free(1, &a, &[&b, &c, &b]);
    for (signal, stream) in signals.iter().zip([&a, &b, &c]) {
        assert_eq!(owner.reusable(), []);
        signal.set().unwrap();
        stream.synchronize().unwrap();
    }
    assert_eq!(owner.reusable(), [1]);
}

#[test]
fn a_free_behind_a_wait_waits_with_it() {
    let owner = Owner::new();
    let worker = worker_of(&owner);
    let [a, b] = [0, 0].map(|_| worker.create_stream(Priority::DEFAULT).unwrap());
    let signal = worker.create_signal();
    signal.wait(&a).unwrap();
    b.wait_stream(&a).unwrap();
    owner.free(1, &b, &[]);
    assert_eq!(owner.n_pending(), 1);
    signal.set().unwrap();
    b.synchronize().unwrap();
    assert_eq!(owner.reusable(), [1]);
    assert_eq!(owner.completed(), [(a.id().0, 1), (b.id().0, 1)]);
}

#[test]
fn deallocations_have_run_when_anybody_who_waits_is_woken() {
    let owner = Owner::new();
    let worker = worker_of(&owner);
    let stream = worker.default_stream();
    for block in 0..300 {
        let gate = Gate::queue(&stream);
        let result = stream.submit_returning(|| ()).unwrap();
        let event = worker.create_event();
        event.record(&stream).unwrap();
        owner.free(block, &stream, &[]);
        gate.open();
        match block % 3 {
            0 => stream.synchronize().unwrap(),
            1 => event.synchronize().unwrap(),
            _ => result.wait().unwrap(),
        }
        assert_eq!(owner.reusable().last(), Some(&block));
    }
}

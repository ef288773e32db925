//! Events between streams.

use neuronx_mem_stream::worker::Priority;

use crate::support::{Gate, Log, Owner, worker, worker_of};

#[test]
fn test_event_wait_orders_two_streams() {
    let (worker, log) = (worker(), Log::new());
    let [urgent, slow] = [3, 0].map(|level| worker.create_stream(Priority::new(level).unwrap()).unwrap());
    let event = worker.create_event();
    let gate = Gate::close(&slow);
    slow.submit(log.work("slow")).unwrap();
    event.record(&slow).unwrap();
    slow.submit(log.work("slow, after the event")).unwrap();
    event.wait(&urgent).unwrap();
    urgent.submit(log.work("urgent")).unwrap();
    gate.open();
    worker.synchronize_all().unwrap();
    assert_eq!(log.entries(), ["slow", "urgent", "slow, after the event"]);
}

#[test]
fn test_event_wait_keeps_the_mark_it_saw() {
    let (worker, log) = (worker(), Log::new());
    let [a, b] = [0, 3].map(|level| worker.create_stream(Priority::new(level).unwrap()).unwrap());
    let event = worker.create_event();
    let gate = Gate::close(&a);
    a.submit(log.work("first")).unwrap();
    event.record(&a).unwrap();
    event.wait(&b).unwrap();
    b.submit(log.work("behind the first")).unwrap();
    a.submit(log.work("second")).unwrap();
    event.record(&a).unwrap();
    gate.open();
    worker.synchronize_all().unwrap();
    assert_eq!(log.entries(), ["first", "behind the first", "second"]);
}

#[test]
fn test_event_wait_on_its_own_stream_or_a_completed_event_queues_nothing() {
    let owner = Owner::new();
    let worker = worker_of(&owner);
    let [a, b] = [0, 0].map(|_| worker.create_stream(Priority::DEFAULT).unwrap());
    let (done, ours) = (worker.create_event(), worker.create_event());
    done.record(&b).unwrap();
    let gate = Gate::close(&a);
    ours.record(&a).unwrap();
    done.wait(&a).unwrap();
    ours.wait(&a).unwrap();
    gate.open();
    worker.synchronize_all().unwrap();
    assert_eq!(owner.completed(), [(a.id().0, 1)]);
}

#[test]
fn test_event_many_streams_wait_for_one() {
    let (worker, log) = (worker(), Log::new());
    let streams = [0, 1, 3].map(|level| worker.create_stream(Priority::new(level).unwrap()).unwrap());
    let event = worker.create_event();
    let gate = Gate::close(&worker.default_stream());
    worker.default_stream().submit(log.work(0)).unwrap();
    event.record(&worker.default_stream()).unwrap();
    for stream in &streams {
        event.wait(stream).unwrap();
        stream.submit(log.work(stream.id().0)).unwrap();
    }
    gate.open();
    worker.synchronize_all().unwrap();
    assert_eq!(log.entries(), [0, 3, 2, 1]);
}

#[test]
fn test_event_synchronize_waits_for_the_mark_only() {
    let (worker, log) = (worker(), Log::new());
    let (stream, event) = (worker.default_stream(), worker.create_event());
    stream.submit(log.work(1)).unwrap();
    event.record(&stream).unwrap();
    let gate = Gate::queue(&stream);
    event.synchronize().unwrap();
    assert_eq!((log.entries(), stream.query()), (vec![1], Ok(false)));
    gate.open();
}

#[test]
fn test_event_dropped_before_it_completes_still_holds_the_waiting_stream() {
    let (worker, log) = (worker(), Log::new());
    let [a, b] = [0, 3].map(|level| worker.create_stream(Priority::new(level).unwrap()).unwrap());
    let event = worker.create_event();
    let gate = Gate::close(&a);
    a.submit(log.work("a")).unwrap();
    event.record(&a).unwrap();
    event.wait(&b).unwrap();
    drop(event);
    b.submit(log.work("b")).unwrap();
    gate.open();
    worker.synchronize_all().unwrap();
    assert_eq!(log.entries(), ["a", "b"]);
}

#[test]
fn a_cycle_cannot_be_built_because_a_wait_before_the_record_does_nothing() {
    let (worker, log) = (worker(), Log::new());
    let [a, b] = [0, 0].map(|_| worker.create_stream(Priority::DEFAULT).unwrap());
    let (of_a, of_b) = (worker.create_event(), worker.create_event());
    let gate = Gate::close(&worker.default_stream());
    of_b.wait(&a).unwrap(); // not recorded yet
    a.submit(log.work("a")).unwrap();
    of_a.record(&a).unwrap();
    of_a.wait(&b).unwrap();
    b.submit(log.work("b")).unwrap();
    of_b.record(&b).unwrap();
    gate.open();
    worker.synchronize_all().unwrap();
    assert_eq!(log.entries(), ["a", "b"]);
}

#[test]
fn a_set_or_dropped_signal_lets_the_stream_go_on() {
    let worker = worker();
    let stream = worker.create_stream(Priority::DEFAULT).unwrap();
    for is_dropped in [false, true] {
        let signal = worker.create_signal();
        signal.wait(&stream).unwrap();
        let result = stream.submit_returning(|| 5).unwrap();
        assert_eq!(stream.query(), Ok(false));
        if is_dropped {
            drop(signal);
        } else {
            signal.set().unwrap();
            signal.set().unwrap();
            signal.wait(&stream).unwrap(); // set: queues nothing
        }
        assert_eq!(result.wait(), Ok(5));
    }
    stream.synchronize().unwrap();
}

//! Which streams a device has, and what they are called.

use neuronx_mem_stream::worker::{Priority, STREAM_POOL_SIZE, Worker};
use neuronx_mem_stream::{StreamError, StreamId};

use crate::support::{DEFAULT, Log, check_error, worker};

fn numbers(worker: &Worker, levels: &[u8]) -> Vec<(u32, u8)> {
    let create = |level: &u8| worker.create_stream(Priority::new(*level).unwrap()).unwrap();
    levels.iter().map(create).map(|stream| (stream.id().0, stream.priority().level())).collect()
}

#[test]
fn test_stream_default() {
    let stream = Worker::builder(5).start().unwrap().default_stream();
    assert_eq!((stream.id(), stream.device(), stream.priority()), (DEFAULT, 5, Priority::DEFAULT));
}

#[test]
fn test_stream_pool_of_three() {
    let worker = worker();
    assert_eq!((STREAM_POOL_SIZE, worker.n_streams()), (3, Ok(1)));
    assert_eq!(numbers(&worker, &[0, 1, 0]), [(1, 0), (2, 1), (3, 0)]);
    assert_eq!(worker.n_streams(), Ok(4));
    // Beyond the pool: by priority, in turn; the handle tells the priority that it got.
    assert_eq!(numbers(&worker, &[0, 0, 0, 1, 1, 3]), [(1, 0), (3, 0), (1, 0), (2, 1), (2, 1), (1, 0)]);
    assert_eq!(worker.n_streams(), Ok(4));
}

#[test]
fn test_stream_pool_size_is_a_setting() {
    let worker = Worker::builder(0).stream_pool_size(1).start().unwrap();
    assert_eq!(numbers(&worker, &[0, 0]), [(1, 0), (1, 0)]);
    let worker = Worker::builder(0).stream_pool_size(0).start().unwrap();
    assert_eq!(numbers(&worker, &[2]), [(0, 0)]);
}

#[test]
fn test_stream_disabled_is_the_default_stream() {
    let worker = Worker::builder(0).enable_streams(false).start().unwrap();
    assert_eq!(numbers(&worker, &[0, 3]), [(0, 0), (0, 0)]);
    assert_eq!(worker.stream(StreamId(7)).unwrap().id(), DEFAULT);
    let log = Log::new();
    for stream in [7, 0, 2] {
        worker.submit(StreamId(stream), log.work(stream)).unwrap();
    }
    worker.synchronize(StreamId(9)).unwrap();
    assert_eq!(log.entries(), [7, 0, 2]);
    assert_eq!(worker.n_streams(), Ok(1));
}

#[test]
fn test_stream_unknown_is_refused() {
    let worker = worker();
    let unknown = Err(StreamError::UnknownStream { stream: StreamId(1), n_streams: 1 }.into());
    assert_eq!(worker.query(StreamId(1)), unknown);
    assert_eq!(worker.synchronize(StreamId(1)), unknown.clone().map(|_| ()));
    assert_eq!(worker.reset(StreamId(1)), unknown.clone().map(|_| ()));
    assert_eq!(worker.submit(StreamId(1), || ()).map(|_| true), unknown);
    assert_eq!(worker.wait_stream(DEFAULT, StreamId(1)), unknown.map(|_| ()));
    check_error(worker.stream(StreamId(4)), "stream 4 is unknown: the device has 1");
}

#[test]
fn test_stream_priority_range() {
    check_error(Priority::new(4), "priority 4 is above the highest, 3");
    let levels: Vec<u8> =
        [1, 0, -1, -2, -3, -4, i32::MIN].map(|number| Priority::from_torch(number).level()).to_vec();
    assert_eq!(levels, [0, 0, 1, 2, 3, 3, 3]);
}

#[test]
fn test_stream_of_another_device_is_refused() {
    let (first, second) = (Worker::builder(0).start().unwrap(), Worker::builder(1).start().unwrap());
    let (ours, theirs) = (first.default_stream(), second.default_stream());
    let text = |what, owner, user| {
        format!("the {what} belongs to device {owner} and was used with another worker, of device {user}")
    };
    check_error(theirs.wait_stream(&ours), &text("stream", 0, 1));
    check_error(first.create_event().record(&theirs), &text("event", 0, 1));
    check_error(first.create_event().wait(&theirs), &text("event", 0, 1));
    check_error(first.create_signal().wait(&theirs), &text("signal", 0, 1));
    check_error(first.create_timed_event().elapsed_ns(&second.create_timed_event()), &text("event", 1, 0));
}

#[test]
fn the_thread_is_named_after_the_device() {
    let worker = Worker::builder(12).start().unwrap();
    let name = worker.submit_returning(DEFAULT, || std::thread::current().name().map(str::to_owned)).unwrap();
    assert_eq!(name.wait().unwrap().as_deref(), Some("neuron-worker-12"));
}

//! Stream order case by case, and against a model that keeps every deallocation in one list.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem_stream::{FreeQueue, RecordId, StreamError, StreamId, Ticket};
use proptest::prelude::*;

const A: StreamId = StreamId(0);
const B: StreamId = StreamId(1);
const C: StreamId = StreamId(2);

fn three_streams() -> FreeQueue<u32> {
    let mut queue = FreeQueue::new();
    assert_eq!((queue.add_stream(), queue.add_stream()), (Ok(B), Ok(C)));
    queue
}

fn complete_stream(queue: &mut FreeQueue<u32>, stream: StreamId) -> Vec<u32> {
    let mut ready = Vec::new();
    queue.complete_stream(stream, |block| ready.push(block)).unwrap();
    ready
}

#[test]
fn a_free_on_an_idle_stream_runs_at_once() {
    let mut queue = three_streams();
    assert_eq!(queue.enqueue_free(7, 64, B, None), Ok(Some(7)));
    assert_eq!(queue.n_pending(), 0);
}

#[test]
fn a_free_waits_for_the_work_before_it_and_not_after() {
    let mut queue = three_streams();
    let first = queue.submit(A).unwrap();
    assert_eq!(queue.enqueue_free(1, 64, A, None), Ok(None));
    let second = queue.submit(A).unwrap();
    assert_eq!(queue.enqueue_free(2, 128, A, None), Ok(None));
    assert_eq!(queue.pending_on(A), Ok((2, 192)));
    let mut ready = Vec::new();
    queue.complete(A, first, |block| ready.push(block)).unwrap();
    assert_eq!((ready.as_slice(), queue.pending_on(A)), ([1].as_slice(), Ok((1, 128))));
    queue.complete(A, first, |block| ready.push(block)).unwrap(); // known already
    queue.complete(A, second, |block| ready.push(block)).unwrap();
    assert_eq!(ready, [1, 2]);
}

#[test]
fn a_recorded_block_waits_for_the_last_of_its_streams() {
    let mut queue = three_streams();
    for stream in [A, B, C] {
        queue.submit(stream).unwrap();
    }
    let record = queue.record_stream(None, A, B).unwrap();
    let record = queue.record_stream(record, A, C).unwrap();
    assert_eq!(queue.enqueue_free(9, 64, A, record), Ok(None));
    assert_eq!(complete_stream(&mut queue, B), []);
    assert_eq!(complete_stream(&mut queue, A), []);
    assert_eq!(queue.n_pending(), 1);
    assert_eq!(complete_stream(&mut queue, C), [9]);
    assert_eq!(queue.n_pending(), 0);
}

#[test]
fn recording_the_owner_or_the_same_stream_twice_does_nothing() {
    let mut queue = three_streams();
    assert_eq!(queue.record_stream(None, A, A), Ok(None));
    queue.submit(B).unwrap();
    let record = queue.record_stream(None, A, B).unwrap();
    assert_eq!(queue.record_stream(record, A, B), Ok(record));
    assert_eq!(queue.record_stream(record, A, A), Ok(record));
    assert_eq!(queue.enqueue_free(1, 64, A, record), Ok(None));
    assert_eq!(queue.pending_on(B), Ok((1, 64)));
    assert_eq!(complete_stream(&mut queue, B), [1]);
}

#[test]
fn a_recorded_idle_stream_delays_nothing() {
    let mut queue = three_streams();
    let record = queue.record_stream(None, A, B).unwrap();
    assert_eq!(queue.enqueue_free(1, 64, A, record), Ok(Some(1)));
}

#[test]
fn a_stalled_stream_delays_only_its_own_blocks() {
    let mut queue = three_streams();
    queue.submit(A).unwrap();
    queue.enqueue_free(0, 64, A, None).unwrap();
    for block in 1..10_001 {
        let work = queue.submit(B).unwrap();
        assert_eq!(queue.enqueue_free(block, 64, B, None), Ok(None));
        let mut ready = Vec::new();
        queue.complete(B, work, |block| ready.push(block)).unwrap();
        assert_eq!(ready, [block]);
    }
    assert_eq!((queue.n_pending(), queue.pending_on(A)), (1, Ok((1, 64))));
}

#[test]
fn completing_all_streams_empties_the_queue_in_order_of_streams() {
    let mut queue = three_streams();
    for (block, stream) in [(1, C), (2, A), (3, B), (4, A)] {
        queue.submit(stream).unwrap();
        queue.enqueue_free(block, 64, stream, None).unwrap();
    }
    let mut ready = Vec::new();
    queue.complete_all(|block| ready.push(block));
    assert_eq!(ready, [2, 4, 3, 1]);
}

#[test]
fn a_deallocation_that_waits_for_one_stream_can_be_taken_back_there() {
    let mut queue = three_streams();
    for stream in [A, B] {
        queue.submit(stream).unwrap();
    }
    let record = queue.record_stream(None, A, B).unwrap();
    queue.enqueue_free(1, 64, A, record).unwrap();
    queue.enqueue_free(2, 64, A, None).unwrap();
    queue.enqueue_free(3, 128, A, None).unwrap();
    assert_eq!(queue.take_back(A, |block| block == 9), Ok(None));
    assert_eq!(queue.take_back(B, |_| true), Ok(None)); // block 1 waits for A as well
    assert_eq!(queue.take_back(A, |_| true), Ok(Some(2)));
    assert_eq!((queue.n_pending(), queue.pending_on(A)), (2, Ok((2, 192))));
    assert_eq!(complete_stream(&mut queue, A), [3]);
    assert_eq!(queue.take_back(B, |_| true), Ok(Some(1))); // only B is left
    assert_eq!((queue.n_pending(), complete_stream(&mut queue, B)), (0, vec![]));
    let unknown = StreamError::UnknownStream { stream: StreamId(3), n_streams: 3 };
    assert_eq!(queue.take_back(StreamId(3), |_| true), Err(unknown));
}

#[test]
fn wrong_calls_are_typed_and_change_nothing() {
    let mut queue = three_streams();
    let unknown = StreamError::UnknownStream { stream: StreamId(3), n_streams: 3 };
    assert_eq!(queue.submit(StreamId(3)), Err(unknown));
    assert_eq!(queue.enqueue_free(1, 64, StreamId(3), None), Err(unknown));
    assert_eq!(queue.record_stream(None, A, StreamId(3)), Err(unknown));
    assert_eq!(queue.pending_on(StreamId(3)), Err(unknown));
    let early = StreamError::CompletedBeforeSubmitted { stream: A, completed: 1, submitted: 0 };
    assert_eq!(queue.complete(A, Ticket(1), |_| {}), Err(early));
    let gone = queue.record_stream(None, A, B).unwrap();
    queue.enqueue_free(1, 64, A, gone).unwrap();
    queue.submit(A).unwrap();
    let number = gone.map_or(0, RecordId::get);
    assert_eq!(queue.enqueue_free(2, 64, A, gone), Err(StreamError::UnknownRecord { number }));
    assert_eq!(queue.n_pending(), 0);
    assert_eq!(early.to_string(), "work 1 of stream 0 is complete, but only 0 was submitted");
}

#[derive(Clone, Debug)]
enum Step {
    Submit(u32),
    Free { owner: u32, recorded: Vec<u32> },
    Complete { stream: u32, by: u64 },
    CompleteAll,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0u32..4).prop_map(Step::Submit),
        4 => (0u32..4, prop::collection::vec(0u32..4, 0..4)).prop_map(|(owner, recorded)| Step::Free { owner, recorded }),
        3 => (0u32..4, 0u64..3).prop_map(|(stream, by)| Step::Complete { stream, by }),
        1 => Just(Step::CompleteAll),
    ]
}

/// Each deallocation with all the (stream, ticket) pairs it waits for.
#[derive(Default)]
struct Model {
    submitted: [u64; 4],
    completed: [u64; 4],
    waiting: Vec<(u32, Vec<(u32, u64)>)>,
}

impl Model {
    fn ready(&mut self) -> Vec<u32> {
        let completed = self.completed;
        let is_ready = |waits: &[(u32, u64)]| waits.iter().all(|(s, t)| completed[*s as usize] >= *t);
        let ready =
            self.waiting.iter().filter(|(_, waits)| is_ready(waits)).map(|(block, _)| *block).collect();
        self.waiting.retain(|(_, waits)| !is_ready(waits));
        ready
    }
}

proptest! {
    #[test]
    fn queue_and_model_agree(steps in prop::collection::vec(step(), 1..120)) {
        let mut queue: FreeQueue<u32> = FreeQueue::new();
        while queue.n_streams() < 4 {
            queue.add_stream().unwrap();
        }
        let mut model = Model::default();
        for (block, step) in (0u32..).zip(steps) {
            let mut ready = Vec::new();
            match step {
                Step::Submit(stream) => {
                    queue.submit(StreamId(stream)).unwrap();
                    model.submitted[stream as usize] += 1;
                }
                Step::Free { owner, recorded } => {
                    let mut record = None;
                    for stream in &recorded {
                        record = queue.record_stream(record, StreamId(owner), StreamId(*stream)).unwrap();
                    }
                    ready.extend(queue.enqueue_free(block, 64, StreamId(owner), record).unwrap());
                    let streams = recorded.into_iter().chain([owner]);
                    let waits = streams.map(|s| (s, model.submitted[s as usize])).collect();
                    model.waiting.push((block, waits));
                }
                Step::Complete { stream, by } => {
                    let cursor = &mut model.completed[stream as usize];
                    *cursor = (*cursor + by).min(model.submitted[stream as usize]);
                    queue.complete(StreamId(stream), Ticket(*cursor), |block| ready.push(block)).unwrap();
                }
                Step::CompleteAll => {
                    model.completed = model.submitted;
                    queue.complete_all(|block| ready.push(block));
                }
            }
            ready.sort_unstable(); // blocks become ready together; their order is checked above
            prop_assert_eq!(ready, model.ready());
            prop_assert_eq!(queue.n_pending(), model.waiting.len() as u64);
        }
    }
}

//! The free queue under three threads of four operations each, in all orders that a lock around
//! each operation allows, against an oracle that keeps every deallocation with all it waits for.
//!
//! 12! / (4! 4! 4!) orders are few enough to try each of them, in every test run. That the lock
//! leaves no others is the part of the model checker (`worker/model`), which uses these programs.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use crate::{FreeQueue, RecordId, StreamId, Ticket};

/// What three threads do.
pub(crate) type Programs = [[Step; 4]; 3];

const N_STREAMS: usize = 3;
const N_BLOCKS: usize = 3;

pub(crate) const TWO_SUBMIT_AND_ONE_COMPLETES: Programs = [
    [Submit(0), Record { block: 0, stream: 1 }, Free(0), Submit(0)],
    [Submit(1), Record { block: 1, stream: 0 }, Free(1), Submit(1)],
    [Complete(0), Complete(1), Complete(0), Complete(1)],
];

pub(crate) const EVERYTHING_IN_A_RING: Programs = [
    [Submit(0), Record { block: 0, stream: 1 }, Free(0), Complete(1)],
    [Submit(1), Record { block: 1, stream: 2 }, Free(1), Complete(2)],
    [Submit(2), Record { block: 2, stream: 0 }, Free(2), Complete(0)],
];

/// What comes after the free is recorded for the next block of that number.
pub(crate) const RECORDED_BY_OTHERS_WHILE_FREED: Programs = [
    [Submit(0), Free(0), Submit(0), Free(2)],
    [Submit(1), Record { block: 0, stream: 1 }, Complete(0), Complete(1)],
    [Submit(2), Record { block: 0, stream: 2 }, Complete(2), Complete(0)],
];

/// One operation on the queue.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    Submit(u32),
    /// The next work of the stream that has not completed, when there is any.
    Complete(u32),
    Record {
        block: usize,
        stream: u32,
    },
    /// Block n belongs to stream n.
    Free(usize),
}

use Step::{Complete, Free, Record, Submit};

/// What the owner's lock protects.
pub(crate) struct Owned {
    queue: FreeQueue<usize>,
    records: [Option<RecordId>; N_BLOCKS],
    oracle: Oracle,
    /// The threads in the order in which they came.
    pub(crate) order: Vec<u8>,
}

#[derive(Default)]
struct Oracle {
    submitted: [u64; N_STREAMS],
    completed: [u64; N_STREAMS],
    recorded: [Vec<usize>; N_BLOCKS],
    waiting: Vec<(usize, Vec<(usize, u64)>)>,
}

impl Oracle {
    fn ready(&mut self) -> Vec<usize> {
        let completed = self.completed;
        let is_ready = |(_, waits): &mut (usize, Vec<(usize, u64)>)| {
            waits.iter().all(|(stream, ticket)| completed[*stream] >= *ticket)
        };
        let mut ready: Vec<usize> = self.waiting.extract_if(.., is_ready).map(|(block, _)| block).collect();
        ready.sort_unstable();
        ready
    }
}

impl Owned {
    pub(crate) fn new() -> Self {
        let mut queue = FreeQueue::new();
        while (queue.n_streams() as usize) < N_STREAMS {
            queue.add_stream().unwrap();
        }
        Self { queue, records: [None; N_BLOCKS], oracle: Oracle::default(), order: Vec::new() }
    }

    pub(crate) fn step(&mut self, thread: u8, step: Step) {
        self.order.push(thread);
        let mut ready = Vec::new();
        match step {
            Submit(stream) => {
                let count = &mut self.oracle.submitted[stream as usize];
                *count += 1;
                assert_eq!(self.queue.submit(StreamId(stream)), Ok(Ticket(*count)));
            }
            Complete(stream) => {
                let count = &mut self.oracle.completed[stream as usize];
                *count = (*count + 1).min(self.oracle.submitted[stream as usize]);
                self.queue.complete(StreamId(stream), Ticket(*count), |block| ready.push(block)).unwrap();
            }
            Record { block, stream } => {
                let owner = StreamId(u32::try_from(block).unwrap());
                let record = self.queue.record_stream(self.records[block], owner, StreamId(stream));
                self.records[block] = record.unwrap();
                self.oracle.recorded[block].push(stream as usize);
            }
            Free(block) => {
                let (owner, record) = (StreamId(u32::try_from(block).unwrap()), self.records[block].take());
                ready.extend(self.queue.enqueue_free(block, 64, owner, record).unwrap());
                let streams = std::mem::take(&mut self.oracle.recorded[block]).into_iter().chain([block]);
                let waits = streams.map(|stream| (stream, self.oracle.submitted[stream])).collect();
                self.oracle.waiting.push((block, waits));
            }
        }
        ready.sort_unstable();
        assert_eq!(ready, self.oracle.ready());
        assert_eq!(self.queue.n_pending(), self.oracle.waiting.len() as u64);
    }

    /// Lets all streams complete; afterwards no deallocation waits.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.queue.complete_all(|_| {});
        assert_eq!(self.queue.n_pending(), 0);
        self.order
    }
}

/// Runs every order of the programs and returns how many there were.
fn n_orders(programs: &Programs, order: &mut Vec<u8>, next: [usize; 3]) -> u64 {
    if order.len() == 12 {
        let mut owned = Owned::new();
        let mut next = [0; 3];
        for thread in order.iter() {
            let next = &mut next[usize::from(*thread)];
            owned.step(*thread, programs[usize::from(*thread)][*next]);
            *next += 1;
        }
        assert_eq!(owned.finish(), *order);
        return 1;
    }
    let mut count = 0;
    for thread in [0, 1, 2] {
        let mut next = next;
        if next[usize::from(thread)] < 4 {
            next[usize::from(thread)] += 1;
            order.push(thread);
            count += n_orders(programs, order, next);
            order.pop();
        }
    }
    count
}

#[track_caller]
fn check(programs: &Programs) {
    assert_eq!(n_orders(programs, &mut Vec::new(), [0; 3]), 34_650);
}

#[test]
fn two_threads_submit_and_free_while_one_completes_in_all_orders() {
    check(&TWO_SUBMIT_AND_ONE_COMPLETES);
}

#[test]
fn three_threads_do_everything_in_a_ring_in_all_orders() {
    check(&EVERYTHING_IN_A_RING);
}

#[test]
fn a_block_is_recorded_by_others_while_its_owner_frees_it_in_all_orders() {
    check(&RECORDED_BY_OTHERS_WHILE_FREED);
}

//! Random programs: four threads submit to four streams, and whatever the schedule, each stream
//! runs in its order and the free queue hears of it in its order.

use std::sync::Arc;
use std::thread;

use neuronx_mem_stream::worker::{Priority, Stream, Worker};
use neuronx_mem_stream::{StreamId, Ticket};
use proptest::prelude::*;

use crate::support::{Log, Owner, worker_of};

const N_STREAMS: u32 = 4;

#[derive(Clone, Debug)]
enum Step {
    Work(u32),
    Result(u32),
    Free { owner: u32, recorded: u32 },
    WaitStream { waiting: u32, awaited: u32 },
    Event { recorded: u32, waiting: u32, is_timed: bool },
    Stall(u32),
    Synchronize(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let stream = || 0..N_STREAMS;
    prop_oneof![
        6 => stream().prop_map(Step::Work),
        3 => stream().prop_map(Step::Result),
        4 => (stream(), stream()).prop_map(|(owner, recorded)| Step::Free { owner, recorded }),
        2 => (stream(), stream()).prop_map(|(waiting, awaited)| Step::WaitStream { waiting, awaited }),
        2 => (stream(), stream(), any::<bool>())
            .prop_map(|(recorded, waiting, is_timed)| Step::Event { recorded, waiting, is_timed }),
        1 => stream().prop_map(Step::Stall),
        1 => stream().prop_map(Step::Synchronize),
    ]
}

/// One submission as its caller saw it: (stream, ticket, number of the work).
type Submission = (u32, u64, u32);

struct Producer<'a> {
    worker: &'a Worker,
    owner: &'a Owner,
    log: &'a Log<(u32, u32)>,
    submissions: Vec<Submission>,
    freed: Vec<u32>,
}

impl Producer<'_> {
    fn stream(&self, number: u32) -> Stream {
        self.worker.stream(StreamId(number)).unwrap()
    }

    fn run(mut self, first_number: u32, steps: &[Step]) -> (Vec<Submission>, Vec<u32>) {
        for (number, step) in (first_number..).zip(steps) {
            self.step(number, step);
        }
        (self.submissions, self.freed)
    }

    fn step(&mut self, number: u32, step: &Step) {
        match *step {
            Step::Work(stream) => {
                let Ticket(ticket) = self.stream(stream).submit(self.log.work((stream, number))).unwrap();
                self.submissions.push((stream, ticket, number));
            }
            Step::Result(stream) => {
                let work = self.log.work((stream, number));
                let result = self.stream(stream).submit_returning(work).unwrap();
                self.submissions.push((stream, result.ticket().0, number));
            }
            Step::Free { owner, recorded } => {
                self.owner.free(number, &self.stream(owner), &[&self.stream(recorded)]);
                self.freed.push(number);
            }
            Step::WaitStream { waiting, awaited } => {
                self.worker.wait_stream(StreamId(waiting), StreamId(awaited)).unwrap();
            }
            Step::Event { recorded, waiting, is_timed } => {
                let event =
                    if is_timed { self.worker.create_timed_event() } else { self.worker.create_event() };
                event.record(&self.stream(recorded)).unwrap();
                event.wait(&self.stream(waiting)).unwrap();
            }
            Step::Stall(stream) => {
                let signal = self.worker.create_signal();
                signal.wait(&self.stream(stream)).unwrap();
                signal.set().unwrap();
            }
            Step::Synchronize(stream) => self.worker.synchronize(StreamId(stream)).unwrap(),
        }
    }
}

fn of_stream<T: Copy>(entries: &[(u32, T)], stream: u32) -> Vec<T> {
    entries.iter().filter(|(of, _)| *of == stream).map(|(_, entry)| *entry).collect()
}

fn check_program(programs: &[Vec<Step>]) {
    let owner = Owner::new();
    let worker = worker_of(&owner);
    for level in [0, 1, 1] {
        worker.create_stream(Priority::new(level).unwrap()).unwrap();
    }
    let log = Log::new();
    let (mut submissions, mut freed) = (Vec::new(), Vec::new());
    thread::scope(|scope| {
        let threads: Vec<_> = (0..)
            .zip(programs)
            .map(|(producer, steps)| {
                let (worker, owner, log) = (&worker, Arc::as_ref(&owner), &log);
                let producer_state =
                    Producer { worker, owner, log, submissions: Vec::new(), freed: Vec::new() };
                scope.spawn(move || producer_state.run(producer * 1000, steps))
            })
            .collect();
        for thread in threads {
            let (of_thread, freed_by_thread) = thread.join().unwrap();
            submissions.extend(of_thread);
            freed.extend(freed_by_thread);
        }
    });
    worker.shutdown().unwrap();
    submissions.sort_unstable();
    for stream in 0..N_STREAMS {
        let expected: Vec<u32> =
            submissions.iter().filter(|(of, ..)| *of == stream).map(|(.., number)| *number).collect();
        assert_eq!(of_stream(&log.entries(), stream), expected);
        // Every ticket once, none left out: strictly increasing from 1.
        let tickets = of_stream(&owner.completed(), stream);
        assert_eq!(tickets, (1..=tickets.len() as u64).collect::<Vec<_>>());
    }
    let mut reusable = owner.reusable();
    reusable.sort_unstable();
    freed.sort_unstable();
    assert_eq!((reusable, owner.n_pending()), (freed, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn four_threads_and_four_streams_keep_every_order(
        programs in prop::collection::vec(prop::collection::vec(step(), 0..100), 4),
    ) {
        check_program(&programs);
    }
}

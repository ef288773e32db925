//! Streams as plainly as the rules can be written: counters, and a list of deallocations with the work
//! that each waits for. Knows nothing of the queue that it checks.

use std::collections::BTreeSet;

use crate::expected::{Expected, TOP, below};
use crate::oracle::{Oracle, Placed, Rules};

pub(crate) const N_STREAMS: usize = 4;

/// A block of the model.
#[derive(Clone, Debug)]
pub(crate) struct Owned {
    pub(crate) placed: Placed,
    requested: u64,
    /// The stream it belongs to and those that were recorded.
    pub(crate) uses: BTreeSet<usize>,
}

struct Waiting {
    owned: Owned,
    /// (stream, last work submitted there at the free).
    work: Vec<(usize, u64)>,
}

/// Four streams over the plain allocator.
pub(crate) struct Model {
    pub(crate) oracle: Oracle,
    pub(crate) submitted: [u64; N_STREAMS],
    pub(crate) completed: [u64; N_STREAMS],
    /// In the order of their frees.
    waiting: Vec<Waiting>,
    next_address: u64,
}

impl Model {
    pub(crate) fn new(rules: Rules) -> Self {
        let (submitted, completed) = ([0; N_STREAMS], [0; N_STREAMS]);
        Self { oracle: Oracle::new(rules), submitted, completed, waiting: Vec::new(), next_address: TOP }
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(crate) fn outstanding(&self, stream: usize) -> u64 {
        self.submitted[stream] - self.completed[stream]
    }

    pub(crate) fn submit(&mut self, stream: usize) -> u64 {
        self.submitted[stream] += 1;
        self.submitted[stream]
    }

    pub(crate) fn allocate(&mut self, stream: usize, n: u64, expected: &mut Expected) -> Option<Owned> {
        if n == 0 {
            return None;
        }
        let uses = BTreeSet::from([stream]);
        if !self.oracle.has_room(n)
            && let Some(position) = self.waiting.iter().position(|waiting| self.serves(waiting, stream, n))
        {
            let old = self.waiting.remove(position).owned;
            let placed = self.oracle.take_over(old.placed.name, n);
            let before = (old.placed.block_bytes, old.requested);
            expected.exchange(self.oracle.is_small(n), before, (placed.block_bytes, n));
            return Some(Owned { placed, requested: n, uses });
        }
        let next_address = &mut self.next_address;
        let placed = self.oracle.allocate(n, |bytes| {
            *next_address = below(*next_address, bytes);
            *next_address
        });
        Some(Owned { placed, requested: n, uses })
    }

    pub(crate) fn free(&mut self, owned: Owned, expected: &mut Expected) {
        let work = owned.uses.iter().map(|stream| (*stream, self.submitted[*stream])).collect();
        self.waiting.push(Waiting { owned, work });
        self.run(expected);
    }

    pub(crate) fn complete(&mut self, stream: usize, ticket: u64, expected: &mut Expected) {
        self.completed[stream] = self.completed[stream].max(ticket);
        self.run(expected);
    }

    /// All work completes, stream by stream from 0.
    pub(crate) fn synchronize(&mut self, expected: &mut Expected) {
        (0..N_STREAMS).for_each(|stream| self.complete(stream, self.submitted[stream], expected));
    }

    /// Whether a deallocation waits for this stream alone, and its block is exactly what is needed.
    fn serves(&self, waiting: &Waiting, stream: usize, n: u64) -> bool {
        let needed = self.oracle.round(n).next_multiple_of(64);
        let is_done = |(stream, ticket): &(usize, u64)| self.completed[*stream] >= *ticket;
        waiting.work.iter().all(|work| is_done(work) || work.0 == stream)
            && waiting.owned.placed.extent == needed
            && self.oracle.is_small(waiting.owned.requested) == self.oracle.is_small(n)
    }

    /// Runs the deallocations whose work is done, and looks at the sums after each.
    fn run(&mut self, expected: &mut Expected) {
        let completed = self.completed;
        let is_done =
            |waiting: &mut Waiting| waiting.work.iter().all(|(stream, ticket)| completed[*stream] >= *ticket);
        let done: Vec<Waiting> = self.waiting.extract_if(.., is_done).collect();
        for waiting in done {
            self.oracle.free(waiting.owned.placed.name);
            expected.observe(&self.oracle);
        }
    }
}

//! Work that completes when a schedule says so. Runs nothing, has no thread and no clock.

use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;

use super::seed::{Purpose, between, number};

/// A stream of a plan that stops at a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stall {
    pub(crate) stream: u32,
    pub(crate) from_ticket: u64,
}

/// One piece of simulated work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkHandle {
    /// The stream it was submitted to.
    pub stream: u32,
    /// The n-th of its stream, from 1.
    pub ticket: u64,
}

/// How far a stream got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletedWork {
    /// The stream.
    pub stream: u32,
    /// Pieces completed so far, which is the number of the last one.
    pub n_completed: u64,
}

/// Where one piece of work stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkState {
    /// It was never submitted.
    Unknown,
    /// It completes at this virtual time, if nothing is stalled in between.
    CompletesAt {
        /// Nanoseconds.
        ns: u64,
    },
    /// It never completes unless its stream is released.
    Stalled,
    /// It has completed.
    Completed,
}

/// A deterministic schedule: at which virtual time each piece of work completes.
///
/// Work of one stream runs in order, one piece at a time, streams beside each other. A piece
/// starts when it is submitted or when the one before it completes, and takes the time that the
/// plan's seed gives it. For a driver that owns the queue of deallocations:
///
/// ```
/// use neuronx_mem_sim::{CompletedWork, FaultPlan};
///
/// let mut work = FaultPlan::new(1).work_delay_ns(100..=100).stall_stream(2, 1).work();
/// work.submit(0);
/// work.submit(0);
/// work.submit(2);
/// assert_eq!(work.advance_to(150), [CompletedWork { stream: 0, n_completed: 1 }]);
/// work.release(2);
/// assert_eq!(
///     work.advance_to(250),
///     [CompletedWork { stream: 0, n_completed: 2 }, CompletedWork { stream: 2, n_completed: 1 }],
/// );
/// ```
#[derive(Clone, Debug)]
pub struct SimulatedWork {
    seed: u64,
    delay_ns: RangeInclusive<u64>,
    now_ns: u64,
    streams: BTreeMap<u32, WorkStream>,
}

#[derive(Clone, Debug, Default)]
struct WorkStream {
    queue: VecDeque<Piece>,
    n_completed: u64,
    /// When the last completed piece ended.
    free_at_ns: u64,
    stalled_from: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    submitted_ns: u64,
    delay_ns: u64,
}

impl SimulatedWork {
    pub(crate) fn new(seed: u64, delay_ns: RangeInclusive<u64>, stalls: &[Stall]) -> Self {
        let mut work = Self { seed, delay_ns, now_ns: 0, streams: BTreeMap::new() };
        stalls.iter().for_each(|stall| work.stall(stall.stream, stall.from_ticket));
        work
    }

    /// The time it stands at, nanoseconds.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Queues one more piece on a stream, now. O(log streams).
    pub fn submit(&mut self, stream: u32) -> WorkHandle {
        let now_ns = self.now_ns;
        let entry = self.streams.entry(stream).or_default();
        let ticket = entry.n_submitted() + 1;
        let drawn = number(self.seed, Purpose::Work, u64::from(stream), ticket);
        let delay_ns = between(drawn, *self.delay_ns.start(), *self.delay_ns.end());
        entry.queue.push_back(Piece { submitted_ns: now_ns, delay_ns });
        WorkHandle { stream, ticket }
    }

    /// Moves the time on and tells which streams completed something, by rising number.
    ///
    /// A time in the past leaves the time alone: what a release or a submission without delay
    /// made complete is told. O(streams + pieces completed).
    pub fn advance_to(&mut self, ns: u64) -> Vec<CompletedWork> {
        self.now_ns = self.now_ns.max(ns);
        let now_ns = self.now_ns;
        self.streams
            .iter_mut()
            .filter_map(|(stream, entry)| {
                let n_completed = entry.run_until(now_ns)?;
                Some(CompletedWork { stream: *stream, n_completed })
            })
            .collect()
    }

    /// Stalls a stream from its n-th piece on; pieces that have completed stay so. An earlier
    /// stall of the stream stands if it is the first to hold.
    pub fn stall(&mut self, stream: u32, from_ticket: u64) {
        let stalled_from = &mut self.streams.entry(stream).or_default().stalled_from;
        *stalled_from = Some(stalled_from.map_or(from_ticket, |first| first.min(from_ticket)));
    }

    /// Ends all stalls of a stream: its work goes on from now. Stalls that no piece has
    /// reached yet are ended too.
    pub fn release(&mut self, stream: u32) {
        let Some(entry) = self.streams.get_mut(&stream) else { return };
        if let Some(first) = entry.stalled_from.take() {
            entry.start_no_earlier(first, self.now_ns);
        }
    }

    /// Where a piece stands. O(pieces of its stream that are not completed).
    #[must_use]
    pub fn state(&self, work: WorkHandle) -> WorkState {
        self.streams.get(&work.stream).map_or(WorkState::Unknown, |entry| entry.state(work.ticket))
    }

    /// The next time at which something completes, if nothing is submitted or released before.
    ///
    /// `None` when all work has completed or is stalled. O(streams).
    #[must_use]
    pub fn next_completion_ns(&self) -> Option<u64> {
        self.streams.values().filter_map(WorkStream::next_ns).min()
    }
}

impl WorkStream {
    fn n_submitted(&self) -> u64 {
        self.n_completed + self.queue.len() as u64
    }

    fn is_held(&self, ticket: u64) -> bool {
        self.stalled_from.is_some_and(|first| ticket >= first)
    }

    fn next_ns(&self) -> Option<u64> {
        let piece = self.queue.front().filter(|_| !self.is_held(self.n_completed + 1))?;
        Some(piece.end_ns(self.free_at_ns))
    }

    /// Completes what is due; the new count if that is anything.
    fn run_until(&mut self, now_ns: u64) -> Option<u64> {
        let before = self.n_completed;
        while let Some(end_ns) = self.next_ns().filter(|end_ns| *end_ns <= now_ns) {
            self.queue.pop_front();
            self.n_completed += 1;
            self.free_at_ns = end_ns;
        }
        (self.n_completed > before).then_some(self.n_completed)
    }

    /// A piece, or the first one left, cannot have started while it was stalled; those behind it
    /// follow.
    fn start_no_earlier(&mut self, ticket: u64, now_ns: u64) {
        let idx = usize::try_from(ticket.saturating_sub(self.n_completed + 1)).unwrap_or(usize::MAX);
        if let Some(piece) = self.queue.get_mut(idx) {
            piece.submitted_ns = piece.submitted_ns.max(now_ns);
        }
    }

    fn state(&self, ticket: u64) -> WorkState {
        if ticket == 0 || ticket > self.n_submitted() {
            return WorkState::Unknown;
        }
        if ticket <= self.n_completed {
            return WorkState::Completed;
        }
        if self.is_held(ticket) {
            return WorkState::Stalled;
        }
        let pieces = (self.n_completed + 1..=ticket).zip(&self.queue);
        let ns = pieces.fold(self.free_at_ns, |free_at_ns, (_, piece)| piece.end_ns(free_at_ns));
        WorkState::CompletesAt { ns }
    }
}

impl Piece {
    fn end_ns(&self, free_at_ns: u64) -> u64 {
        self.submitted_ns.max(free_at_ns).saturating_add(self.delay_ns)
    }
}

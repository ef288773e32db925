//! Which work comes before which, as the program asked for it. Knows vector clocks of streams and of
//! the host; refuses to look at how far work has come by itself.

use std::collections::{BTreeMap, VecDeque};

/// Work of each stream that comes before, by its last number.
type Clock = BTreeMap<u32, u64>;

/// Earlier clocks kept for each stream. Beyond them the oldest one answers, which knows of more order
/// than there was: a finding may then be missed, none is made up.
const MAX_EARLIER: usize = 64;

#[derive(Clone, Debug, Default)]
struct Stream {
    /// What work submitted from now on comes after.
    clock: Clock,
    /// The clock from each work on at which it changed, oldest first.
    earlier: VecDeque<(u64, Clock)>,
}

/// The order of all streams of a device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    streams: BTreeMap<u32, Stream>,
    /// What the host has waited for.
    host: Clock,
}

impl Order {
    /// The host has waited for work `ticket` of a stream, and for all that came before that.
    pub(crate) fn host_waited(&mut self, stream: u32, ticket: u64) {
        let before = self.clock_at(stream, ticket);
        merge(&mut self.host, &before);
        raise(&mut self.host, stream, ticket);
    }

    /// Work of `waiting` from number `at` on comes after work `ticket` of `awaited`.
    pub(crate) fn stream_waits(&mut self, waiting: u32, at: u64, awaited: u32, ticket: u64) {
        let before = self.clock_at(awaited, ticket);
        let stream = self.streams.entry(waiting).or_default();
        merge(&mut stream.clock, &before);
        raise(&mut stream.clock, awaited, ticket);
        if stream.earlier.len() == MAX_EARLIER {
            stream.earlier.pop_front();
        }
        stream.earlier.push_back((at, stream.clock.clone()));
    }

    /// Whether the host knows that work `ticket` of `stream` has completed.
    pub(crate) fn is_known(&self, stream: u32, ticket: u64) -> bool {
        reaches(&self.host, stream, ticket)
    }

    /// Whether work submitted to `later` from now on comes after work `ticket` of `stream`.
    pub(crate) fn is_before(&self, stream: u32, ticket: u64, later: u32) -> bool {
        stream == later
            || self.is_known(stream, ticket)
            || self.streams.get(&later).is_some_and(|known| reaches(&known.clock, stream, ticket))
    }

    /// What work `ticket` of a stream came after.
    fn clock_at(&self, stream: u32, ticket: u64) -> Clock {
        let Some(stream) = self.streams.get(&stream) else { return Clock::new() };
        let at = stream.earlier.iter().rev().find(|(at, _)| *at <= ticket);
        // Some were forgotten: the oldest one that is left errs towards too much order.
        let forgotten = || stream.earlier.front().filter(|_| stream.earlier.len() == MAX_EARLIER);
        at.or_else(forgotten).map(|(_, clock)| clock.clone()).unwrap_or_default()
    }
}

fn reaches(clock: &Clock, stream: u32, ticket: u64) -> bool {
    ticket == 0 || clock.get(&stream).is_some_and(|last| *last >= ticket)
}

fn raise(clock: &mut Clock, stream: u32, ticket: u64) {
    let last = clock.entry(stream).or_default();
    *last = ticket.max(*last);
}

fn merge(clock: &mut Clock, other: &Clock) {
    other.iter().for_each(|(stream, ticket)| raise(clock, *stream, *ticket));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MAX_EARLIER, Order};

    /// (waiting, first work that waits, awaited, last work waited for)
    type Wait = (u32, u64, u32, u64);

    /// Whether work `from` on of `later` comes after work `ticket` of `stream`: follows the waits back.
    fn is_reached(waits: &[Wait], later: u32, from: u64, stream: u32, ticket: u64) -> bool {
        let mut to_visit = vec![(later, from)];
        let mut visited = Vec::new();
        while let Some((at, last)) = to_visit.pop() {
            if at == stream && last >= ticket {
                return true;
            }
            if visited.contains(&(at, last)) {
                continue;
            }
            visited.push((at, last));
            let earlier = waits.iter().filter(|wait| wait.0 == at && wait.1 <= last);
            to_visit.extend(earlier.map(|wait| (wait.2, wait.3)));
        }
        false
    }

    proptest! {
        #[test]
        fn clocks_and_following_the_waits_back_agree(
            steps in prop::collection::vec((0u32..4, 0u32..4, 0u64..3), 1..40),
        ) {
            let (mut order, mut submitted, mut waits) = (Order::default(), [0u64; 4], Vec::new());
            for (waiting, awaited, work) in steps {
                submitted[awaited as usize] += work;
                // An earlier mark of the stream, as an event is.
                let ticket = submitted[awaited as usize].saturating_sub(work / 2);
                submitted[waiting as usize] += 1;
                let at = submitted[waiting as usize];
                if waiting != awaited {
                    order.stream_waits(waiting, at, awaited, ticket);
                    waits.push((waiting, at, awaited, ticket));
                }
            }
            for later in 0..4 {
                for stream in (0..4).filter(|stream| *stream != later) {
                    for ticket in 1..=submitted[stream as usize] {
                        let expected = is_reached(&waits, later, u64::MAX, stream, ticket);
                        prop_assert_eq!(order.is_before(stream, ticket, later), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn waits_are_transitive_but_not_backwards() {
        let mut order = Order::default();
        // Stream 1 waits for work 5 of stream 0 in its own work 2; stream 2 for work 2 of stream 1.
        order.stream_waits(1, 2, 0, 5);
        order.stream_waits(2, 1, 1, 2);
        assert!(order.is_before(0, 5, 2) && order.is_before(1, 2, 2));
        assert!(!order.is_before(0, 6, 2) && !order.is_before(2, 1, 0));
    }

    #[test]
    fn a_mark_before_the_wait_does_not_carry_it() {
        let mut order = Order::default();
        order.stream_waits(1, 2, 0, 5);
        order.stream_waits(2, 1, 1, 1);
        assert!(order.is_before(1, 1, 2) && !order.is_before(0, 5, 2));
    }

    #[test]
    fn the_host_knows_what_the_awaited_work_came_after() {
        let mut order = Order::default();
        order.stream_waits(1, 2, 0, 5);
        order.host_waited(1, 3);
        assert!(order.is_known(0, 5) && order.is_known(1, 3) && !order.is_known(1, 4));
        assert!(order.is_before(0, 5, 7));
    }

    #[test]
    fn what_was_forgotten_counts_as_ordered() {
        let mut order = Order::default();
        for at in 1..=MAX_EARLIER as u64 + 1 {
            order.stream_waits(1, at, 0, at);
        }
        order.stream_waits(2, 1, 1, 1);
        assert!(order.is_before(0, 2, 2) && !order.is_before(0, 3, 2));
    }
}

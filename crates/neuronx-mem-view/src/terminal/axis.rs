//! Which events stand in which column of the chart: the part of the run that is shown, by event or by
//! time. Knows no figures.

/// What the axis of the chart counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    /// Events.
    Event,
    /// Time; long waits are wide.
    Time,
}

/// Fewest events that are shown, if there are so many.
const MIN_SHOWN: u64 = 16;

/// The part of the run that is shown, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) from: u64,
    pub(super) to: u64,
}

impl Window {
    /// All of a run.
    pub(super) fn whole(last: u64) -> Self {
        Self { from: 0, to: last }
    }

    /// How many moments it shows.
    pub(super) fn n_shown(self) -> u64 {
        self.to - self.from + 1
    }

    /// Half as many, or twice as many, with an event where it was.
    pub(super) fn zoomed(self, is_closer: bool, about: u64, last: u64) -> Self {
        let n = self.n_shown();
        let wanted = if is_closer { n.div_ceil(2).max(MIN_SHOWN) } else { n.saturating_mul(2) };
        let n_new = wanted.min(last + 1);
        let before = u128::from(about.saturating_sub(self.from)) * u128::from(n_new) / u128::from(n);
        Self::of(about.saturating_sub(u64::try_from(before).unwrap_or(0)), n_new, last)
    }

    /// As many, with an event in the middle unless it is shown already.
    pub(super) fn showing(self, event: u64, last: u64) -> Self {
        if (self.from..=self.to).contains(&event) {
            return self;
        }
        Self::of(event.saturating_sub(self.n_shown() / 2), self.n_shown(), last)
    }

    fn of(from: u64, n_shown: u64, last: u64) -> Self {
        let from = from.min((last + 1).saturating_sub(n_shown));
        Self { from, to: from + n_shown - 1 }
    }
}

/// A window laid over columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale<'a> {
    window: Window,
    /// Empty: the axis counts events.
    times_us: &'a [u64],
    n_columns: u64,
}

impl<'a> Scale<'a> {
    /// Times are those after every event; empty for an axis of events.
    pub(super) fn new(window: Window, times_us: &'a [u64], n_columns: u64) -> Self {
        Self { window, times_us, n_columns: n_columns.max(1) }
    }

    /// First and last event of a column. Never none: a column between two events shows the first of
    /// them, whose figures still hold. O(log events).
    pub(super) fn events(&self, column: u64) -> (u64, u64) {
        let column = column.min(self.n_columns - 1);
        let Some((start_us, span)) = self.times() else {
            let at = |column: u64| self.window.from + share(self.window.n_shown(), column, self.n_columns);
            let from = at(column);
            return (from, at(column + 1).saturating_sub(1).max(from));
        };
        // Before the first event that is not earlier than the column begins, one holds.
        let at = |column: u64| {
            // Rounded up, so that a moment stands in the column that `column` says.
            let us = u128::from(span) * u128::from(column);
            let us = u64::try_from(us.div_ceil(u128::from(self.n_columns))).unwrap_or(u64::MAX);
            let n_before = self.times_us.partition_point(|time| *time < start_us.saturating_add(us)) as u64;
            n_before.clamp(self.window.from, self.window.to + 1)
        };
        let (from, end) =
            (at(column), if column + 1 == self.n_columns { self.window.to + 1 } else { at(column + 1) });
        if from < end { (from, end - 1) } else { (end.max(1) - 1, end.max(1) - 1) }
    }

    /// The column of an event; the nearest for one that is not shown. O(1).
    pub(super) fn column(&self, event: u64) -> u64 {
        let event = event.clamp(self.window.from, self.window.to);
        let (n, offset) = (self.window.n_shown(), event - self.window.from);
        let column = match self.times() {
            Some((start_us, span)) => {
                let us = self.time(event).saturating_sub(start_us);
                share(self.n_columns, us, span)
            }
            None => {
                let end = |offset: u64| share_up(self.n_columns, offset, n);
                let last = end(offset + 1).saturating_sub(1);
                // Where more than one shows it, the middle.
                if n < self.n_columns { u64::midpoint(end(offset), last) } else { last }
            }
        };
        column.min(self.n_columns - 1)
    }

    /// Start and length of the time shown, microseconds; `None` on an axis of events.
    fn times(&self) -> Option<(u64, u64)> {
        if self.times_us.is_empty() {
            return None;
        }
        let start_us = self.time(self.window.from);
        Some((start_us, (self.time(self.window.to) - start_us).saturating_add(1)))
    }

    fn time(&self, event: u64) -> u64 {
        usize::try_from(event).ok().and_then(|idx| self.times_us.get(idx)).copied().unwrap_or(0)
    }
}

/// `whole · part / of`, rounded down.
fn share(whole: u64, part: u64, of: u64) -> u64 {
    u64::try_from(u128::from(whole) * u128::from(part) / u128::from(of.max(1))).unwrap_or(u64::MAX)
}

/// `whole · part / of`, rounded up.
fn share_up(whole: u64, part: u64, of: u64) -> u64 {
    let share = (u128::from(whole) * u128::from(part)).div_ceil(u128::from(of.max(1)));
    u64::try_from(share).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(scale: &Scale<'_>) {
        let window = scale.window;
        let mut next = window.from;
        for column in 0..scale.n_columns {
            let (from, to) = scale.events(column);
            assert!(from <= to && (window.from..=window.to).contains(&to), "{column}: {from}..={to}");
            assert!(from <= next, "{column}: {next} is in no column");
            next = next.max(to + 1);
        }
        assert_eq!(next, window.to + 1, "{scale:?}");
        for event in window.from..=window.to {
            let (from, to) = scale.events(scale.column(event));
            assert!((from..=to).contains(&event), "{event} is not in {from}..={to} of {scale:?}");
        }
    }

    #[test]
    fn every_event_has_its_column() {
        for (from, to) in [(0, 0), (0, 6), (5, 39), (0, 40), (100, 1000)] {
            for n_columns in [1, 2, 7, 40, 160] {
                check(&Scale::new(Window { from, to }, &[], n_columns));
            }
        }
    }

    #[test]
    fn so_it_has_by_time() {
        // Steps of no time, of little and of much.
        let times: Vec<u64> =
            (0..200_u64).map(|idx| 1_700_000_000_000_000 + idx / 3 * 7 + idx / 50 * 900).collect();
        for (from, to) in [(0, 0), (0, 199), (3, 4), (40, 120)] {
            for n_columns in [1, 3, 40, 500, 5000] {
                check(&Scale::new(Window { from, to }, &times, n_columns));
            }
        }
        check(&Scale::new(Window::whole(9), &[5; 10], 20));
    }

    #[test]
    fn a_window_stays_within_the_run() {
        let whole = Window::whole(999);
        let half = whole.zoomed(true, 999, 999);
        assert_eq!(half, Window { from: 500, to: 999 });
        assert_eq!(half.zoomed(false, 700, 999), whole);
        assert_eq!(whole.zoomed(false, 3, 999), whole);
        assert_eq!(Window::whole(3).zoomed(true, 2, 3), Window::whole(3));
        assert_eq!(half.showing(10, 999), Window { from: 0, to: 499 });
        assert_eq!(half.showing(600, 999), half);
        let mut closest = whole;
        (0..20).for_each(|_| closest = closest.zoomed(true, 400, 999));
        assert_eq!(closest.n_shown(), MIN_SHOWN);
        assert!((closest.from..=closest.to).contains(&400));
    }
}

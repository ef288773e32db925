//! Moves in time: along the chart, to the peak, to marks, to what is looked for.

use ratatui::layout::Rect;

use super::super::axis::Axis;
use super::super::layout::Areas;
use super::super::search::Found;
use super::super::text::{count, inert};
use super::App;

impl App<'_> {
    /// Looks at an event, the nearest there is.
    pub(super) fn go_to(&mut self, event: u64) {
        let event = event.min(self.last());
        if event != self.cursor {
            self.cursor = event;
            self.moment.take();
            if self.selected.is_none() {
                self.details_row = 0;
                self.follow();
            }
        }
        self.window = self.window.showing(event, self.last());
    }

    pub(super) fn step_events(&mut self, by: i64) {
        self.go_to(self.cursor.saturating_add_signed(by));
    }

    /// Moves by columns of the chart, but by one event at least.
    pub(super) fn step_columns(&mut self, by: i64) {
        let width = self.chart_width();
        let scale = self.scale(width);
        let column = scale.column(self.cursor).saturating_add_signed(by);
        let beyond = column >= u64::from(width) || (by < 0 && scale.column(self.cursor) < by.unsigned_abs());
        if beyond {
            // As far again as a column is wide, so that a closer look can be moved along.
            let width = (self.window.n_shown() / u64::from(width)).max(1);
            let far = i64::try_from(width).unwrap_or(i64::MAX).saturating_mul(by);
            return self.step_events(far);
        }
        let (from, _) = scale.events(column);
        if by < 0 {
            self.go_to(from.min(self.cursor.saturating_sub(1)));
        } else {
            self.go_to(from.max(self.cursor.saturating_add(1)));
        }
    }

    /// Columns of the chart, or those it would have if no other panel were alone on the screen.
    fn chart_width(&self) -> u16 {
        let screen = Rect { x: 0, y: 0, width: self.size.0, height: self.size.1 };
        Areas::of(screen, None).map_or(1, |areas| areas.chart().width.max(1))
    }

    pub(super) fn go_to_peak(&mut self) {
        self.go_to(self.recording.totals.peak_event);
    }

    pub(super) fn go_to_oom(&mut self, is_next: bool) {
        let events: Vec<u64> = self.recording.ooms.iter().map(|oom| oom.event).collect();
        match neighbour(&events, self.cursor, is_next) {
            None => self.message = "memory did not run out".to_owned(),
            Some(event) => {
                self.go_to(event);
                let oom = self.recording.ooms.iter().find(|oom| oom.event == event);
                let bytes = oom.map_or(0, |oom| oom.bytes);
                self.message = format!("out of memory: {} bytes asked for", count(bytes));
            }
        }
    }

    pub(super) fn go_to_mark(&mut self, is_next: bool) {
        let events: Vec<u64> = self.recording.marks.iter().map(|mark| mark.event).collect();
        match neighbour(&events, self.cursor, is_next) {
            None => self.message = "there are no marks".to_owned(),
            Some(event) => {
                self.go_to(event);
                let here = self.recording.marks.iter().filter(|mark| mark.event == event);
                let labels: Vec<String> = here.take(4).map(|mark| inert(&mark.label)).collect();
                self.message = format!("mark: {}", labels.join(", "));
            }
        }
    }

    pub(super) fn turn_axis(&mut self) {
        self.axis = match self.axis {
            Axis::Event if self.recording.timeline.times_us.is_empty() => {
                self.message = "this input has no times".to_owned();
                Axis::Event
            }
            Axis::Event => Axis::Time,
            Axis::Time => Axis::Event,
        };
    }

    pub(super) fn zoom(&mut self, is_closer: bool) {
        self.window = self.window.zoomed(is_closer, self.cursor, self.last());
    }

    /// To where the shown allocation was born, or to where it died.
    pub(super) fn go_to_end_of_life(&mut self, is_birth: bool) {
        let Some(id) = self.shown_allocation() else {
            self.message = "no allocation is shown".to_owned();
            return;
        };
        let idx = id.0 as usize;
        let all = &self.recording.allocations;
        let event = if is_birth { all.births[idx] } else { all.deaths[idx] };
        if event > self.last() {
            self.message = "it is live at the end".to_owned();
            return;
        }
        self.select(Some(id));
        self.go_to(event);
    }

    /// To the next place that the search finds, or the one before; around the end if there is none.
    pub(super) fn find(&mut self, is_next: bool) {
        let Some(search) = &self.search else {
            self.message = "nothing is looked for yet: / starts a search".to_owned();
            return;
        };
        let born_here = |id: &crate::AllocationId| {
            self.recording.allocations.births.get(id.0 as usize) == Some(&self.cursor)
        };
        let from = Found { event: self.cursor, id: self.selected.filter(born_here) };
        let around = if is_next { Found { event: 0, id: None } } else { Found { event: u64::MAX, id: None } };
        let go = |from| {
            if is_next { search.next(self.recording, from) } else { search.previous(self.recording, from) }
        };
        let found = go(from);
        let is_around = found.is_none();
        let name = inert(search.text());
        match found.or_else(|| go(around)) {
            None => self.message = format!("`{name}` is nowhere"),
            Some(found) => {
                self.select(found.id);
                self.go_to(found.event);
                self.message = match (is_around, is_next) {
                    (false, _) => format!("`{name}`: n for the next, N for the one before"),
                    (true, true) => format!("`{name}`: from the start again"),
                    (true, false) => format!("`{name}`: from the end again"),
                };
            }
        }
    }
}

/// The next of some events, or the one before; around the end if there is none.
fn neighbour(events: &[u64], cursor: u64, is_next: bool) -> Option<u64> {
    if is_next {
        let later = events.iter().copied().filter(|event| *event > cursor).min();
        later.or_else(|| events.iter().copied().min())
    } else {
        let earlier = events.iter().copied().filter(|event| *event < cursor).max();
        earlier.or_else(|| events.iter().copied().max())
    }
}

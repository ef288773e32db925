//! The state of the viewer: where one looks, and at what. Keys and clicks change it, drawing reads it;
//! it knows no terminal.

mod keys;
mod lists;
mod motion;
mod mouse;

use std::cell::OnceCell;

use ratatui::layout::Rect;

use super::Options;
use super::axis::{Axis, Scale, Window};
use super::filter::Filter;
use super::layout::{Areas, Panel};
use super::moment::{BlockState, Moment, Top, state_of};
use super::pending::Pending;
use super::search::Search;
use super::tiles::Tiles;
use crate::{AllocationId, Recording};

/// The state of the viewer.
///
/// It changes by keys and clicks alone, so what a screen shows follows from the recording and the
/// input.
#[derive(Debug)]
pub struct App<'a> {
    pub(super) recording: &'a Recording,
    pub(super) options: Options,
    pub(super) reserved: Tiles<'a>,
    pub(super) allocated: Tiles<'a>,
    pub(super) active: Tiles<'a>,
    pub(super) pending: Pending,
    pub(super) window: Window,
    pub(super) axis: Axis,
    pub(super) focus: Panel,
    pub(super) is_alone: bool,
    pub(super) is_help: bool,
    pub(super) is_at_peak: bool,
    pub(super) is_to_scale: bool,
    pub(super) filter: Filter,
    pub(super) prompt: Option<Prompt>,
    pub(super) message: String,
    pub(super) details_row: usize,
    pub(super) stack_row: usize,
    cursor: u64,
    search: Option<Search>,
    selected: Option<AllocationId>,
    /// The segment worked at; the row is that of the last one that does not begin later.
    map_address: u64,
    size: (u16, u16),
    is_done: bool,
    moment: OnceCell<Moment>,
    top_at_peak: OnceCell<Top>,
}

/// A line that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prompt {
    pub(super) kind: PromptKind,
    pub(super) text: String,
}

/// What is done with a typed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptKind {
    Filter,
    Search,
}

impl<'a> App<'a> {
    /// Opens a recording at its peak. O(events), once.
    #[must_use]
    pub fn new(recording: &'a Recording, options: Options) -> Self {
        let timeline = &recording.timeline;
        let mut app = Self {
            recording,
            options,
            reserved: Tiles::of(&timeline.reserved_bytes),
            allocated: Tiles::of(&timeline.allocated_bytes),
            active: Tiles::of(&timeline.active_bytes),
            pending: Pending::of(recording),
            window: Window::whole(recording.n_events()),
            axis: Axis::Event,
            focus: Panel::Timeline,
            is_alone: false,
            is_help: false,
            is_at_peak: false,
            is_to_scale: false,
            filter: Filter::default(),
            prompt: None,
            message: String::new(),
            details_row: 0,
            stack_row: 0,
            cursor: recording.totals.peak_event.min(recording.n_events()),
            search: None,
            selected: None,
            map_address: 0,
            size: (80, 24),
            is_done: false,
            moment: OnceCell::new(),
            top_at_peak: OnceCell::new(),
        };
        app.follow();
        app
    }

    /// The event looked at.
    #[must_use]
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    /// Whether the user has had enough.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// The allocation that the details are of: the selected one, else the one of the event looked at.
    #[must_use]
    pub fn shown_allocation(&self) -> Option<AllocationId> {
        self.selected.or_else(|| self.recording.events.subject(self.cursor))
    }

    /// The allocation that was selected; `None` while the details follow the cursor.
    #[must_use]
    pub fn selected(&self) -> Option<AllocationId> {
        self.selected
    }

    /// Notes the size of the screen, in columns and rows.
    pub fn on_resize(&mut self, width: u16, height: u16) {
        self.size = (width, height);
    }

    /// Memory after the event looked at. Worked out on first use.
    pub(super) fn moment(&self) -> &Moment {
        self.moment.get_or_init(|| Moment::at(self.recording, self.cursor, &self.filter))
    }

    /// The table of stacks: at the cursor or at the peak.
    pub(super) fn top(&self) -> &Top {
        if !self.is_at_peak {
            return &self.moment().top;
        }
        let peak = self.recording.totals.peak_event;
        self.top_at_peak.get_or_init(|| Top::at(self.recording, peak, &self.filter))
    }

    /// The row of the segment worked at; 0 when there is none.
    pub(super) fn map_row(&self) -> usize {
        let map = &self.moment().map;
        map.partition_point(|held| held.segment.address <= self.map_address).saturating_sub(1)
    }

    /// How a block of the moment is shown.
    pub(super) fn state_of(&self, id: AllocationId) -> BlockState {
        let selected = self.shown_allocation();
        state_of(self.recording, id, self.cursor, &self.filter, &self.pending, selected)
    }

    /// The events in each of a number of columns.
    pub(super) fn scale(&self, n_columns: u16) -> Scale<'a> {
        let times: &[u64] = match self.axis {
            Axis::Event => &[],
            Axis::Time => &self.recording.timeline.times_us,
        };
        Scale::new(self.window, times, u64::from(n_columns))
    }

    /// The areas of a screen in the present state; `None` when it is too small.
    pub(super) fn areas(&self, screen: Rect) -> Option<Areas> {
        Areas::of(screen, self.is_alone.then_some(self.focus))
    }

    /// The number of events.
    pub(super) fn n_events(&self) -> u64 {
        self.last()
    }

    /// The time of an event since the first, microseconds; `None` where the input has no times.
    pub(super) fn time_since_start(&self, event: u64) -> Option<u64> {
        let times = &self.recording.timeline.times_us;
        let time = times.get(usize::try_from(event).ok()?)?;
        Some(time.saturating_sub(*times.first()?))
    }

    fn own_areas(&self) -> Option<Areas> {
        self.areas(Rect { x: 0, y: 0, width: self.size.0, height: self.size.1 })
    }

    fn last(&self) -> u64 {
        self.recording.n_events()
    }
}

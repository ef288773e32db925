//! The panel of sums over the run: curves, a row of marks, an axis. Knows no segments.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;

use super::super::app::App;
use super::super::axis::Axis;
use super::super::layout::{Areas, FIGURES_WIDTH, Panel};
use super::super::text::{count, duration, size};
use super::super::theme::Theme;
use super::chart::{self, Column, DOTS};
use super::{put, put_right, row, title};

/// Legends, the first that fits.
const LEGENDS: [&str; 2] = ["⣿ active ⢕ allocated ⠍ reserved", "⣿ act ⢕ alloc ⠍ res"];

pub(super) fn draw(buffer: &mut Buffer, areas: &Areas, app: &App<'_>, theme: Theme) {
    let (panel, area) = (areas.panel(Panel::Timeline), areas.chart());
    if area.is_empty() {
        return;
    }
    let totals = &app.recording.totals;
    let by = if app.axis == Axis::Event { "event" } else { "time" };
    let peak = totals.allocated_peak_bytes;
    let left = format!("Timeline by {by} · peak {} bytes at event {}", count(peak), count(totals.peak_event));
    title(buffer, panel, &left, &LEGENDS, app.focus == Panel::Timeline, theme);

    let scale = app.scale(area.width * DOTS.0);
    let columns: Vec<Column> = (0..area.width * DOTS.0)
        .map(|column| {
            let (from, to) = scale.events(u64::from(column));
            Column {
                reserved: app.reserved.most(from, to),
                allocated: app.allocated.most(from, to),
                active: app.active.most(from, to),
            }
        })
        .collect();
    let most = columns.iter().map(|column| column.reserved).max().unwrap_or(0);
    chart::draw(buffer, area, &columns, most, [theme.active(), theme.allocated(), theme.reserved()]);

    let inside = areas.inside(Panel::Timeline);
    let figures = Rect { width: FIGURES_WIDTH.min(inside.width) - 1, ..inside };
    let at = |idx: u16| row(figures, idx);
    put_right(buffer, at(0), &size(most), theme.quiet());
    if area.height > 4 && most > 1 {
        put_right(buffer, at(area.height / 2), &size(most / 2), theme.quiet());
    }
    if area.height > 1 {
        put_right(buffer, at(area.height - 1), "0", theme.quiet());
    }
    put_right(buffer, at(area.height), "marks", theme.quiet());
    put_right(buffer, at(area.height + 1), by, theme.quiet());
    cursor(buffer, area, app, theme);
    marks(buffer, Rect { y: area.bottom(), height: 1, ..area }, app, theme);
    axis(buffer, Rect { y: area.bottom() + 1, height: 1, ..area }, app, theme);
}

/// The column of an event, if it is shown.
fn column(app: &App<'_>, area: Rect, event: u64) -> Option<u16> {
    let is_shown = (app.window.from..=app.window.to).contains(&event);
    let column = u16::try_from(app.scale(area.width).column(event)).ok()?;
    is_shown.then_some(area.x + column)
}

fn cursor(buffer: &mut Buffer, area: Rect, app: &App<'_>, theme: Theme) {
    let Some(x) = column(app, area, app.cursor()) else { return };
    for y in area.y..area.bottom() {
        if let Some(cell) = buffer.cell_mut((x, y)) {
            cell.set_symbol("│").set_style(theme.strong());
        }
    }
}

/// One character a column: what is rare stands before what is common.
fn marks(buffer: &mut Buffer, area: Rect, app: &App<'_>, theme: Theme) {
    let recording = app.recording;
    let in_window = recording.marks.partition_point(|mark| mark.event < app.window.from);
    let labels = recording.marks[in_window..].iter().take_while(|mark| mark.event <= app.window.to);
    let labels = labels.map(|mark| (mark.event, "'", theme.mark()));
    let peak = [(recording.totals.peak_event, "P", theme.peak())];
    let ooms = recording.ooms.iter().map(|oom| (oom.event, "!", theme.alarm()));
    for (event, symbol, style) in labels.chain(peak).chain(ooms) {
        if let Some(cell) = column(app, area, event).and_then(|x| buffer.cell_mut((x, area.y))) {
            cell.set_symbol(symbol).set_style(style);
        }
    }
}

/// What the ends stand for, and the cursor.
fn axis(buffer: &mut Buffer, area: Rect, app: &App<'_>, theme: Theme) {
    let label = |event: u64| match app.axis {
        Axis::Event => count(event),
        Axis::Time => app.time_since_start(event).map_or_else(|| count(event), duration),
    };
    put(buffer, area, &label(app.window.from), theme.quiet());
    put_right(buffer, area, &label(app.window.to), theme.quiet());
    let Some(x) = column(app, area, app.cursor()) else { return };
    let text = format!(" ▲ {} ", label(app.cursor()));
    let width = u16::try_from(Span::raw(text.as_str()).width()).unwrap_or(area.width).min(area.width);
    let start = x.saturating_sub(1).clamp(area.x, area.right() - width);
    // At the right end the figure stands before its arrow.
    let text = if start + 1 < x { format!(" {} ▲ ", label(app.cursor())) } else { text };
    let start = if start + 1 < x { (x + 2).min(area.right() + 1).saturating_sub(width) } else { start };
    let start = start.max(area.x);
    put(buffer, Rect { x: start, width: area.right() - start, ..area }, text.trim_end(), Style::new());
}

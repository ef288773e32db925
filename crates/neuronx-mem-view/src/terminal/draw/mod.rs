//! One screen from the state. Changes nothing and remembers nothing.

mod chart;
mod details;
mod help;
mod map;
mod stacks;
mod timeline;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;

use super::app::{App, PromptKind};
use super::axis::Axis;
use super::layout::{Areas, MIN_HEIGHT, MIN_WIDTH, Panel};
use super::text::{count, counted, duration, inert, size};
use super::theme::Theme;
use crate::{EventKind, Origin};

/// From so many columns on, names are written out.
const WIDE: u16 = 100;

/// Draws the viewer on a whole frame.
pub fn draw(frame: &mut Frame<'_>, app: &App<'_>) {
    let area = frame.area();
    render(frame.buffer_mut(), area, app);
}

/// Draws the viewer on a part of a buffer.
pub(super) fn render(buffer: &mut Buffer, area: Rect, app: &App<'_>) {
    let theme = Theme::new(app.options.is_coloured);
    let Some(areas) = app.areas(area) else {
        let (width, height) = (area.width, area.height);
        let line = format!("{MIN_WIDTH}x{MIN_HEIGHT} needed, {width}x{height} here; q quits");
        if height > 0 {
            put(buffer, area, &line, theme.strong());
        }
        return;
    };
    header(buffer, &areas, app, theme);
    if app.is_help {
        let body = Rect { y: areas.header.bottom(), height: area.height - 3, ..area };
        help::draw(buffer, body, theme);
    } else {
        timeline::draw(buffer, &areas, app, theme);
        map::draw(buffer, &areas, app, theme);
        stacks::draw(buffer, &areas, app, theme);
        details::draw(buffer, &areas, app, theme);
    }
    footer(buffer, areas.footer, app, theme);
}

fn header(buffer: &mut Buffer, areas: &Areas, app: &App<'_>, theme: Theme) {
    let (recording, area) = (app.recording, areas.header);
    let name = recording.name.rsplit('/').next().unwrap_or_default();
    let mut facts = vec![inert(name), counted(app.n_events(), "event")];
    let notes = [
        (recording.totals.n_ooms, "out of memory"),
        (recording.n_dropped, "lost before the first"),
        (recording.n_skipped, "lines left out"),
    ];
    facts.extend(notes.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(*n))));
    let width = u64::from(areas.chart().width);
    let n_shown = app.window.n_shown();
    if width > 0 && app.axis == Axis::Time {
        facts.push("1 column: the most of its events".to_owned());
    } else if width > 0 && n_shown > width {
        facts.push(format!("1 column: the most of {} events", count(n_shown.div_ceil(width))));
    }
    facts.push(origin(app));
    facts.extend(recording.device_total_bytes.map(|bytes| format!("device memory {}", size(bytes))));
    put(buffer, row(area, 0), &format!(" {}", facts.join(" · ")), theme.strong());
    put(buffer, row(area, 1), &format!(" {}", now(app, area.width)), Style::new());
}

/// What the input is, in a few words.
fn origin(app: &App<'_>) -> String {
    match &app.recording.origin {
        Origin::Replay(_) => "replayed".to_owned(),
        Origin::Snapshot { is_own, device_idx, n_inferred } => {
            let whose = if *is_own { "" } else { " of PyTorch" };
            let inferred = match n_inferred {
                0 => String::new(),
                n => format!(", {} block sizes worked out", count(*n)),
            };
            format!("snapshot{whose}, device {device_idx}{inferred}")
        }
    }
}

/// The event looked at, and the sums after it.
fn now(app: &App<'_>, width: u16) -> String {
    let cursor = app.cursor();
    let subject = app.recording.events.subject(cursor).and_then(|id| app.recording.allocations.get(id));
    let bytes = subject.map_or(String::new(), |it| format!(" {}", size(it.bytes)));
    let what = match app.recording.events.kind(cursor) {
        None => "before all events".to_owned(),
        Some(EventKind::Allocate) => format!("allocate{bytes}"),
        Some(EventKind::Free) => format!("free{bytes}"),
        Some(EventKind::RecordStream) => format!("record stream{bytes}"),
        Some(EventKind::Synchronize) => "synchronize".to_owned(),
        Some(EventKind::Mark) => "mark".to_owned(),
        Some(EventKind::Segment) => "segment".to_owned(),
        Some(EventKind::OutOfMemory) => "OUT OF MEMORY".to_owned(),
        Some(EventKind::Other) => "nothing shown".to_owned(),
    };
    let time = app.time_since_start(cursor).filter(|_| width >= WIDE);
    let time = time.map_or(String::new(), |us| format!(" at {}", duration(us)));
    let names = if width < WIDE { ["res", "alloc", "act"] } else { ["reserved", "allocated", "active"] };
    let sums = names.iter().zip([&app.reserved, &app.allocated, &app.active]);
    let sums: Vec<String> = sums.map(|(name, sum)| format!("{name} {}", size(sum.at(cursor)))).collect();
    format!("event {}{time}: {what} · {}", count(cursor), sums.join(" · "))
}

fn footer(buffer: &mut Buffer, area: Rect, app: &App<'_>, theme: Theme) {
    if let Some(prompt) = &app.prompt {
        let (name, hint) = match prompt.kind {
            PromptKind::Search => ("/", "a mark, stack, 0x address or trace id"),
            PromptKind::Filter => ("filter: ", super::filter::SYNTAX),
        };
        let typed = inert(&prompt.text);
        let line = format!(" {name}{typed}_");
        // What is typed last stays in sight.
        let n_beyond = Span::raw(line.as_str()).width().saturating_sub(usize::from(area.width));
        let line: String = line.chars().skip(n_beyond).collect();
        let width = put(buffer, area, &line, theme.strong());
        let rest = Rect { x: area.x + width, width: area.width - width, ..area };
        put(buffer, rest, &format!("  ({hint})"), theme.quiet());
    } else if !app.message.is_empty() {
        put(buffer, area, &format!(" {}", app.message), theme.peak());
    } else if app.is_help {
        put(buffer, area, " any key: back · q quit", theme.quiet());
    } else {
        let aside = if app.focus == Panel::Map { "←→ block" } else { "←→ time" };
        let rows = if app.focus == Panel::Timeline { "↑↓ event" } else { "↑↓ row" };
        let always = "? help · q quit ";
        let width = area.width - u16::try_from(always.chars().count()).unwrap_or(0);
        let line = format!(" {aside} · {rows} · p peak · o OOM · m mark · / search · f filter · Tab panel");
        let hints = [line.as_str(), line.trim_end_matches(" · f filter · Tab panel")];
        let fitting = hints.iter().find(|line| Span::raw(**line).width() < usize::from(width));
        put(buffer, Rect { width, ..area }, fitting.unwrap_or(&hints[1]), theme.quiet());
        put_right(buffer, area, always, theme.quiet());
    }
}

/// Writes a text on the first row of an area; one that is cut ends in `…`. Returns the columns used.
fn put(buffer: &mut Buffer, area: Rect, text: &str, style: Style) -> u16 {
    if area.is_empty() {
        return 0;
    }
    let (end, _) = buffer.set_stringn(area.x, area.y, text, usize::from(area.width), style);
    if Span::raw(text).width() > usize::from(area.width)
        && let Some(cell) = buffer.cell_mut((area.right() - 1, area.y))
    {
        cell.set_symbol("…");
        return area.width;
    }
    end.saturating_sub(area.x)
}

/// Writes a text at the right end of the first row of an area.
fn put_right(buffer: &mut Buffer, area: Rect, text: &str, style: Style) {
    let width = u16::try_from(Span::raw(text).width()).unwrap_or(u16::MAX).min(area.width);
    put(buffer, Rect { x: area.right() - width, width, ..area }, text, style);
}

/// A row of an area, from 0; empty beyond the last.
fn row(area: Rect, idx: u16) -> Rect {
    let height = u16::from(idx < area.height);
    Rect { y: area.y + idx.min(area.height), height, ..area }
}

/// The title line of a panel: heavy where the keys work. Of the right texts the first that fits is shown.
fn title(buffer: &mut Buffer, area: Rect, left: &str, right: &[&str], is_focused: bool, theme: Theme) {
    let area = row(area, 0);
    let style = theme.title(is_focused);
    let line = if is_focused { "━" } else { "─" };
    put(buffer, area, &line.repeat(usize::from(area.width)), style);
    let inner = Rect { x: area.x + 1.min(area.width), width: area.width.saturating_sub(2), ..area };
    let used = put(buffer, inner, &format!(" {left} "), if is_focused { style } else { Style::new() });
    let free = usize::from(inner.width - used);
    if let Some(right) = right.iter().find(|right| Span::raw(**right).width() + 3 <= free) {
        put_right(buffer, inner, &format!(" {right} "), Style::new());
    }
}

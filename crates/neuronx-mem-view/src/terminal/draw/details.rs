//! The panel of one allocation: size, address, stream, life, stack. Without one it tells of the event.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;

use super::super::app::App;
use super::super::layout::{Areas, Panel};
use super::super::text::{count, counted, duration, inert, size, whole_frame};
use super::super::theme::Theme;
use super::{put, row, title};
use crate::{Allocation, AllocationId, STILL_LIVE};

/// Lines of a message of the allocator.
const MAX_MESSAGE_LINES: usize = 40;

pub(super) fn draw(buffer: &mut Buffer, areas: &Areas, app: &App<'_>, theme: Theme) {
    let (panel, inside) = (areas.panel(Panel::Details), areas.inside(Panel::Details));
    if panel.is_empty() {
        return;
    }
    let id = app.shown_allocation();
    let it = id.and_then(|id| Some((id, app.recording.allocations.get(id)?)));
    let (left, right) = match (it, app.selected()) {
        (Some((id, _)), Some(_)) => (format!("Allocation {} · selected", name(id)), "Esc: follow the cursor"),
        (Some((id, _)), None) => (format!("Allocation {} · of this event", name(id)), "b birth, d death"),
        (None, _) => ("This event".to_owned(), "no allocation"),
    };
    title(buffer, panel, &left, &[right], app.focus == Panel::Details, theme);
    let (fixed, moving) = match it {
        Some((id, it)) => (facts(app, id, &it, usize::from(inside.width)), stack(app, &it)),
        None => (Vec::new(), notes(app, usize::from(inside.width).saturating_sub(2))),
    };
    let n_fixed = u16::try_from(fixed.len()).unwrap_or(u16::MAX).min(inside.height);
    for (idx, line) in (0..inside.height).zip(&fixed) {
        put(buffer, row(inside, idx), &format!(" {line}"), Style::new());
    }
    let rest = Rect { y: inside.y + n_fixed, height: inside.height - n_fixed, ..inside };
    let first = app.details_row.min(moving.len().saturating_sub(1));
    for (idx, line) in (0..rest.height).zip(moving.iter().skip(first)) {
        put(buffer, row(rest, idx), &format!(" {line}"), theme.quiet());
    }
}

fn name(id: AllocationId) -> String {
    format!("#{}", count(u64::from(id.0)))
}

/// What is known of an allocation, on as many lines as its parts need.
fn facts(app: &App<'_>, id: AllocationId, it: &Allocation, width: usize) -> Vec<String> {
    let mut parts = vec![format!("{} bytes ({})", count(it.bytes), size(it.bytes))];
    if it.block_bytes == 0 {
        parts.push("no block".to_owned());
    } else {
        parts.push(format!("block of {} bytes", count(it.block_bytes)));
        parts.push(format!("at {:#x}", it.address));
    }
    parts.push(format!("stream {}", it.stream));
    parts.extend(it.trace_id.map(|id| format!("trace id {id}")));
    let life = life(app, id, it);
    let mut lines = joined(&parts, width);
    lines.extend(joined(&life, width));
    lines
}

fn life(app: &App<'_>, id: AllocationId, it: &Allocation) -> Vec<String> {
    let now = app.cursor();
    let request = app.pending.request(id);
    let state = match () {
        () if now < it.birth => "not born yet",
        () if now >= it.death => "gone",
        () if app.pending.is_waiting(id, now) => "pending",
        () => "live",
    };
    let at =
        |event: u64| app.time_since_start(event).map_or(String::new(), |us| format!(" at {}", duration(us)));
    let born = match it.birth {
        0 => "born before the first event".to_owned(),
        birth => format!("born at event {}{}", count(birth), at(birth)),
    };
    let mut parts = vec![state.to_owned(), born];
    parts.extend(request.map(|event| format!("free asked for at event {}", count(event))));
    if it.death == STILL_LIVE {
        parts.push("never freed".to_owned());
    } else {
        parts.push(format!("freed at event {}{}", count(it.death), at(it.death)));
    }
    let end = it.death.min(app.n_events());
    let time = app.time_since_start(end).zip(app.time_since_start(it.birth));
    let time =
        time.map_or(String::new(), |(end, start)| format!(", {}", duration(end.saturating_sub(start))));
    let verb = if it.death == STILL_LIVE { "live for" } else { "lived" };
    parts.push(format!("{verb} {}{time}", counted(end.saturating_sub(it.birth), "event")));
    parts
}

fn stack(app: &App<'_>, it: &Allocation) -> Vec<String> {
    let sites = &app.recording.sites;
    if !sites.has_stack(it.site) {
        return vec![super::super::text::site(sites, it.site, false)];
    }
    sites.frames(it.site).iter().map(whole_frame).collect()
}

/// What stands beside the event: marks, and what the allocator said.
fn notes(app: &App<'_>, width: usize) -> Vec<String> {
    let now = app.cursor();
    let mut lines: Vec<String> = Vec::new();
    for oom in app.recording.ooms.iter().filter(|oom| oom.event == now) {
        let what = format!("out of memory: {} bytes ({}) asked for", count(oom.bytes), size(oom.bytes));
        let free = oom.device_free_bytes.map(|free| format!("{} free on the device", size(free)));
        lines.extend(wrapped(&[vec![what], free.into_iter().collect()].concat(), " · ", width));
        for line in oom.message.lines().take(MAX_MESSAGE_LINES) {
            let words: Vec<String> = line.split(' ').map(inert).collect();
            lines.extend(wrapped(&words, " ", width));
        }
    }
    let start = app.recording.marks.partition_point(|mark| mark.event < now);
    let here = app.recording.marks[start..].iter().take_while(|mark| mark.event == now);
    lines.extend(here.take(MAX_MESSAGE_LINES).map(|mark| format!("{:?}: {}", mark.kind, inert(&mark.label))));
    if lines.is_empty() {
        lines
            .push("no allocation belongs to it; Tab to the segments and use ←→ to select a block".to_owned());
    }
    lines
}

fn joined(parts: &[String], width: usize) -> Vec<String> {
    wrapped(parts, " · ", width.saturating_sub(1))
}

/// Parts on lines no wider than that, as far as the parts let it.
fn wrapped(parts: &[String], between: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        let fits = |line: &String| {
            Span::raw(line.as_str()).width() + between.len() + Span::raw(part.as_str()).width() <= width
        };
        match lines.last_mut().filter(|line| fits(line)) {
            Some(line) => {
                line.push_str(between);
                line.push_str(part);
            }
            None => lines.push(part.clone()),
        }
    }
    lines
}

//! The page of keys. Says what `app::keys` does.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::theme::Theme;
use super::{put, row, title};

/// Keys and what they do; a heading has no keys. On a wide screen in two columns, split at a heading.
const LINES: [(&str, &str); 34] = [
    ("", "Time"),
    ("← → h l", "a column of the chart back, on"),
    ("↑ ↓ k j", "in the timeline: an event back, on"),
    (", .", "an event back, on; in every panel"),
    ("PgUp PgDn", "ten columns; in lists ten rows"),
    ("Home End", "first event, last event"),
    ("p", "the peak of allocated memory"),
    ("o O", "next, previous out of memory"),
    ("m M", "next, previous mark"),
    ("b d", "birth, death of the shown allocation"),
    ("t", "axis by event or by time"),
    ("+ - 0", "closer, farther, the whole run"),
    ("", "Panels"),
    ("Tab S-Tab", "next, previous panel"),
    ("z", "this panel alone, and back"),
    ("s", "segments to scale, or full width each"),
    ("a", "stacks at the cursor or at the peak"),
    ("", "Blocks and stacks"),
    ("↑ ↓", "row: segment, stack, frame"),
    ("← →", "in the segments: next block, previous"),
    ("g G", "first row, last row"),
    ("Enter", "on a stack: its largest allocation"),
    ("/ n N", "search, next, previous"),
    ("f", "filter: words of the stack, >1MiB, stream=3"),
    ("Esc", "let go of selection, filter, panel"),
    ("? q", "this help, quit"),
    ("", "Signs"),
    ("⣿ ⢕ ⠍", "active, allocated beyond it, reserved"),
    ("P ! '", "peak, out of memory, mark"),
    ("█ ▒ ░", "live: full, half and more, less"),
    ("· x", "free; freed, but a stream uses it"),
    ("- @", "filtered out; the shown allocation"),
    ("mouse", "click: move, select; wheel: zoom, rows"),
    ("", ""),
];

/// Where the second column begins.
const SPLIT: usize = 17;

pub(super) fn draw(buffer: &mut Buffer, area: Rect, theme: Theme) {
    title(buffer, area, "Keys", &[], true, theme);
    let body =
        Rect { x: area.x + 1, y: area.y + 1, width: area.width - 1, height: area.height.saturating_sub(1) };
    let half = body.width / 2;
    column(buffer, Rect { width: half - 1, ..body }, &LINES[..SPLIT], theme);
    column(buffer, Rect { x: body.x + half, width: body.width - half, ..body }, &LINES[SPLIT..], theme);
}

fn column(buffer: &mut Buffer, area: Rect, lines: &[(&str, &str)], theme: Theme) {
    for (idx, (keys, what)) in (0..area.height).zip(lines) {
        let line = row(area, idx);
        if keys.is_empty() {
            put(buffer, line, what, theme.strong());
            continue;
        }
        let used = put(buffer, Rect { width: 10.min(line.width), ..line }, keys, theme.peak());
        debug_assert!(used < 10, "{keys} is too wide");
        let rest = Rect { x: line.x + 10.min(line.width), width: line.width.saturating_sub(10), ..line };
        put(buffer, rest, what, Style::new());
    }
}

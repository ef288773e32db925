//! The page of keys. Says what `app::keys` does.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::theme::Theme;
use super::{put, row, title};

/// Keys and what they do; a heading has no keys. On a wide screen in two columns, split at a heading.
const LINES: [(&str, &str); 33] = [
    ("", "Time"),
    ("← → h l", "a column of the chart"),
    ("↑ ↓ k j", "an event, in the timeline"),
    (", .", "an event, in any panel"),
    ("PgUp PgDn", "ten columns, ten rows"),
    ("Home End", "first event, last event"),
    ("p", "peak of allocated memory"),
    ("o O", "OOM: next, previous"),
    ("m M", "mark: next, previous"),
    ("b d", "birth, death of the block"),
    ("t", "axis by event or by time"),
    ("+ - 0", "closer, farther, all"),
    ("", "Panels"),
    ("Tab S-Tab", "next, previous panel"),
    ("z", "this panel alone, and back"),
    ("s", "segments to scale or not"),
    ("a", "stacks at cursor or peak"),
    ("", "Blocks and stacks"),
    ("↑ ↓ g G", "row; first row, last row"),
    ("← →", "block, in the segments"),
    ("Enter", "largest block of a stack"),
    ("/ n N", "search: next, previous"),
    ("f", "filter: words >1MiB stream=3"),
    ("Esc", "let go of block, filter, z"),
    ("? q", "this help, quit"),
    ("", "Signs"),
    ("⣿ ⢕ ⠍", "active, allocated, reserved"),
    ("P ! '", "peak, out of memory, mark"),
    ("█ ▒ ░", "live: all, half, less of it"),
    ("· x", "free; freed but still used"),
    ("- @", "filtered out; block below"),
    ("mouse", "click: go, select"),
    ("wheel", "zoom; rows of a list"),
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

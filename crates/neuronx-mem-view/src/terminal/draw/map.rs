//! The panel of segments at the cursor, a row each. Free, pending and live differ in shape.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::app::App;
use super::super::layout::{Areas, Panel, first_row};
use super::super::map_bar::{Bar, label_width};
use super::super::text::{counted, size};
use super::super::theme::Theme;
use super::{put, row, title};

/// Legends, the first that fits.
const LEGENDS: [&str; 4] = [
    "█▒░ live · free x pending - filtered out @ shown",
    "█ live · free x pending @ shown",
    "█ live · free x pending",
    "█ live · free",
];

pub(super) fn draw(buffer: &mut Buffer, areas: &Areas, app: &App<'_>, theme: Theme) {
    let (panel, inside) = (areas.panel(Panel::Map), areas.inside(Panel::Map));
    if panel.is_empty() {
        return;
    }
    let map = &app.moment().map;
    let scale = if app.is_to_scale { ", to scale" } else { "" };
    let left = format!("{}{scale}", counted(map.len() as u64, "segment"));
    title(buffer, panel, &left, &LEGENDS, app.focus == Panel::Map, theme);
    if map.is_empty() {
        put(buffer, row(inside, 0), " nothing is reserved here", theme.quiet());
    }
    let first = first_row(app.map_row(), map.len(), usize::from(inside.height));
    let label = label_width(inside.width);
    for idx in 0..inside.height {
        let line = row(inside, idx);
        let Some(bar) = Bar::of(app, first + usize::from(idx), line.width - label) else { break };
        let is_here = first + usize::from(idx) == app.map_row();
        let style = if is_here { theme.strong() } else { Style::new() };
        put(buffer, Rect { width: label, ..line }, &figures(&bar, label, is_here), style);
        for (x, cell) in (line.x + label..).zip(bar.cells(app)) {
            let shape = cell.shape();
            if let Some(cell) = buffer.cell_mut((x, line.y)) {
                cell.set_symbol(shape.symbol()).set_style(theme.cell(shape));
            }
        }
    }
}

/// `> 64.0 MiB large    97 %`.
fn figures(bar: &Bar<'_>, width: u16, is_here: bool) -> String {
    let held = bar.held();
    let segment = &held.segment;
    let kind = match (segment.is_private, segment.is_small) {
        (true, _) => "private",
        (false, Some(true)) => "small",
        (false, Some(false)) => "large",
        (false, None) => "",
    };
    let live: u64 = held.blocks.iter().map(|block| block.bytes).sum();
    let percent = u128::from(live) * 100 / u128::from(segment.bytes.max(1));
    let pointer = if is_here { ">" } else { " " };
    let bytes = size(segment.bytes);
    match width {
        40.. => format!("{pointer}{:#014x} {bytes:>10} {kind:<7} {percent:>3}%", segment.address),
        25.. => format!("{pointer}{bytes:>10} {kind:<7} {percent:>3}%"),
        _ => format!("{pointer}{bytes:>10} {:<1} {percent:>3}%", kind.get(..1).unwrap_or(" ")),
    }
}

//! The panel of stacks that hold most, at the cursor or at the peak.

use ratatui::buffer::Buffer;
use ratatui::style::Style;

use super::super::app::App;
use super::super::layout::{Areas, Panel, first_row};
use super::super::text::{count, counted, percent, site, size};
use super::super::theme::Theme;
use super::{put, row, title};

/// A narrower panel has no column of counts.
const COUNTS_FROM_WIDTH: u16 = 50;

pub(super) fn draw(buffer: &mut Buffer, areas: &Areas, app: &App<'_>, theme: Theme) {
    let (panel, inside) = (areas.panel(Panel::Stacks), areas.inside(Panel::Stacks));
    if panel.is_empty() {
        return;
    }
    let top = app.top();
    let left = match (app.is_at_peak, app.filter.is_all()) {
        (false, true) => "Top stacks at the cursor",
        (true, true) => "Top stacks at the peak",
        (false, false) => "Filtered stacks at the cursor",
        (true, false) => "Filtered stacks at the peak",
    };
    let passing = format!("{} in {}", size(top.block_bytes), counted(top.n_allocations, "block"));
    let other = if app.is_at_peak { "a: cursor" } else { "a: peak" };
    title(buffer, panel, left, &[&passing, other], app.focus == Panel::Stacks, theme);
    if inside.height < 2 {
        return;
    }
    let has_counts = inside.width >= COUNTS_FROM_WIDTH;
    let n = |text: &str| if has_counts { format!(" {text:>9}") } else { String::new() };
    let heads = format!(" {:>10} {:>6}{}  stack", "held", "share", n("blocks"));
    put(buffer, row(inside, 0), &heads, theme.quiet());
    if top.rows.is_empty() {
        put(buffer, row(inside, 1), "    nothing", theme.quiet());
    }
    let here = app.shown_stack_row();
    let first = first_row(here, top.rows.len(), usize::from(inside.height - 1));
    for (idx, (at, held)) in (1..inside.height).zip(top.rows.iter().enumerate().skip(first)) {
        let is_here = at == here;
        let line = format!(
            "{}{:>10} {:>6}{}  {}",
            if is_here { ">" } else { " " },
            size(held.block_bytes),
            percent(held.block_bytes, top.block_bytes),
            n(&count(held.n_allocations)),
            site(&app.recording.sites, held.site, !has_counts),
        );
        let is_at_work = is_here && app.focus == Panel::Stacks;
        let style = if is_at_work { theme.strong() } else { Style::new() };
        put(buffer, row(inside, idx), &line, style);
    }
}

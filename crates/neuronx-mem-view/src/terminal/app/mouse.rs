//! What clicks do: whatever lies under the pointer is worked at.

use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::super::layout::{Areas, Panel, first_row};
use super::super::map_bar::{Bar, label_width};
use super::App;

impl App<'_> {
    /// Does what a click, a drag or the wheel stands for.
    pub fn on_mouse(&mut self, mouse: MouseEvent) {
        let Some(areas) = self.own_areas() else { return };
        let position = Position { x: mouse.column, y: mouse.row };
        let Some(panel) = areas.panel_at(position).filter(|_| self.prompt.is_none()) else { return };
        match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) if self.is_help => self.is_help = false,
            _ if self.is_help => {}
            MouseEventKind::Down(MouseButton::Left) => {
                self.message.clear();
                self.focus = panel;
                self.click(&areas, panel, position);
            }
            MouseEventKind::Drag(MouseButton::Left) if panel == Panel::Timeline => {
                self.click(&areas, panel, position);
            }
            MouseEventKind::ScrollUp if panel == Panel::Timeline => self.zoom(true),
            MouseEventKind::ScrollDown if panel == Panel::Timeline => self.zoom(false),
            MouseEventKind::ScrollUp => self.step_rows(panel, -1),
            MouseEventKind::ScrollDown => self.step_rows(panel, 1),
            _ => {}
        }
    }

    fn click(&mut self, areas: &Areas, panel: Panel, position: Position) {
        let inside = areas.inside(panel);
        if !inside.contains(position) {
            return;
        }
        let row = usize::from(position.y - inside.y);
        match panel {
            Panel::Timeline => {
                let chart = areas.chart();
                let column = position.x.saturating_sub(chart.x);
                let (from, to) = self.scale(chart.width).events(u64::from(column));
                self.go_to(from + (to - from) / 2);
            }
            Panel::Map => {
                let n_rows = self.moment().map.len();
                let row = row + first_row(self.map_row(), n_rows, usize::from(inside.height));
                let label = label_width(inside.width);
                let Some(bar) = Bar::of(self, row, inside.width - label) else { return };
                let column = position.x.saturating_sub(inside.x + label);
                self.select_at(row, bar.offset(column));
            }
            Panel::Stacks => {
                let n_rows = self.top().rows.len();
                let shown = usize::from(inside.height.saturating_sub(1));
                let Some(row) = row.checked_sub(1) else { return };
                let row = row + first_row(self.shown_stack_row(), n_rows, shown);
                self.stack_row = row.min(n_rows.saturating_sub(1));
            }
            Panel::Details => {}
        }
    }
}

//! Where each panel lies. Knows no contents; drawing and the mouse both ask here.

use ratatui::layout::{Position, Rect};

/// Fewest columns that show anything.
pub(super) const MIN_WIDTH: u16 = 60;

/// Fewest rows that show anything.
pub(super) const MIN_HEIGHT: u16 = 15;

/// Columns for the figures left of the chart.
pub(super) const FIGURES_WIDTH: u16 = 11;

/// A part of the screen that can be worked in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Panel {
    Timeline,
    Map,
    Stacks,
    Details,
}

impl Panel {
    /// In the order of the Tab key.
    pub(super) const ALL: [Self; 4] = [Self::Timeline, Self::Map, Self::Stacks, Self::Details];

    /// The one that many places on.
    pub(super) fn plus(self, n: usize) -> Self {
        let idx = Self::ALL.iter().position(|panel| *panel == self).unwrap_or(0);
        Self::ALL[(idx + n) % Self::ALL.len()]
    }
}

/// The areas of one screen. A panel that is hidden has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Areas {
    pub(super) header: Rect,
    pub(super) footer: Rect,
    panels: [Rect; 4],
}

impl Areas {
    /// Divides a screen; with `only` that panel has all of it. `None` when it is too small.
    pub(super) fn of(screen: Rect, only: Option<Panel>) -> Option<Self> {
        if screen.width < MIN_WIDTH || screen.height < MIN_HEIGHT {
            return None;
        }
        let rows = |y: u16, height: u16| Rect { y: screen.y + y, height, ..screen };
        let (header, footer) = (rows(0, 2), rows(screen.height - 1, 1));
        let body = screen.height - 3;
        let (timeline, details) = (share(body, 8) + 1, share(body, 5));
        let middle = rows(2 + timeline, body - timeline - details);
        let map_width = share(middle.width, 11);
        let map = Rect { width: map_width, ..middle };
        let stacks = Rect { x: middle.x + map_width + 1, width: middle.width - map_width - 1, ..middle };
        let mut panels = [rows(2, timeline), map, stacks, rows(2 + body - details, details)];
        if let Some(only) = only {
            panels = Panel::ALL.map(|panel| if panel == only { rows(2, body) } else { Rect::ZERO });
        }
        Some(Self { header, footer, panels })
    }

    /// The area of a panel, its title line included; empty when it is hidden.
    pub(super) fn panel(&self, panel: Panel) -> Rect {
        self.panels[panel as usize]
    }

    /// What is below the title line of a panel.
    pub(super) fn inside(&self, panel: Panel) -> Rect {
        let area = self.panel(panel);
        let n_title = area.height.min(1);
        Rect { y: area.y + n_title, height: area.height - n_title, ..area }
    }

    /// The cells of the chart; below it are a row of marks and one of the axis.
    pub(super) fn chart(&self) -> Rect {
        let inside = self.inside(Panel::Timeline);
        Rect {
            x: inside.x + FIGURES_WIDTH.min(inside.width),
            width: inside.width.saturating_sub(FIGURES_WIDTH),
            height: inside.height.saturating_sub(2),
            ..inside
        }
    }

    /// The panel at a position.
    pub(super) fn panel_at(&self, position: Position) -> Option<Panel> {
        Panel::ALL.into_iter().find(|panel| self.panel(*panel).contains(position))
    }
}

/// That many twentieths.
fn share(whole: u16, twentieths: u16) -> u16 {
    u16::try_from(u32::from(whole) * u32::from(twentieths) / 20).unwrap_or(whole)
}

/// The first row that a list shows so that one stays in sight, in the middle where it can.
pub(super) fn first_row(row: usize, n_rows: usize, height: usize) -> usize {
    row.saturating_sub(height / 2).min(n_rows.saturating_sub(height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_fill_the_screen_and_do_not_overlap() {
        for (width, height) in [(60, 15), (80, 24), (120, 40), (200, 60), (u16::MAX / 2, 1000)] {
            let screen = Rect { x: 0, y: 0, width, height };
            let areas = Areas::of(screen, None).expect("large enough");
            let [timeline, map, stacks, details] = areas.panels;
            assert_eq!(timeline.y, 2);
            assert_eq!(map.y, timeline.bottom());
            assert_eq!((map.y, map.height), (stacks.y, stacks.height));
            assert_eq!((stacks.x, stacks.right()), (map.right() + 1, width));
            assert_eq!((details.y, details.bottom()), (map.bottom(), height - 1));
            assert!(areas.chart().height >= 2 && map.height >= 3 && details.height >= 3, "{areas:?}");
            for panel in Panel::ALL {
                let one = Areas::of(screen, Some(panel)).expect("large enough");
                assert_eq!(one.panel(panel).height, height - 3);
                assert!(one.panel(panel.plus(1)).is_empty());
            }
        }
        assert_eq!(Areas::of(Rect { x: 0, y: 0, width: 59, height: 15 }, None), None);
        assert_eq!(Areas::of(Rect { x: 0, y: 0, width: 60, height: 14 }, None), None);
    }

    #[test]
    fn the_row_stays_in_sight() {
        assert_eq!([first_row(0, 100, 7), first_row(50, 100, 7), first_row(99, 100, 7)], [0, 47, 93]);
        assert_eq!(first_row(3, 4, 7), 0);
    }
}

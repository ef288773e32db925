//! A segment as a row of cells: which bytes each cell stands for, and what they hold. Knows no colours.

use super::app::App;
use super::moment::BlockState;
use crate::SegmentOnMap;

/// Columns for the figures left of a bar, by the width of the panel: with the address, with the kind
/// of segment in full, or with one letter for it.
pub(super) fn label_width(panel_width: u16) -> u16 {
    match panel_width {
        90.. => 40,
        60.. => 25,
        _ => 19,
    }
}

/// The bar of one segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bar<'a> {
    held: &'a SegmentOnMap,
    n_cells: u16,
}

/// Bytes of one cell, by what they hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CellFill {
    bytes: u64,
    live_bytes: u64,
    pending_bytes: u64,
    other_bytes: u64,
    is_selected: bool,
}

/// How a cell is drawn: told apart by shape alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellShape {
    Free,
    Sparse,
    Half,
    Full,
    Pending,
    Other,
    Selected,
}

impl<'a> Bar<'a> {
    /// The bar of a row of the map in so many columns; `None` when there is no such row.
    pub(super) fn of(app: &'a App<'_>, row: usize, width: u16) -> Option<Self> {
        let map = &app.moment().map;
        let held = map.get(row)?;
        let largest = map.iter().map(|held| held.segment.bytes).max().unwrap_or(0).max(1);
        let scaled = (u128::from(width) * u128::from(held.segment.bytes)).div_ceil(u128::from(largest));
        let n_cells = if app.is_to_scale { u16::try_from(scaled).unwrap_or(width) } else { width };
        Some(Self { held, n_cells: n_cells.max(1) })
    }

    /// The segment.
    pub(super) fn held(&self) -> &'a SegmentOnMap {
        self.held
    }

    /// Bytes from the start of the segment to the middle of a cell.
    pub(super) fn offset(&self, cell: u16) -> u64 {
        let half = 2 * u128::from(cell.min(self.n_cells - 1)) + 1;
        let bytes = u128::from(self.held.segment.bytes) * half / (2 * u128::from(self.n_cells));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// What each cell holds. O(blocks + cells).
    pub(super) fn cells(&self, app: &App<'_>) -> Vec<CellFill> {
        let n_cells = usize::from(self.n_cells);
        let total = u128::from(self.held.segment.bytes.max(1));
        let start_of =
            |cell: usize| u64::try_from(total * cell as u128 / n_cells as u128).unwrap_or(u64::MAX);
        let mut cells: Vec<CellFill> = (0..n_cells)
            .map(|cell| CellFill { bytes: start_of(cell + 1) - start_of(cell), ..CellFill::default() })
            .collect();
        for block in &self.held.blocks {
            let state = app.state_of(block.id);
            let start = block.address - self.held.segment.address;
            let end = start.saturating_add(block.bytes).min(self.held.segment.bytes);
            let first = u128::from(start) * n_cells as u128 / total;
            // Rounding may put the first byte one cell later than this says.
            let first = usize::try_from(first).unwrap_or(usize::MAX).saturating_sub(1);
            for (cell, fill) in cells.iter_mut().enumerate().skip(first) {
                if start_of(cell) >= end {
                    break;
                }
                let bytes = end.min(start_of(cell + 1)).saturating_sub(start.max(start_of(cell)));
                fill.add(state, bytes);
            }
        }
        cells
    }
}

impl CellFill {
    fn add(&mut self, state: BlockState, bytes: u64) {
        match state {
            BlockState::Live => self.live_bytes += bytes,
            BlockState::Pending => self.pending_bytes += bytes,
            BlockState::Other => self.other_bytes += bytes,
            BlockState::Selected => {
                self.live_bytes += bytes;
                self.is_selected |= bytes > 0;
            }
        }
    }

    /// What most of its bytes are, the rare things first.
    pub(super) fn shape(&self) -> CellShape {
        let shown = self.live_bytes + self.pending_bytes;
        if self.is_selected {
            CellShape::Selected
        } else if self.pending_bytes > 0 && self.pending_bytes >= self.live_bytes {
            CellShape::Pending
        } else if shown == 0 {
            if self.other_bytes > 0 { CellShape::Other } else { CellShape::Free }
        } else if shown / 7 >= self.bytes / 8 {
            CellShape::Full
        } else if shown >= self.bytes / 2 {
            CellShape::Half
        } else {
            CellShape::Sparse
        }
    }
}

impl CellShape {
    /// The character that stands for it.
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Self::Free => "·",
            Self::Sparse => "░",
            Self::Half => "▒",
            Self::Full => "█",
            Self::Pending => "x",
            Self::Other => "-",
            Self::Selected => "@",
        }
    }
}

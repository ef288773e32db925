//! The timeline for a page: every sum, or of a long one the smallest and largest of each tile. Never
//! loses a peak.

use crate::Timeline;

/// Columns for the page; of equal length, one place a point.
#[derive(Clone, Debug, Default)]
pub(super) struct Tiles {
    /// Events a point stands for; 1 when every event has its own.
    pub(super) tile_events: usize,
    /// Smallest and largest reserved, allocated, active bytes in turn; with one event a point, only the
    /// three themselves.
    pub(super) columns: Vec<(&'static str, Vec<f64>)>,
    /// Microseconds since the first time at each tile's first event; empty without times.
    pub(super) times: Vec<f64>,
}

impl Tiles {
    pub(super) fn of(timeline: &Timeline, max_points: usize) -> Self {
        let tile_events = timeline.reserved_bytes.len().div_ceil(max_points.max(1)).max(1);
        let mut columns = Vec::new();
        let sums = [
            ("reserved", "reserved_low", &timeline.reserved_bytes),
            ("allocated", "allocated_low", &timeline.allocated_bytes),
            ("active", "active_low", &timeline.active_bytes),
        ];
        for (name, low_name, sums) in sums {
            let tiles = sums.chunks(tile_events);
            columns.push((name, tiles.clone().map(largest).collect()));
            if tile_events > 1 {
                columns.push((low_name, tiles.map(smallest).collect()));
            }
        }
        let first = timeline.times_us.first().copied().unwrap_or(0);
        let times = timeline.times_us.iter().step_by(tile_events);
        Self { tile_events, columns, times: times.map(|time| number(time - first)).collect() }
    }
}

/// The largest of each tile of one more column.
pub(super) fn peaks(sums: &[u64], tile_events: usize) -> Vec<f64> {
    sums.chunks(tile_events).map(largest).collect()
}

/// As a number of JavaScript: exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "beyond 8 PiB the page may round")]
pub(super) fn number(value: u64) -> f64 {
    value as f64
}

fn largest(tile: &[u64]) -> f64 {
    number(tile.iter().copied().max().unwrap_or(0))
}

fn smallest(tile: &[u64]) -> f64 {
    number(tile.iter().copied().min().unwrap_or(0))
}

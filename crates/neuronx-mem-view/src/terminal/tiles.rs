//! The most of a column over any range of events, without going through all of them. Knows no screen.

/// Events of a tile.
const TILE: usize = 512;

/// Maxima of the tiles of one column of the timeline.
#[derive(Clone, Debug)]
pub(super) struct Tiles<'a> {
    column: &'a [u64],
    most: Vec<u64>,
}

impl<'a> Tiles<'a> {
    /// O(events), once.
    pub(super) fn of(column: &'a [u64]) -> Self {
        let most = column.chunks(TILE).map(|tile| tile.iter().copied().max().unwrap_or(0)).collect();
        Self { column, most }
    }

    /// The value after an event; 0 beyond the last. O(1).
    pub(super) fn at(&self, event: u64) -> u64 {
        usize::try_from(event).ok().and_then(|idx| self.column.get(idx)).copied().unwrap_or(0)
    }

    /// The most from one event to another, both included. O(events / 512 + 1024).
    pub(super) fn most(&self, from: u64, to: u64) -> u64 {
        let end =
            usize::try_from(to).map_or(self.column.len(), |to| self.column.len().min(to.saturating_add(1)));
        let start = usize::try_from(from).map_or(end, |from| from.min(end));
        let most = |values: &[u64]| values.iter().copied().max().unwrap_or(0);
        let (first, last) = (start.div_ceil(TILE), end / TILE);
        if first >= last {
            return most(&self.column[start..end]);
        }
        let edges = most(&self.column[start..first * TILE]).max(most(&self.column[last * TILE..end]));
        edges.max(most(&self.most[first..last]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_say_what_all_values_say() {
        let column: Vec<u64> = (0..3000_u64).map(|idx| idx.wrapping_mul(0x9e37_79b9) % 10_007).collect();
        let tiles = Tiles::of(&column);
        for from in (0..3000).step_by(97) {
            for to in (from..3100).step_by(61) {
                let want = column[from..column.len().min(to + 1)].iter().max().copied().unwrap_or(0);
                assert_eq!(tiles.most(from as u64, to as u64), want, "{from}..={to}");
            }
        }
        assert_eq!(tiles.most(5000, 6000), 0);
        assert_eq!([tiles.at(7), tiles.at(3000)], [column[7], 0]);
    }
}

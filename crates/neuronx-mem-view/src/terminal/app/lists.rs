//! Moves in the lists: segments and their blocks, stacks, the lines of the details.

use super::super::layout::Panel;
use super::App;
use crate::AllocationId;

impl App<'_> {
    /// Selects an allocation, or lets the details follow the cursor again.
    pub(super) fn select(&mut self, id: Option<AllocationId>) {
        if self.selected != id {
            self.selected = id;
            self.details_row = 0;
        }
        self.follow();
    }

    /// Works at the segment of the shown allocation.
    pub(super) fn follow(&mut self) {
        let it = self.shown_allocation().and_then(|id| self.recording.allocations.get(id));
        if let Some(it) = it.filter(|it| it.block_bytes > 0) {
            self.map_address = it.address;
        }
    }

    /// Moves by rows in a panel; in the timeline by events.
    pub(super) fn step_rows(&mut self, panel: Panel, by: i64) {
        let moved = |row: usize, n_rows: usize| {
            let row = (row as u64).saturating_add_signed(by);
            usize::try_from(row).unwrap_or(usize::MAX).min(n_rows.saturating_sub(1))
        };
        match panel {
            Panel::Timeline => self.step_events(by),
            Panel::Map => self.select_segment(moved(self.map_row(), self.moment().map.len())),
            Panel::Stacks => self.stack_row = moved(self.shown_stack_row(), self.top().rows.len()),
            Panel::Details => self.details_row = moved(self.details_row, self.n_details_rows()),
        }
    }

    /// The row of the table of stacks that is worked at; the table may have become shorter.
    pub(in super::super) fn shown_stack_row(&self) -> usize {
        self.stack_row.min(self.top().rows.len().saturating_sub(1))
    }

    /// Lines of the stack that the details show.
    fn n_details_rows(&self) -> usize {
        let sites = &self.recording.sites;
        let site = self.shown_allocation().and_then(|id| self.recording.allocations.get(id));
        site.map_or(0, |it| sites.frames(it.site).len())
    }

    /// Works at a segment, and there at the block that lies as far in as the one before did.
    fn select_segment(&mut self, row: usize) {
        let (old_row, map) = (self.map_row(), &self.moment().map);
        let Some(held) = map.get(row) else { return };
        let (offset, of) = map.get(old_row).map_or((0, 1), |held| {
            let block = held.blocks.iter().find(|block| Some(block.id) == self.selected);
            let offset = block.map_or(0, |block| block.address - held.segment.address);
            (offset, held.segment.bytes.max(1))
        });
        let (address, bytes) = (held.segment.address, held.segment.bytes);
        let as_far_in = u128::from(bytes) * u128::from(offset) / u128::from(of);
        let wanted = address.saturating_add(u64::try_from(as_far_in).unwrap_or(bytes));
        let nearest = held.blocks.iter().min_by_key(|block| block.address.abs_diff(wanted));
        let id = nearest.map(|block| block.id);
        if id.is_some() {
            self.select(id);
        }
        self.map_address = address;
    }

    /// Selects a block of the segment worked at: the next one that passes the filter, or the one before.
    pub(super) fn step_blocks(&mut self, is_next: bool) {
        let row = self.map_row();
        let Some(held) = self.moment().map.get(row) else {
            self.message = "nothing is reserved here".to_owned();
            return;
        };
        let at = held.blocks.iter().position(|block| Some(block.id) == self.shown_allocation());
        let (here, passes) =
            (at.unwrap_or(0), |idx: &usize| self.filter.passes(self.recording, held.blocks[*idx].id));
        let found = match (at, is_next) {
            (None, _) => (0..held.blocks.len()).find(passes),
            (Some(_), true) => (here + 1..held.blocks.len()).find(passes),
            (Some(_), false) => (0..here).rev().find(passes),
        };
        let address = held.segment.address;
        match found.map(|idx| held.blocks[idx].id) {
            Some(id) => {
                self.select(Some(id));
                self.map_address = address;
            }
            None => {
                let end = if is_next { "last" } else { "first" };
                self.message = format!("no further block here: this is the {end}");
            }
        }
    }

    /// Selects the block of a segment that lies at an offset, or the nearest.
    pub(super) fn select_at(&mut self, row: usize, offset: u64) {
        let Some(held) = self.moment().map.get(row) else { return };
        let (address, wanted) = (held.segment.address, held.segment.address.saturating_add(offset));
        let distance = |block: &&crate::BlockOnMap| {
            let end = block.address.saturating_add(block.bytes);
            if wanted < block.address { block.address - wanted } else { wanted.saturating_sub(end - 1) }
        };
        let nearest = held.blocks.iter().min_by_key(distance).map(|block| block.id);
        if nearest.is_some() {
            self.select(nearest);
        }
        self.map_address = address;
    }

    /// Selects the largest allocation of the stack worked at, where the table counts.
    pub(super) fn select_largest(&mut self) {
        let row = self.shown_stack_row();
        let Some(site) = self.top().rows.get(row).map(|row| row.site) else {
            self.message = "no stack is shown".to_owned();
            return;
        };
        if self.is_at_peak {
            self.go_to_peak();
        }
        let (all, cursor) = (&self.recording.allocations, self.cursor());
        let here = self
            .recording
            .live_at(cursor)
            .filter(|id| all.sites[id.0 as usize] == site && self.filter.passes(self.recording, *id));
        let largest = here.max_by_key(|id| (all.block_bytes[id.0 as usize], std::cmp::Reverse(*id)));
        self.select(largest);
    }
}

//! One page of the reserve: first fit over the units it is divided into.

use crate::PageRun;

#[derive(Debug)]
pub(super) struct Page<R> {
    run: R,
    unit_bytes: u64,
    /// One for each unit: taken or not.
    taken: Vec<bool>,
    n_free: usize,
}

impl<R: PageRun> Page<R> {
    pub(super) fn new(run: R, page_bytes: u64, unit_bytes: u64) -> Self {
        let n_units = usize::try_from(page_bytes / unit_bytes).unwrap_or(0);
        Self { run, unit_bytes, taken: vec![false; n_units], n_free: n_units }
    }

    /// The address of the first gap that is large enough.
    pub(super) fn take(&mut self, bytes: u64) -> Option<u64> {
        let n_units = self.units(bytes);
        if n_units > self.n_free {
            return None;
        }
        let mut start = 0;
        while start + n_units <= self.taken.len() {
            match self.taken[start..start + n_units].iter().rposition(|taken| *taken) {
                Some(last) => start += last + 1,
                None => {
                    self.taken[start..start + n_units].fill(true);
                    self.n_free -= n_units;
                    return Some(self.run.address() + start as u64 * self.unit_bytes);
                }
            }
        }
        None
    }

    /// False when the chunk is not of this page.
    pub(super) fn give_back(&mut self, address: u64, bytes: u64) -> bool {
        let n_units = self.units(bytes);
        let offset = address.checked_sub(self.run.address());
        let start = offset.and_then(|offset| usize::try_from(offset / self.unit_bytes).ok());
        let units = start.and_then(|start| self.taken.get_mut(start..start.checked_add(n_units)?));
        let Some(units) = units.filter(|units| units.iter().all(|taken| *taken)) else { return false };
        units.fill(false);
        self.n_free += n_units;
        true
    }

    pub(super) const fn free_bytes(&self) -> u64 {
        self.n_free as u64 * self.unit_bytes
    }

    pub(super) fn largest_free_bytes(&self) -> u64 {
        let gaps = self.taken.split(|taken| *taken).map(<[bool]>::len);
        gaps.max().unwrap_or(0) as u64 * self.unit_bytes
    }

    fn units(&self, bytes: u64) -> usize {
        usize::try_from(bytes.div_ceil(self.unit_bytes)).unwrap_or(usize::MAX)
    }
}

//! One class of the reserve: pages of one size, each divided on its own.

use super::page::Page;
use super::parameters::DriverParameters;
use super::statistics::DriverClassStatistics;
use crate::{PageRun, PageSource};

#[derive(Debug)]
pub(super) struct Class<R> {
    page_bytes: u64,
    requested_pages: u64,
    pages: Vec<Page<R>>,
    /// What chunks hold. Raised and lowered alike; the driver only lowers its own.
    allocated_bytes: u64,
}

impl<R: PageRun> Class<R> {
    pub(super) const fn new(page_bytes: u64) -> Self {
        Self { page_bytes, requested_pages: 0, pages: Vec::new(), allocated_bytes: 0 }
    }

    pub(super) const fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// Takes pages until there are enough or the kernel has no more.
    pub(super) fn build<S: PageSource<Run = R>>(&mut self, kernel: &S, parameters: &DriverParameters) {
        self.requested_pages = parameters.host_memory_bytes / self.page_bytes;
        for _ in 0..self.requested_pages {
            let Ok(run) = kernel.allocate(self.page_bytes) else { return };
            self.pages.push(Page::new(run, self.page_bytes, parameters.unit_bytes()));
        }
    }

    /// The page and the address of a chunk: the newest page first, as the kernel's pool library walks
    /// its list, and the first fit within it.
    pub(super) fn take(&mut self, bytes: u64) -> Option<(usize, u64)> {
        let mut pages = self.pages.iter_mut().enumerate().rev();
        let found = pages.find_map(|(page_idx, page)| Some((page_idx, page.take(bytes)?)))?;
        self.allocated_bytes += bytes;
        Some(found)
    }

    pub(super) fn give_back(&mut self, page_idx: usize, address: u64, bytes: u64) {
        if self.pages.get_mut(page_idx).is_some_and(|page| page.give_back(address, bytes)) {
            self.allocated_bytes = self.allocated_bytes.saturating_sub(bytes);
        }
    }

    pub(super) fn statistics(&self) -> DriverClassStatistics {
        let pages = self.pages.len() as u64;
        let largest = self.pages.iter().map(Page::largest_free_bytes).max();
        DriverClassStatistics {
            page_bytes: self.page_bytes,
            requested_pages: self.requested_pages,
            pages,
            allocated_bytes: self.allocated_bytes,
            free_bytes: self.pages.iter().map(Page::free_bytes).sum(),
            largest_free_bytes: largest.unwrap_or(0),
        }
    }
}

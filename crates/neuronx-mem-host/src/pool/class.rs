//! One class: its pages, and what is free in them.

use std::collections::BTreeMap;
use std::ops::Range;

use super::extents::Extents;
use super::policy::ClassPolicy;
use super::statistics::HostClassStatistics;
use crate::PageRun;
use crate::order::round_up;

#[derive(Debug)]
pub(super) struct Class<R> {
    pub(super) policy: ClassPolicy,
    /// By first address.
    pages: BTreeMap<u64, R>,
    extents: Extents,
    /// Bytes of pages that are on their way from the source.
    pub(super) pending_bytes: u64,
}

impl<R: PageRun> Class<R> {
    pub(super) fn new(policy: ClassPolicy) -> Self {
        Self { policy, pages: BTreeMap::new(), extents: Extents::default(), pending_bytes: 0 }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.pages.len() as u64 * self.policy.page_bytes
    }

    pub(super) const fn free_bytes(&self) -> u64 {
        self.extents.free_bytes()
    }

    pub(super) fn largest_free_bytes(&self) -> u64 {
        self.extents.largest()
    }

    /// Whether a page of the reserve is missing.
    pub(super) fn is_short(&self) -> bool {
        self.bytes() + self.policy.page_bytes <= self.policy.reserve_bytes
    }

    pub(super) fn can_grow(&self) -> bool {
        let bytes = self.bytes().saturating_add(self.pending_bytes).saturating_add(self.policy.page_bytes);
        bytes <= self.policy.limit_bytes
    }

    /// The address of an extent for this request.
    pub(super) fn take(&mut self, bytes: u64) -> Option<u64> {
        self.extents.take(self.held(bytes)?)
    }

    pub(super) fn add(&mut self, run: R) {
        let page = self.page(run.address());
        self.extents.give_back(page.start, self.policy.page_bytes, page);
        self.pages.insert(run.address(), run);
    }

    /// False when the address is in no page of this class.
    pub(super) fn give_back(&mut self, address: u64, bytes: u64) -> bool {
        let Some(page) = self.page_of(address) else { return false };
        let Some(held) = self.held(bytes) else { return false };
        self.extents.give_back(address, held, page);
        true
    }

    /// Pages that are free as a whole and more than the reserve, the highest addresses first.
    pub(super) fn surplus_pages(&mut self, released: &mut Vec<R>) {
        let n_kept = self.policy.reserve_bytes / self.policy.page_bytes;
        let n_surplus = (self.pages.len() as u64).saturating_sub(n_kept);
        let is_free = |address: &&u64| self.extents.is_whole(&self.page(**address));
        let n_surplus = usize::try_from(n_surplus).unwrap_or(usize::MAX);
        let free: Vec<u64> = self.pages.keys().rev().filter(is_free).take(n_surplus).copied().collect();
        for address in free {
            let page = self.page(address);
            self.extents.remove_page(&page);
            released.extend(self.pages.remove(&address));
        }
    }

    pub(super) fn statistics(&self) -> HostClassStatistics {
        HostClassStatistics {
            page_bytes: self.policy.page_bytes,
            reserve_pages: self.policy.reserve_bytes / self.policy.page_bytes,
            pages: self.pages.len() as u64,
            free_bytes: self.free_bytes(),
            largest_free_bytes: self.largest_free_bytes(),
        }
    }

    /// What a request takes from a page.
    pub(super) fn held(&self, bytes: u64) -> Option<u64> {
        round_up(bytes, self.policy.granule_bytes)
    }

    fn page(&self, address: u64) -> Range<u64> {
        address..address + self.policy.page_bytes
    }

    fn page_of(&self, address: u64) -> Option<Range<u64>> {
        let (&start, _) = self.pages.range(..=address).next_back()?;
        Some(self.page(start)).filter(|page| page.contains(&address))
    }
}

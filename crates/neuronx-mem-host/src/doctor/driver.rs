//! The driver on this host: whether it is loaded, with which parameters, and what a load would reserve.

use std::fs;
use std::path::Path;

use super::blocks::FreeBlocks;
use crate::{DRIVER_CLASSES, DriverParameters, PageOrder, SMALLEST_DRIVER_PAGE_BYTES};

/// Below the root.
const MODULE: &str = "sys/module/neuron";

/// What is known of the driver on a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverReading {
    /// Whether it is loaded, so that its reserve is built.
    pub is_loaded: bool,
    /// Its parameters; the defaults where they cannot be read.
    pub parameters: DriverParameters,
}

/// What the driver's reserve would be if the driver were loaded now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReserveForecast {
    /// Pages that each class asks for, smallest class first.
    pub wanted_pages: [u64; DRIVER_CLASSES],
    /// Pages that each class would get.
    pub pages: [u64; DRIVER_CLASSES],
}

impl ReserveForecast {
    /// Returns whether every class would be complete. O(1).
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.pages == self.wanted_pages
    }
}

pub(super) fn read(root: &Path) -> DriverReading {
    let module = root.join(MODULE);
    let parameter = |name: &str| {
        let text = fs::read_to_string(module.join("parameters").join(name)).ok()?;
        text.trim().parse::<u64>().ok()
    };
    let mut parameters = DriverParameters::default();
    if let Some(bytes) = parameter("mempool_host_memory_size") {
        parameters.host_memory_bytes = bytes;
    }
    if let Some(bytes) = parameter("mempool_min_alloc_size") {
        parameters.min_alloc_bytes = bytes;
    }
    let parameters = if parameters.check().is_ok() { parameters } else { DriverParameters::default() };
    DriverReading { is_loaded: module.is_dir(), parameters }
}

/// Largest class first, as the driver builds it.
pub(super) fn forecast(
    mut blocks: FreeBlocks,
    parameters: DriverParameters,
    page_bytes: u64,
) -> ReserveForecast {
    let wanted_pages = parameters.class_pages();
    let mut pages = [0; DRIVER_CLASSES];
    for idx in (0..DRIVER_CLASSES).rev() {
        if let Some(order) = PageOrder::of_pages(SMALLEST_DRIVER_PAGE_BYTES << idx, page_bytes) {
            pages[idx] = blocks.take(order, wanted_pages[idx]);
        }
    }
    ReserveForecast { wanted_pages, pages }
}

//! Compaction: movable pages go to free places at the end of the zone, until both scanners meet.

use super::pages::PageState;
use super::zone::{Kind, Zone};
use crate::PageOrder;

pub(super) fn compact(zone: &mut Zone) {
    let single = PageOrder::new(0).unwrap_or(PageOrder::MAX);
    let mut target = zone.n_pages();
    for page in 0..zone.n_pages() {
        if zone.state(page) != PageState::Held(Kind::Cache, single) {
            continue;
        }
        // The next free page from the end, above the page that is to move.
        loop {
            if target <= page + 1 {
                return;
            }
            target -= 1;
            if zone.take_page(target, Kind::Cache) {
                zone.give_back(page, single);
                break;
            }
        }
    }
}

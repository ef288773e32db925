//! What the kernel would say about the simulated host, in its own formats.

use std::fmt::Write;

use super::pages::PageState;
use super::zone::{Kind, Zone};

const KIB_A_PAGE: u64 = 4;

/// One line a zone; counts in columns of six.
pub(super) fn buddyinfo(zones: &[Zone]) -> String {
    let mut text = String::new();
    for zone in zones {
        // Writing to a String does not fail.
        let _ = write!(text, "Node {}, zone {:>8} ", zone.node(), zone.name());
        for count in zone.free_counts() {
            let _ = write!(text, "{count:>6} ");
        }
        text.push('\n');
    }
    text
}

pub(super) fn zoneinfo(zones: &[Zone]) -> String {
    let mut text = String::new();
    for zone in zones {
        let min = zone.min_free_pages();
        let _ = writeln!(text, "Node {}, zone {:>8}", zone.node(), zone.name());
        let _ = writeln!(text, "  pages free     {}", zone.free_pages());
        let rows = [("min", min), ("low", min + min / 4), ("high", min + min / 2)];
        for (name, pages) in rows {
            let _ = writeln!(text, "        {name:<8} {pages}");
        }
        let _ = writeln!(text, "        managed  {}", zone.n_pages());
        text += "        protection: (0, 0, 0, 0, 0)\n";
    }
    text
}

pub(super) fn meminfo(zones: &[Zone]) -> String {
    let total: u64 = zones.iter().map(|zone| u64::from(zone.n_pages())).sum();
    let free: u64 = zones.iter().map(Zone::free_pages).sum();
    let cached: u64 = zones.iter().map(cached).sum();
    let rows = [
        ("MemTotal", total),
        ("MemFree", free),
        ("MemAvailable", free + cached),
        ("Buffers", 0),
        ("Cached", cached),
        ("SReclaimable", 0),
    ];
    let line =
        |(name, pages): (&str, u64)| format!("{:<15} {:>8} kB\n", format!("{name}:"), pages * KIB_A_PAGE);
    rows.into_iter().map(line).collect()
}

fn cached(zone: &Zone) -> u64 {
    let is_cache = |page: &u32| matches!(zone.state(*page), PageState::Held(Kind::Cache, _));
    (0..zone.n_pages()).filter(is_cache).count() as u64
}

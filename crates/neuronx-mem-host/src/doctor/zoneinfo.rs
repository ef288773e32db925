//! `/proc/zoneinfo`: what each zone keeps for itself, so that no request gets it.

use super::lines::{node_and_zone, whole_lines};
use crate::HostError;

pub(super) const FILE: &str = "/proc/zoneinfo";

/// The content of `/proc/zoneinfo`, as far as it decides about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZoneInfo {
    /// The zones in the order of the file, empty ones included.
    pub zones: Vec<ZoneMarks>,
}

/// What one zone keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZoneMarks {
    /// The node.
    pub node: u32,
    /// The zone.
    pub zone: String,
    /// Pages below which no ordinary request is served.
    pub min_pages: u64,
    /// Pages kept from requests that could go to a higher zone, by the number of that zone.
    pub protection: Vec<u64>,
}

impl ZoneInfo {
    /// Reads the text of the file; lines that are not needed may say anything. O(bytes).
    ///
    /// # Errors
    ///
    /// [`HostError::Format`] when a needed line has no number, or a zone no `min` or `protection`.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        let mut zones: Vec<(usize, ZoneMarks, [bool; 2])> = Vec::new();
        for (number, line) in whole_lines(FILE, text)? {
            let fail = |what: &str| HostError::format(FILE, number, format!("{what} has no number"));
            if line.starts_with("Node") {
                let (node, zone, _) =
                    node_and_zone(line).ok_or_else(|| HostError::format(FILE, number, "not a zone"))?;
                let zone = zone.to_owned();
                let marks = ZoneMarks { node, zone, min_pages: 0, protection: Vec::new() };
                zones.push((number, marks, [false; 2]));
            }
            let Some((_, marks, has)) = zones.last_mut() else { continue };
            let line = line.trim_start();
            if let Some(pages) = line.strip_prefix("min ") {
                // Not `min` of a later table of the same zone.
                if !has[0] {
                    marks.min_pages = pages.trim().parse().map_err(|_| fail("min"))?;
                    has[0] = true;
                }
            } else if let Some(list) = line.strip_prefix("protection:") {
                let list = list.trim().trim_start_matches('(').trim_end_matches(')').split(',');
                let pages: Option<Vec<u64>> = list.map(|word| word.trim().parse().ok()).collect();
                marks.protection = pages.ok_or_else(|| fail("protection"))?;
                has[1] = true;
            }
        }
        if let Some((number, marks, _)) = zones.iter().find(|(_, _, has)| *has != [true, true]) {
            let reason = format!("zone {} has no min or no protection", marks.zone);
            return Err(HostError::format(FILE, *number, reason));
        }
        Ok(Self { zones: zones.into_iter().map(|(_, marks, _)| marks).collect() })
    }

    /// Returns the pages of a zone that a request of the kernel cannot get: the minimum, and what is kept
    /// for requests that can only go there. O(zones).
    #[must_use]
    pub fn kept_pages(&self, node: u32, zone: &str) -> u64 {
        let of_node: Vec<&ZoneMarks> = self.zones.iter().filter(|marks| marks.node == node).collect();
        // The kernel's own requests may go up to the highest zone that is for everything.
        let highest = of_node.iter().rposition(|marks| !super::zone::is_special(&marks.zone)).unwrap_or(0);
        let Some(marks) = of_node.iter().find(|marks| marks.zone == zone) else { return 0 };
        marks.min_pages.saturating_add(marks.protection.get(highest).copied().unwrap_or(0))
    }
}

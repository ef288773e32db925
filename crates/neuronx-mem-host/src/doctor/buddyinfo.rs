//! `/proc/buddyinfo`: free blocks by node, zone and order.

use super::blocks::FreeBlocks;
use super::lines::{node_and_zone, numbers, whole_lines};
use crate::HostError;

pub(super) const FILE: &str = "/proc/buddyinfo";

/// The content of `/proc/buddyinfo`.
///
/// ```
/// use neuronx_mem_host::BuddyInfo;
///
/// let text = "Node 0, zone   Normal   1046    527    128      1      0\n";
/// let info = BuddyInfo::parse(text)?;
/// assert_eq!(info.zones[0].blocks.counts(), [1046, 527, 128, 1, 0]);
/// assert!(BuddyInfo::parse("Node 0, zone   Normal   1046    52").is_err()); // cut
/// # Ok::<(), neuronx_mem_host::HostError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuddyInfo {
    /// The zones in the order of the file.
    pub zones: Vec<ZoneBlocks>,
}

/// The free blocks of one zone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZoneBlocks {
    /// The node.
    pub node: u32,
    /// The zone, such as `Normal`.
    pub zone: String,
    /// Its free blocks.
    pub blocks: FreeBlocks,
}

impl BuddyInfo {
    /// Reads the text of the file. O(bytes).
    ///
    /// # Errors
    ///
    /// [`HostError::Format`] with the line for anything but zones with the same number of orders each, up
    /// to the end of a line.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        let mut zones: Vec<ZoneBlocks> = Vec::new();
        for (number, line) in whole_lines(FILE, text)? {
            let fail = |reason: &str| HostError::format(FILE, number, reason);
            let (node, zone, rest) =
                node_and_zone(line).ok_or_else(|| fail("not `Node N, zone NAME` and counts"))?;
            let counts = numbers(rest).ok_or_else(|| fail("a count is not a whole number"))?;
            if counts.is_empty() || counts.len() > 52 {
                return Err(fail(&format!("{} orders, not 1 to 52", counts.len())));
            }
            if let Some(first) = zones.first()
                && first.blocks.counts().len() != counts.len()
            {
                let expected = first.blocks.counts().len();
                return Err(fail(&format!("{} orders where the first line has {expected}", counts.len())));
            }
            zones.push(ZoneBlocks { node, zone: zone.to_owned(), blocks: FreeBlocks::new(counts) });
        }
        Ok(Self { zones })
    }
}

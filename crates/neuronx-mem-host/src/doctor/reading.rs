//! Everything the doctor looks at, read once.

use std::fs;
use std::io;
use std::path::Path;

use super::driver::{self, DriverReading};
use super::hugepages::{self, NodeHugePages};
use super::{BuddyInfo, FreeBlocks, MemInfo, PageTypeInfo, ZoneInfo, zone};
use crate::{HostError, PAGE_BYTES};

/// The state of a host's memory.
///
/// ```
/// use neuronx_mem_host::{Diagnosis, HostReading, Need, Verdict};
///
/// let buddyinfo = "Node 0, zone Normal 900 800 700 600 500 400 300 200 100 0 0\n";
/// let reading = HostReading::from_texts(buddyinfo, "MemTotal: 16000000 kB\nMemFree: 900000 kB\n")?;
/// let diagnosis = |bytes| Diagnosis::of(&reading, &Need::new(bytes));
/// assert_eq!(diagnosis(1 << 20)?.verdict, Verdict::Served);
/// assert_eq!(diagnosis(3_292_176)?.verdict, Verdict::Fails);
/// # Ok::<(), neuronx_mem_host::HostError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostReading {
    /// Free blocks by node and zone.
    pub buddyinfo: BuddyInfo,
    /// Totals.
    pub meminfo: MemInfo,
    /// What zones keep; `None` where it cannot be read.
    pub zoneinfo: Option<ZoneInfo>,
    /// Uses of free blocks; `None` where it cannot be read, which takes root.
    pub pagetypeinfo: Option<PageTypeInfo>,
    /// Reserved huge pages by node.
    pub huge_pages: Vec<NodeHugePages>,
    /// The driver.
    pub driver: DriverReading,
    /// Bytes of one page.
    pub page_bytes: u64,
}

impl HostReading {
    /// Reads this host, or a copy of another one's `proc` and `sys` below `root`. Pages are those of the
    /// running system for `/`, and of 4 KiB otherwise. Cost: a few dozen small files.
    ///
    /// # Errors
    ///
    /// [`HostError::Read`] when `proc/buddyinfo` or `proc/meminfo` cannot be read, [`HostError::Format`]
    /// when a file that can be read is not what its name says.
    pub fn read(root: &Path) -> Result<Self, HostError> {
        let mut reading = Self::from_texts(&needed(root, "proc/buddyinfo")?, &needed(root, "proc/meminfo")?)?;
        reading.zoneinfo = optional(root, "proc/zoneinfo").map(|text| ZoneInfo::parse(&text)).transpose()?;
        let pagetypeinfo = optional(root, "proc/pagetypeinfo");
        reading.pagetypeinfo = pagetypeinfo.map(|text| PageTypeInfo::parse(&text)).transpose()?;
        reading.huge_pages = hugepages::read(root);
        reading.driver = driver::read(root);
        if root == Path::new("/") {
            reading.page_bytes = rustix::param::page_size() as u64;
        }
        Ok(reading)
    }

    /// Makes a reading of the two files that every host has, with pages of 4 KiB. O(bytes).
    ///
    /// # Errors
    ///
    /// [`HostError::Format`] when a text is not that of its file.
    pub fn from_texts(buddyinfo: &str, meminfo: &str) -> Result<Self, HostError> {
        Ok(Self {
            buddyinfo: BuddyInfo::parse(buddyinfo)?,
            meminfo: MemInfo::parse(meminfo)?,
            zoneinfo: None,
            pagetypeinfo: None,
            huge_pages: Vec::new(),
            driver: DriverReading::default(),
            page_bytes: PAGE_BYTES,
        })
    }

    /// Returns the nodes that have memory, in order. O(zones).
    #[must_use]
    pub fn nodes(&self) -> Vec<u32> {
        let mut nodes: Vec<u32> = self.buddyinfo.zones.iter().map(|zone| zone.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// The blocks of each zone of a node that requests of the kernel may use, and the pages that stay.
    pub(super) fn open_zones(&self, node: u32) -> Vec<(FreeBlocks, u64)> {
        let zones = || self.buddyinfo.zones.iter().filter(|zone| zone.node == node);
        let n_zones = zones().filter(|zone| !zone::is_special(&zone.zone)).count();
        let mut open = Vec::new();
        for zone in zones() {
            let is_open = match self.zoneinfo {
                Some(_) => !zone::is_special(&zone.zone),
                None => zone::is_open(&zone.zone, n_zones == 1),
            };
            if !is_open {
                continue;
            }
            let mut blocks = zone.blocks.clone();
            if let Some(types) = &self.pagetypeinfo {
                blocks.remove(&types.out_of_reach(node, &zone.zone));
            }
            let kept = self.zoneinfo.as_ref().map_or(0, |info| info.kept_pages(node, &zone.zone));
            open.push((blocks, kept));
        }
        open
    }
}

fn needed(root: &Path, name: &str) -> Result<String, HostError> {
    let path = root.join(name);
    fs::read_to_string(&path).map_err(|source| HostError::Read { path, source })
}

/// Files that not every kernel has, and that not everybody may read.
fn optional(root: &Path, name: &str) -> Option<String> {
    let read = fs::read_to_string(root.join(name));
    read.inspect_err(|error| {
        if error.kind() != io::ErrorKind::NotFound {
            tracing::debug!("{name} is not used: {error}");
        }
    })
    .ok()
}

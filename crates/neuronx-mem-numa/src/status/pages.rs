//! Where the memory of a process is.
//!
//! Knows `/proc/<pid>/numa_maps`. Refuses to move pages: the kernel's `migratepages` does.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};

use crate::{NodeId, ProcessRef, SystemRoot};

/// The page size of a line that does not say it, in KiB.
const DEFAULT_PAGE_KIB: u64 = 4;

/// Pages of one kind. Pages may differ in size, so pages and bytes are counted apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pages {
    /// How many.
    pub count: u64,
    /// Their size together, in bytes.
    pub bytes: u64,
}

/// The memory of a process, node by node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageReport {
    /// Memory of the process itself: heap, stacks, anonymous mappings, shared memory.
    pub own: BTreeMap<NodeId, Pages>,
    /// Pages of files, which all processes that map them share.
    pub files: BTreeMap<NodeId, Pages>,
    /// Pages of the process itself on another node than its device's; none while that is not known.
    pub on_wrong_node: Option<Pages>,
}

impl PageReport {
    /// Reads the memory map of a process; none where the kernel has none or does not show it.
    ///
    /// Cost: the kernel walks the page tables, which takes milliseconds a gigabyte.
    pub fn read(root: &SystemRoot, process: ProcessRef, right: Option<NodeId>) -> Option<Self> {
        let file = File::open(root.path(process.folder().join("numa_maps"))).ok()?;
        let mut report = Self::default();
        for line in BufReader::new(file).split(b'\n') {
            report.add(&String::from_utf8_lossy(&line.ok()?));
        }
        report.on_wrong_node = right.map(|right| report.outside(right));
        Some(report)
    }

    /// Adds one line: address, policy, then words such as `heap`, `file=…`, `anon=3` and `N0=5`.
    fn add(&mut self, line: &str) {
        let words = || line.split_ascii_whitespace().skip(2);
        let number = |name: &str| {
            let value = words().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))?;
            value.parse::<u64>().ok()
        };
        let is_file = words().any(|word| word.starts_with("file="));
        let page_kib = number("kernelpagesize_kB").unwrap_or(DEFAULT_PAGE_KIB);
        // A private mapping of a file has pages of the process (written) and of the file; how they
        // spread over nodes is not told, so the line counts as what it mostly is.
        let mostly_own = number("anon").unwrap_or(0) * 2 > number("mapped").unwrap_or(0);
        let kind = if is_file && !mostly_own { &mut self.files } else { &mut self.own };
        for (node, count) in words().filter_map(on_node) {
            let pages = kind.entry(node).or_default();
            pages.count = pages.count.saturating_add(count);
            pages.bytes = pages.bytes.saturating_add(count.saturating_mul(page_kib).saturating_mul(1024));
        }
    }

    /// The process's own pages on other nodes.
    fn outside(&self, right: NodeId) -> Pages {
        let wrong = self.own.iter().filter(|(node, _)| **node != right).map(|(_, pages)| pages);
        wrong.fold(Pages::default(), |sum, pages| Pages {
            count: sum.count.saturating_add(pages.count),
            bytes: sum.bytes.saturating_add(pages.bytes),
        })
    }
}

/// Node and pages of `N1=42`.
fn on_node(word: &str) -> Option<(NodeId, u64)> {
    let (node, count) = word.strip_prefix('N')?.split_once('=')?;
    Some((NodeId::new(node.parse().ok()?)?, count.parse().ok()?))
}

//! Reserved huge pages by node, from `/sys/devices/system/node`.

use std::fs;
use std::path::Path;

/// Below the root.
const NODES: &str = "sys/devices/system/node";

/// The huge pages of one size on one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct NodeHugePages {
    /// The node.
    pub node: u32,
    /// Bytes of one huge page.
    pub page_bytes: u64,
    /// Huge pages that are reserved.
    pub total: u64,
    /// Of these, the ones that nobody uses.
    pub free: u64,
}

/// All sizes on all nodes, sorted; none where the files are not there, as in some containers.
pub(super) fn read(root: &Path) -> Vec<NodeHugePages> {
    let mut found = Vec::new();
    for (node, path) in numbered(&root.join(NODES), "node", "") {
        let Ok(node) = u32::try_from(node) else { continue };
        for (kib, path) in numbered(&path.join("hugepages"), "hugepages-", "kB") {
            let count = |name: &str| fs::read_to_string(path.join(name)).ok()?.trim().parse().ok();
            if let (Some(total), Some(free)) = (count("nr_hugepages"), count("free_hugepages")) {
                found.push(NodeHugePages { node, page_bytes: kib.saturating_mul(1024), total, free });
            }
        }
    }
    found.sort_unstable();
    found
}

/// Entries of a directory whose names are a number between `start` and `end`.
fn numbered(directory: &Path, start: &str, end: &str) -> Vec<(u64, std::path::PathBuf)> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let number = |entry: fs::DirEntry| {
        let name = entry.file_name();
        let number = name.to_str()?.strip_prefix(start)?.strip_suffix(end)?.parse().ok()?;
        Some((number, entry.path()))
    };
    entries.filter_map(|entry| number(entry.ok()?)).collect()
}

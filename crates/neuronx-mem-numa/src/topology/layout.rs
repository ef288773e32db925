//! Packages, physical cores and caches.
//!
//! Knows `/sys/devices/system/cpu`. Refuses to invent what is not there.

use std::collections::BTreeMap;
use std::fs;

use crate::{CpuId, CpuSet, SystemRoot};

/// For each CPU what it shares with others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuLayout {
    cpus: BTreeMap<CpuId, CpuPlace>,
}

/// What one CPU belongs to; none where the kernel does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuPlace {
    /// The package (socket) that it is in.
    pub package: Option<u32>,
    /// The smallest CPU of the same physical core.
    pub core: Option<CpuId>,
    /// The smallest CPU that shares its cache of the highest level; instruction caches do not count.
    pub cache: Option<CpuId>,
}

impl CpuLayout {
    /// Reads what these CPUs share. Cost: a dozen files a CPU.
    pub fn read(root: &SystemRoot, cpus: &CpuSet) -> Self {
        cpus.iter().map(|cpu| (cpu, CpuPlace::read(root, cpu))).collect()
    }

    /// Returns the place of a CPU; one that was not read belongs to nothing. Cost: O(log n).
    pub fn place(&self, cpu: CpuId) -> CpuPlace {
        self.cpus.get(&cpu).copied().unwrap_or_default()
    }
}

impl FromIterator<(CpuId, CpuPlace)> for CpuLayout {
    fn from_iter<I: IntoIterator<Item = (CpuId, CpuPlace)>>(places: I) -> Self {
        Self { cpus: places.into_iter().collect() }
    }
}

impl CpuPlace {
    fn read(root: &SystemRoot, cpu: CpuId) -> Self {
        let folder = format!("sys/devices/system/cpu/cpu{cpu}");
        let siblings: Option<CpuSet> = root.parsed(format!("{folder}/topology/thread_siblings_list"));
        Self {
            package: root.parsed(format!("{folder}/topology/physical_package_id")),
            core: siblings.and_then(|cpus| cpus.first()),
            cache: cache(root, &format!("{folder}/cache")),
        }
    }
}

fn cache(root: &SystemRoot, folder: &str) -> Option<CpuId> {
    let mut highest: Option<(u32, CpuId)> = None;
    for entry in fs::read_dir(root.path(folder)).ok()?.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| is_index(name)) else { continue };
        let kind = root.text(format!("{folder}/{name}/type"));
        if !matches!(kind.as_deref(), Some("Unified" | "Data")) {
            continue;
        }
        let level = root.parsed(format!("{folder}/{name}/level"));
        let shared: Option<CpuSet> = root.parsed(format!("{folder}/{name}/shared_cpu_list"));
        if let (Some(level), Some(first)) = (level, shared.and_then(|cpus| cpus.first())) {
            // Two of the same level: the one with the smaller CPU, whatever the order of the directory.
            let better = highest.is_none_or(|(old, cpu)| level > old || (level == old && first < cpu));
            highest = if better { Some((level, first)) } else { highest };
        }
    }
    highest.map(|(_, first)| first)
}

/// `index0`, `index1` and so on.
fn is_index(name: &str) -> bool {
    name.strip_prefix("index")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

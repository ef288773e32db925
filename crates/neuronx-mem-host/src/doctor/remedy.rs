//! What helps against fragmented memory, with its price. Texts only: nothing is run.

use super::HostReading;
use super::diagnosis::{Diagnosis, Verdict};
use crate::{HUGE_PAGE_BYTES, LARGEST_DRIVER_PAGE_BYTES};

/// Something a person can do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remedy {
    /// Which.
    pub kind: RemedyKind,
    /// Commands, one a line; empty where there is no single one.
    pub commands: Vec<String>,
    /// What it does for the request.
    pub effect: String,
    /// What it takes.
    pub cost: &'static str,
    /// What can go wrong.
    pub risk: &'static str,
}

/// The remedies that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RemedyKind {
    /// Evict single files that were read once, such as weights after the load.
    EvictFiles,
    /// Drop all caches.
    DropCaches,
    /// Compact memory.
    CompactMemory,
    /// Load models before anything that reads much, and one after the other.
    LoadOrder,
    /// Load the driver again, so that its reserve is built from whole memory.
    ReloadDriver,
    /// Make the driver's reserve larger.
    LargerReserve,
    /// Let the kernel keep more memory free, and compact it ahead of need.
    KeepFree,
    /// Reserve huge pages.
    ReserveHugePages,
    /// Ask for smaller pieces.
    SplitRequests,
    /// Use instances that need no contiguous host memory for tensors.
    NewerInstance,
    /// Start the host again.
    Reboot,
}

impl RemedyKind {
    /// Returns the remedy in a few words, as a heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::EvictFiles => "evict files that were read once",
            Self::DropCaches => "drop caches",
            Self::CompactMemory => "compact memory",
            Self::LoadOrder => "load models first, one after the other",
            Self::ReloadDriver => "load the driver again",
            Self::LargerReserve => "make the driver's reserve larger",
            Self::KeepFree => "let the kernel keep more memory whole",
            Self::ReserveHugePages => "reserve huge pages",
            Self::SplitRequests => "ask for smaller pieces",
            Self::NewerInstance => "use inf2, trn1 or later",
            Self::Reboot => "start the host again",
        }
    }

    /// Returns the remedy in one word with underscores, as JSON has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::EvictFiles => "evict_files",
            Self::DropCaches => "drop_caches",
            Self::CompactMemory => "compact_memory",
            Self::LoadOrder => "load_order",
            Self::ReloadDriver => "reload_driver",
            Self::LargerReserve => "larger_reserve",
            Self::KeepFree => "keep_free",
            Self::ReserveHugePages => "reserve_huge_pages",
            Self::SplitRequests => "split_requests",
            Self::NewerInstance => "newer_instance",
            Self::Reboot => "reboot",
        }
    }
}

impl Remedy {
    /// Returns what helps when a request for host memory of `bytes` has failed and nothing else is known.
    /// O(1).
    #[must_use]
    pub fn for_failure(bytes: u64) -> Vec<Self> {
        let mut remedies = vec![Self::evict_files(), Self::drop_caches(None), Self::compact(&[])];
        remedies.extend([Self::load_order(), Self::keep_free()]);
        if bytes > LARGEST_DRIVER_PAGE_BYTES {
            remedies.push(Self::new(
                RemedyKind::NewerInstance,
                &[],
                "tensors there need no contiguous host memory",
                "a migration",
                "none for this problem",
            ));
        } else {
            remedies.push(Self::larger_reserve());
        }
        remedies
    }

    fn new(
        kind: RemedyKind,
        commands: &[&str],
        effect: &str,
        cost: &'static str,
        risk: &'static str,
    ) -> Self {
        let commands = commands.iter().map(|command| (*command).to_owned()).collect();
        Self { kind, commands, effect: effect.to_owned(), cost, risk }
    }

    fn evict_files() -> Self {
        Self::new(
            RemedyKind::EvictFiles,
            &["dd if=FILE iflag=nocache count=0"],
            "takes the pages of one file out of the cache; for weights after a load, needs no root",
            "the file is read from disk next time",
            "none",
        )
    }

    fn drop_caches(bytes: Option<u64>) -> Self {
        let amount =
            bytes.map_or_else(|| "all clean caches".to_owned(), |bytes| format!("up to {bytes} bytes"));
        Self::new(
            RemedyKind::DropCaches,
            &["sync", "echo 3 | sudo tee /proc/sys/vm/drop_caches"],
            &format!("frees {amount}"),
            "everything is read from disk again",
            "slow input and output for all programs for a while; no data is lost",
        )
    }

    fn compact(nodes: &[u32]) -> Self {
        let one = |node: &u32| format!("echo 1 | sudo tee /sys/devices/system/node/node{node}/compact");
        let commands = match nodes {
            [] => vec!["echo 1 | sudo tee /proc/sys/vm/compact_memory".to_owned()],
            nodes => nodes.iter().map(one).collect(),
        };
        Self {
            kind: RemedyKind::CompactMemory,
            commands,
            effect: "gathers free pages into large blocks; works best right after dropping caches".to_owned(),
            cost: "seconds of one processor",
            risk: "short stalls of other programs; pages that cannot move stay in the way",
        }
    }

    fn load_order() -> Self {
        Self::new(
            RemedyKind::LoadOrder,
            &[],
            "builds of images and large downloads come after the models, when they can do no harm",
            "a changed start-up",
            "none",
        )
    }

    fn keep_free() -> Self {
        Self::new(
            RemedyKind::KeepFree,
            &["sudo sysctl vm.min_free_kbytes=1048576", "sudo sysctl vm.compaction_proactiveness=60"],
            "the kernel evicts earlier and compacts in the background, so that large blocks stay there",
            "1 GiB that programs cannot use, and some processor time",
            "too large a value on a small host makes it run out of memory",
        )
    }

    fn larger_reserve() -> Self {
        Self::new(
            RemedyKind::LargerReserve,
            &[
                "echo 'options neuron mempool_host_memory_size=134217728' | sudo tee /etc/modprobe.d/neuron.conf",
            ],
            "more pages of 256 KiB to 2 MiB for each device from the next load of the driver on; does nothing \
             for requests above 2 MiB",
            "four times the bytes for each device",
            "a reserve that cannot be built in full on a fragmented host",
        )
    }
}

/// What helps on this host with this need, the gentlest first.
pub(super) fn for_host(reading: &HostReading, diagnosis: &Diagnosis) -> Vec<Remedy> {
    let mut remedies = Vec::new();
    let is_short_reserve = diagnosis.reserve.is_some_and(|reserve| !reserve.is_complete());
    match diagnosis.verdict {
        Verdict::Served => {
            if is_short_reserve {
                remedies.extend(whole_memory(reading, diagnosis));
            }
            return remedies;
        }
        Verdict::Impossible => {
            remedies.push(split(diagnosis));
            remedies.push(huge_pages(diagnosis));
            return remedies;
        }
        Verdict::ReserveOnly | Verdict::Fails => {}
    }
    remedies.extend(whole_memory(reading, diagnosis));
    remedies.push(Remedy::load_order());
    if reading.driver.is_loaded {
        remedies.push(Remedy::new(
            RemedyKind::ReloadDriver,
            &["sudo rmmod neuron", "sudo modprobe neuron"],
            "builds the driver's reserve anew; only after caches were dropped and memory was compacted",
            "all programs on the devices have to end first",
            "on a fragmented host the new reserve is smaller than the old one",
        ));
    }
    if diagnosis.need.bytes <= LARGEST_DRIVER_PAGE_BYTES {
        remedies.push(Remedy::larger_reserve());
    }
    remedies.push(Remedy::keep_free());
    remedies.push(huge_pages(diagnosis));
    if diagnosis.at_most_after_compaction < diagnosis.need.count {
        remedies.push(Remedy::new(
            RemedyKind::Reboot,
            &["sudo reboot"],
            "too much memory is in use or cannot move for any of the above to suffice",
            "the host is away for minutes",
            "everything on it ends",
        ));
    }
    remedies
}

/// Free it, then gather it.
fn whole_memory(reading: &HostReading, diagnosis: &Diagnosis) -> Vec<Remedy> {
    let nodes: Vec<u32> = match diagnosis.need.node {
        Some(node) => vec![node],
        None => Vec::new(),
    };
    let mut remedies = Vec::new();
    let droppable = reading.meminfo.droppable_bytes();
    if droppable >= diagnosis.block_bytes {
        remedies.push(Remedy::evict_files());
        remedies.push(Remedy::drop_caches(Some(droppable)));
    }
    remedies.push(Remedy::compact(&nodes));
    remedies
}

fn split(diagnosis: &Diagnosis) -> Remedy {
    let largest = diagnosis.nodes.iter().filter_map(|node| node.blocks.largest_order()).max();
    let pages = largest.map_or(0, crate::PageOrder::pages);
    let page_bytes = diagnosis.block_bytes / diagnosis.order.pages();
    let effect = format!("the kernel's largest block has {} bytes", pages.saturating_mul(page_bytes));
    Remedy::new(RemedyKind::SplitRequests, &[], &effect, "a program that takes a scatter list", "none")
}

fn huge_pages(diagnosis: &Diagnosis) -> Remedy {
    let node = diagnosis.need.node.or_else(|| diagnosis.nodes.first().map(|node| node.node)).unwrap_or(0);
    let bytes = diagnosis.need.bytes.saturating_mul(diagnosis.need.count);
    let n_pages = bytes.div_ceil(HUGE_PAGE_BYTES);
    let directory = format!("/sys/devices/system/node/node{node}/hugepages/hugepages-2048kB");
    Remedy {
        kind: RemedyKind::ReserveHugePages,
        commands: vec![format!("echo {n_pages} | sudo tee {directory}/nr_hugepages")],
        effect:
            "whole pages of 2 MiB for staging buffers of programs that map them; the driver's own requests \
                 do not use them"
                .to_owned(),
        cost: "the memory is kept for huge pages, used or not; add to what is reserved already",
        risk: "takes the large blocks that the driver looks for; best done at boot (hugepages=N)",
    }
}

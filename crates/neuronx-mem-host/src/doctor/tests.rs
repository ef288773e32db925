//! The doctor against files, against cut files, and against the simulated host as an oracle.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::{
    BuddyInfo, Diagnosis, DriverReading, FreeBlocks, HostReading, MemInfo, MigrateType, Need, PageTypeInfo,
    RemedyKind, Verdict, ZoneInfo,
};
use crate::{
    DriverParameters, DriverPool, HostError, HostShape, PAGE_BYTES, PageCachePressure, PageOrder, PageSource,
    SimulatedHost,
};

const REPORT: &str = include_str!("../../tests/data/report_buddyinfo.txt");
const FRESH: &str = include_str!("../../tests/data/fresh_buddyinfo.txt");
const TWO_NODES: &str = include_str!("../../tests/data/two_nodes_buddyinfo.txt");
const MEMINFO: &str = include_str!("../../tests/data/report_meminfo.txt");
const PAGETYPEINFO: &str = include_str!("../../tests/data/pagetypeinfo.txt");
const ZONEINFO: &str = include_str!("../../tests/data/zoneinfo.txt");

fn reading(buddyinfo: &str) -> HostReading {
    HostReading::from_texts(buddyinfo, MEMINFO).unwrap()
}

#[track_caller]
fn check(buddyinfo: &str, need: Need, verdict: Verdict, served: u64) {
    let diagnosis = Diagnosis::of(&reading(buddyinfo), &need).unwrap();
    assert_eq!((diagnosis.verdict, diagnosis.served), (verdict, served), "{need:?}");
}

fn kinds(diagnosis: &Diagnosis) -> Vec<&'static str> {
    diagnosis.remedies.iter().map(|remedy| remedy.kind.name()).collect()
}

#[test]
fn the_report_fails_for_3_292_176_bytes_and_not_for_1_mib() {
    check(REPORT, Need::new(3_292_176), Verdict::Fails, 0);
    check(REPORT, Need::new(2_441_472), Verdict::Fails, 0);
    check(REPORT, Need::new(2 << 20), Verdict::Fails, 0);
    // Orders 8 of DMA32 and Normal; the blocks of DMA are kept by the kernel.
    check(REPORT, Need::new(1 << 20), Verdict::Served, 7);
    check(REPORT, Need::new(1 << 20).times(7), Verdict::Served, 7);
    check(REPORT, Need::new(1 << 20).times(8), Verdict::Fails, 7);
}

#[test]
fn a_fresh_host_serves_them_all() {
    check(FRESH, Need::new(3_292_176).times(100), Verdict::Served, 3618);
    check(FRESH, Need::new(1 << 20), Verdict::Served, 3618 * 4 + 5 * 2 + 8);
    let diagnosis = Diagnosis::of(&reading(FRESH), &Need::new(3_292_176)).unwrap();
    assert_eq!((diagnosis.remedies.len(), diagnosis.reserve.unwrap().is_complete()), (0, true));
    assert_eq!((diagnosis.order, diagnosis.block_bytes), (PageOrder::MAX, 4 << 20));
}

#[test]
fn each_node_says_by_which_order() {
    let diagnosis = Diagnosis::of(&reading(TWO_NODES), &Need::new(1_500_000).times(10)).unwrap();
    let found: Vec<_> =
        diagnosis.nodes.iter().map(|node| (node.node, node.served, node.first_order)).collect();
    assert_eq!(found, [(0, 0, None), (1, 12, PageOrder::new(9))]);
    let far = Need::new(1_500_000).times(10).on_node(0);
    check(TWO_NODES, far, Verdict::Fails, 0);
    check(TWO_NODES, Need::new(1 << 20).on_node(0), Verdict::Served, 16);
    let error = Diagnosis::of(&reading(TWO_NODES), &Need::new(1).on_node(7)).unwrap_err();
    assert_eq!(error.to_string(), "the host has no node 7");
}

#[test]
fn more_than_the_largest_block_is_impossible_on_any_host() {
    check(FRESH, Need::new((4 << 20) + 1), Verdict::Impossible, 0);
    let diagnosis = Diagnosis::of(&reading(FRESH), &Need::new(5 << 20).times(3)).unwrap();
    assert_eq!(kinds(&diagnosis), ["split_requests", "reserve_huge_pages"]);
    assert_eq!(diagnosis.remedies[0].effect, "the kernel's largest block has 4194304 bytes");
    assert!(
        diagnosis.remedies[1].commands[0].starts_with("echo 8 | sudo tee /sys/devices/system/node/node0/")
    );
    for bytes in [0, u64::MAX] {
        let error = Diagnosis::of(&reading(FRESH), &Need::new(bytes)).unwrap_err();
        assert!(matches!(error, HostError::InvalidSize { requested_bytes, .. } if requested_bytes == bytes));
    }
}

#[test]
fn a_loaded_driver_rescues_what_its_classes_hold() {
    let mut reading = reading(REPORT);
    reading.driver = DriverReading { is_loaded: true, parameters: DriverParameters::default() };
    let diagnosis = |bytes, count| Diagnosis::of(&reading, &Need::new(bytes).times(count)).unwrap();
    assert_eq!(diagnosis(2 << 20, 16).verdict, Verdict::ReserveOnly);
    assert_eq!(diagnosis(2 << 20, 17).verdict, Verdict::Fails);
    assert_eq!(diagnosis(3_292_176, 1).verdict, Verdict::Fails);
    assert_eq!(diagnosis(1 << 20, 7 + 64).verdict, Verdict::ReserveOnly);
    assert!(diagnosis(2 << 20, 16).is_served() && !diagnosis(2 << 20, 17).is_served());
    assert_eq!(diagnosis(1 << 20, 1).reserve, None, "there is one already");
}

#[test]
fn what_a_load_of_the_driver_would_reserve_now() {
    // A kernel with 5 blocks of 1 MiB and 41 of 512 KiB for pages of 2 MiB, 1 MiB and 512 KiB.
    let text = "Node 0, zone   Normal 0 0 0 0 0 0 3 41 5 0 0\n";
    let forecast = Diagnosis::of(&reading(text), &Need::new(4096)).unwrap().reserve.unwrap();
    assert_eq!((forecast.wanted_pages, forecast.pages), ([128, 64, 32, 16], [3, 41, 5, 0]));
    // The model of the driver gets the same from a host with these blocks.
    let host = SimulatedHost::new(&HostShape::new().with_zone(0, "Normal", 28 << 20));
    let _held: Vec<_> = [PageOrder::new(8).unwrap(), PageOrder::new(6).unwrap()]
        .map(|order| host.allocate(order.bytes()).unwrap())
        .into_iter()
        .collect();
    let forecast = Diagnosis::of(&reading(&host.buddyinfo()), &Need::new(4096)).unwrap().reserve.unwrap();
    let driver = DriverPool::load(host, DriverParameters::default()).unwrap();
    assert_eq!(forecast.pages, driver.statistics().classes.map(|class| class.pages));
}

#[test]
fn remedies_fit_the_host() {
    let report = Diagnosis::of(&reading(REPORT), &Need::new(3_292_176).times(4)).unwrap();
    let expected =
        ["evict_files", "drop_caches", "compact_memory", "load_order", "keep_free", "reserve_huge_pages"];
    assert_eq!(kinds(&report), expected);
    assert_eq!(report.remedies[1].effect, "frees up to 12493692928 bytes");
    // Below 2 MiB the reserve helps, and a loaded driver can be loaded again.
    let mut loaded = reading(REPORT);
    loaded.driver.is_loaded = true;
    let small = Diagnosis::of(&loaded, &Need::new(2 << 20).times(20)).unwrap();
    assert!(kinds(&small).contains(&"larger_reserve") && kinds(&small).contains(&"reload_driver"));
    // Without caches there is nothing to drop, and without memory only a reboot is left.
    let meminfo = "MemTotal: 16000 kB\nMemFree: 3000 kB\nCached: 1000 kB\nShmem: 1000 kB\n";
    let poor = HostReading::from_texts(REPORT, meminfo).unwrap();
    let diagnosis = Diagnosis::of(&poor, &Need::new(3_292_176).on_node(0)).unwrap();
    assert_eq!(
        kinds(&diagnosis),
        ["compact_memory", "load_order", "keep_free", "reserve_huge_pages", "reboot"]
    );
    assert_eq!(diagnosis.remedies[0].commands, ["echo 1 | sudo tee /sys/devices/system/node/node0/compact"]);
}

#[test]
fn page_types_take_blocks_out_of_reach() {
    let types = PageTypeInfo::parse(PAGETYPEINFO).unwrap();
    assert_eq!((types.page_block_order, types.free.len(), types.page_blocks.len()), (9, 12, 2));
    assert_eq!(types.free[7].blocks.counts()[0], 100_000, "where the kernel stopped counting");
    assert_eq!(types.page_blocks[1].counts[4], (MigrateType::Cma, 16));
    assert_eq!(types.movable_page_blocks(), 3300);
    assert_eq!(types.out_of_reach(0, "Normal").counts(), [4, 3, 2, 1, 1, 1, 1, 1, 1, 3, 5]);
    let buddyinfo =
        "Node 0, zone    DMA32 0 0 0 0 0 0 0 0 0 0 0\nNode 0, zone   Normal 0 0 0 0 0 0 0 0 3 4 6\n";
    let mut reading = reading(buddyinfo);
    let need = Need::new(3_292_176);
    assert_eq!(Diagnosis::of(&reading, &need).unwrap().served, 6);
    reading.pagetypeinfo = Some(types);
    let diagnosis = Diagnosis::of(&reading, &need).unwrap();
    assert_eq!(diagnosis.served, 1, "five of the six are for devices that ask by name");
    // 3300 movable page blocks of 2 MiB, of which the free memory and caches fill 14 GiB.
    assert_eq!(diagnosis.at_most_after_compaction, 1650);
}

#[test]
fn zones_keep_their_minimum_and_what_is_protected() {
    let info = ZoneInfo::parse(ZONEINFO).unwrap();
    assert_eq!(info.kept_pages(0, "DMA"), 16 + 15_500);
    assert_eq!(info.kept_pages(0, "DMA32"), 3100 + 12_612);
    assert_eq!(info.kept_pages(0, "Normal"), 13_600);
    assert_eq!(info.kept_pages(1, "Normal"), 0);
    // 20 blocks of 4 MiB in DMA32 are 20480 pages; 15712 stay, and one request more is let through.
    let buddyinfo = "Node 0, zone DMA 0 0 0 0 0 0 0 0 1 1 2\nNode 0, zone DMA32 0 0 0 0 0 0 0 0 0 0 20\n";
    let mut reading = reading(buddyinfo);
    reading.zoneinfo = Some(info);
    assert_eq!(Diagnosis::of(&reading, &Need::new(3_292_176)).unwrap().served, 4);
}

#[test]
fn wrong_and_cut_files_are_errors_with_their_line() {
    let buddyinfo = |text: &str| BuddyInfo::parse(text).unwrap_err().to_string();
    let cut = &REPORT[..REPORT.len() - 20];
    let few = format!("{}\n", &REPORT[..REPORT.len() - 20]);
    let texts = [
        "",
        "\n \n",
        "hello\n",
        "Node x, zone Normal 1\n",
        "Node 0, zone Normal\n",
        "Node 0, zone A -1\n",
        cut,
        &few,
    ];
    let mut lines: Vec<String> = texts.into_iter().map(buddyinfo).collect();
    let meminfo = |text: &str| MemInfo::parse(text).unwrap_err().to_string();
    lines.extend(
        ["", "MemTotal: 5 kB\n", "MemTotal: x kB\n", "MemFree: 1 kB", "Cached: 99999999999999999999 kB\n"]
            .map(meminfo),
    );
    let types = |text: &str| PageTypeInfo::parse(text).unwrap_err().to_string();
    let no_blocks = &PAGETYPEINFO[..PAGETYPEINFO.find("Number").unwrap()];
    let bad = PAGETYPEINFO.replace("   700 ", "   7x0 ");
    lines.extend(["", "Page block order: x\n", "Page block order: 9\n", no_blocks, &bad].map(types));
    let zones = |text: &str| ZoneInfo::parse(text).unwrap_err().to_string();
    let no_min = ZONEINFO.replace("        min      3100\n", "");
    lines.extend(
        ["", "Node 0, zone\n", "Node 0, zone A\n min x\n", "Node 0, zone A\n protection: (0, x)\n", &no_min]
            .map(zones),
    );
    insta::assert_snapshot!(lines.join("\n"), @r"
    /proc/buddyinfo, line 1: the file is empty
    /proc/buddyinfo, line 3: the file is empty
    /proc/buddyinfo, line 1: not `Node N, zone NAME` and counts
    /proc/buddyinfo, line 1: not `Node N, zone NAME` and counts
    /proc/buddyinfo, line 1: 0 orders, not 1 to 52
    /proc/buddyinfo, line 1: a count is not a whole number
    /proc/buddyinfo, line 3: the line has no end: the file was cut
    /proc/buddyinfo, line 3: 8 orders where the first line has 11
    /proc/meminfo, line 1: the file is empty
    /proc/meminfo, line 2: MemTotal or MemFree is missing
    /proc/meminfo, line 1: MemTotal is no number
    /proc/meminfo, line 1: the line has no end: the file was cut
    /proc/meminfo, line 1: Cached is no number
    /proc/pagetypeinfo, line 1: the file is empty
    /proc/pagetypeinfo, line 1: no order
    /proc/pagetypeinfo, line 2: free blocks by use are missing
    /proc/pagetypeinfo, line 18: page blocks by use are missing
    /proc/pagetypeinfo, line 19: not a zone with its counts
    /proc/zoneinfo, line 1: the file is empty
    /proc/zoneinfo, line 1: not a zone
    /proc/zoneinfo, line 2: min has no number
    /proc/zoneinfo, line 2: protection has no number
    /proc/zoneinfo, line 13: zone DMA32 has no min or no protection
    ");
}

proptest! {
    /// No text makes a parser panic; what it accepts, it reads in full.
    #[test]
    fn no_text_is_too_wild(text in "(Node [0-9]{1,12}, zone [A-Za-z0-9]{0,6}( [0-9>x-]{0,21}){0,14}\n?|[ -~]{0,30}\n){0,5}") {
        let _ = BuddyInfo::parse(&text);
        let _ = PageTypeInfo::parse(&text);
        let _ = ZoneInfo::parse(&text);
        let _ = MemInfo::parse(&text);
    }

    /// Cutting a file anywhere is noticed, except where whole lines are missing at its end.
    #[test]
    fn a_cut_is_noticed(at in 1..REPORT.len() - 1) {
        let is_line_end = REPORT.as_bytes()[at - 1] == b'\n';
        prop_assert_eq!(BuddyInfo::parse(&REPORT[..at]).is_ok(), is_line_end);
    }

    /// The prediction is what then happens on the simulated host, for any fragmentation and watermark.
    #[test]
    fn predictions_come_true(
        seed in any::<u64>(),
        evicted in 0_u32..1000,
        compact in any::<bool>(),
        min_free in 0_u64..4 << 20,
        bytes in 1_u64..5 << 20,
    ) {
        let shape = HostShape::new()
            .with_zone(0, "DMA32", 8 << 20)
            .with_zone(0, "Normal", 24 << 20)
            .with_min_free_bytes(min_free);
        let host = SimulatedHost::new(&shape);
        host.fill_page_cache(&PageCachePressure::with_seed(seed).with_evicted_per_mille(evicted));
        if compact {
            host.compact();
        }
        let mut reading = HostReading::from_texts(&host.buddyinfo(), &host.meminfo()).unwrap();
        reading.zoneinfo = Some(ZoneInfo::parse(&host.zoneinfo()).unwrap());
        let diagnosis = Diagnosis::of(&reading, &Need::new(bytes).times(u64::MAX)).unwrap();
        let runs: Vec<_> = (0..).map_while(|_| host.allocate(bytes).ok()).collect();
        prop_assert_eq!(diagnosis.served, runs.len() as u64);
        prop_assert!(diagnosis.served <= diagnosis.at_most_after_compaction);
    }

    /// Cutting blocks loses no page.
    #[test]
    fn taking_blocks_keeps_the_rest(counts in prop::collection::vec(0_u64..50, 1..12), order in 0_u8..11, n in 0_u64..3000) {
        let order = PageOrder::new(order).unwrap();
        let mut blocks = FreeBlocks::new(counts);
        let (pages, count) = (blocks.pages(), blocks.count(order));
        let n_got = blocks.take(order, n);
        prop_assert_eq!(n_got, n.min(count));
        prop_assert_eq!(blocks.pages(), pages - n_got * order.pages());
        prop_assert_eq!(blocks.count(order), count - n_got);
    }
}

/// A copy of a host's files below a temporary directory.
fn host_files(root: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[test]
fn a_host_is_read_from_its_files() {
    let root = tempfile::tempdir().unwrap();
    let missing = HostReading::read(root.path()).unwrap_err();
    assert!(matches!(missing, HostError::Read { .. }));
    let pages = "sys/devices/system/node/node1/hugepages/hugepages-2048kB";
    let files = [
        ("proc/buddyinfo", TWO_NODES),
        ("proc/meminfo", MEMINFO),
        ("proc/zoneinfo", ZONEINFO),
        ("proc/pagetypeinfo", PAGETYPEINFO),
        (&format!("{pages}/nr_hugepages"), "64\n"),
        (&format!("{pages}/free_hugepages"), "60\n"),
        ("sys/devices/system/node/node0/cpulist", "0-7\n"),
        ("sys/module/neuron/parameters/mempool_host_memory_size", "67108864\n"),
        ("sys/module/neuron/parameters/mempool_min_alloc_size", "nonsense\n"),
    ];
    host_files(root.path(), &files);
    let reading = HostReading::read(root.path()).unwrap();
    assert_eq!((reading.nodes(), reading.page_bytes), (vec![0, 1], PAGE_BYTES));
    assert!(reading.zoneinfo.is_some() && reading.pagetypeinfo.is_some() && reading.driver.is_loaded);
    let expected = DriverParameters::default().with_host_memory_bytes(64 << 20);
    assert_eq!(reading.driver.parameters, expected);
    let huge = reading.huge_pages[0];
    assert_eq!((huge.node, huge.page_bytes, huge.total, huge.free), (1, 2 << 20, 64, 60));
    host_files(root.path(), &[("proc/pagetypeinfo", "Page block order: 9\n")]);
    let error = HostReading::read(root.path()).unwrap_err();
    assert_eq!(error.to_string(), "/proc/pagetypeinfo, line 2: free blocks by use are missing");
}

#[test]
fn remedies_after_a_failure_know_the_size() {
    let names =
        |bytes| super::Remedy::for_failure(bytes).into_iter().map(|remedy| remedy.kind).collect::<Vec<_>>();
    assert!(names(3_292_176).contains(&RemedyKind::NewerInstance));
    assert!(names(2 << 20).contains(&RemedyKind::LargerReserve));
    assert!(!names(3_292_176).contains(&RemedyKind::LargerReserve), "raising the pool does not help");
}

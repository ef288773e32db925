//! The words of the runtime, the driver and the kernel, in their old and new spellings.

use proptest::prelude::*;

use super::size;
use super::{
    EventKind, Explanation, LogEvent, MemoryKind, Place, UsageCategory, UsageScope, UsageTable, read_log,
};
use crate::{DriverParameters, DriverPool, NumberedPages, PageOrder};

const HOST: &str = include_str!("../../tests/data/host_failure.log");
const OLD: &str = include_str!("../../tests/data/device_2024.log");
const TABLE: &str = include_str!("../../tests/data/device_table.log");

#[track_caller]
fn check(line: &str, expected: EventKind) {
    assert_eq!(read_log(line), [LogEvent { line: 1, kind: expected }], "{line}");
}

#[track_caller]
fn table(log: &str) -> UsageTable {
    let tables = read_log(log).into_iter().find_map(|event| match event.kind {
        EventKind::Usage(table) => Some(table),
        _ => None,
    });
    tables.unwrap()
}

#[test]
fn sizes_are_powers_of_1024() {
    let cases = [
        ("20.188GB", Some(21_676_699_943)),
        ("82.344KB", Some(84_320)),
        ("172.000MB", Some(180_355_072)),
        ("4GB", Some(4 << 30)),
        (" 0.000B ", Some(0)),
        ("1.062KB", Some(1087)),
        ("n/a", None),
        ("", None),
        (".5GB", None),
        ("1.2.3GB", None),
        ("99999999999999999999GB", None),
        ("1048576TB", None),
        ("5 parsecs", None),
    ];
    for (text, bytes) in cases {
        assert_eq!(size::parse(text), bytes, "{text}");
    }
}

#[test]
fn every_known_line_is_an_event() {
    let host = MemoryKind::Host;
    check(
        "Failed to alloc HOST memory: 3292176",
        EventKind::AllocationFailed { memory: host, bytes: 3_292_176 },
    );
    check(
        "TDRV:tensor_allocate Failed to allocate 3292176 bytes on HOST for tensor a.b",
        EventKind::TensorFailed { memory: host, bytes: 3_292_176, tensor: Some("a.b".to_owned()) },
    );
    check(
        "Failed to allocate 180355072 bytes on DEVICE for tensor UNKNOWN.",
        EventKind::TensorFailed { memory: MemoryKind::Device, bytes: 180_355_072, tensor: None },
    );
    let failed = |alignment: Option<&str>, core| EventKind::UsageFailed {
        about_bytes: 4 << 30,
        alignment: alignment.map(str::to_owned),
        usage: "tensors".to_owned(),
        place: Place { device: 0, core },
    };
    check("Failed to allocate 4.000GB (alignment: none, usage: tensors) on ND 0:NC 4", failed(None, Some(4)));
    check(
        "Failed to allocate 4.000GB (alignment: 64.000KB, usage: tensors) on ND  0:NC  4",
        failed(Some("64.000KB"), Some(4)),
    );
    check("Failed to allocate 4.000GB (usage: tensors) on ND 0", failed(None, None));
    check(
        "LNC size is 1. Neuron Cores using this HBM: NC 4 and NC 5",
        EventKind::SharedStack { cores_per_logical: 1, cores: vec![4, 5] },
    );
    let written =
        |path: &str, stack| EventKind::FileWritten { path: path.to_owned(), device: Some(0), stack };
    check(
        "TDRV:dml_dump Wrote nrt memory alloc debug info to /tmp/nrt_mem_log_device_0_xxx.csv",
        written("/tmp/nrt_mem_log_device_0_xxx.csv", None),
    );
    check(
        "Wrote nrt memory alloc debug info to /tmp/neuron_mem_log_device_0_hbm_3_6f.csv",
        written("/tmp/neuron_mem_log_device_0_hbm_3_6f.csv", Some(3)),
    );
    for line in ["status=4 message=Allocation Failure", "x status=4 message=\"Allocation Failure\" y"] {
        check(line, EventKind::Status { status: 4, message: "Allocation Failure".to_owned() });
    }
    let kernel = |mode: &str| EventKind::KernelFailed { order: PageOrder::MAX, mode: mode.to_owned() };
    check("page allocation failure: order:10, mode:0xcc0(GFP_KERNEL)", kernel("GFP_KERNEL"));
    check("page allocation failure: order:10, mode:0xcc0", kernel("0xcc0"));
    let blocks = |counts: &[u64]| EventKind::KernelBlocks {
        node: 0,
        zone: "Normal".to_owned(),
        counts: counts.to_vec(),
    };
    check("Node 0 Normal: 7*4kB (UME) 3*8kB (M) 0*16kB = 52kB", blocks(&[7, 3, 0]));
    check("Node 0 Normal: ... 0*2048kB 0*4096kB", blocks(&[0; 11]));
}

#[test]
fn the_drivers_own_words_come_back() {
    let parameters = DriverParameters::default();
    let mut driver = DriverPool::load(NumberedPages::new(parameters.reserve_bytes()), parameters).unwrap();
    let line = driver.allocate(2_000_000).unwrap().log_line().unwrap();
    check(&line, EventKind::ReserveServed { bytes: 2_002_944 });
    let line = driver.allocate(3_292_176).unwrap_err().driver_log_line().unwrap();
    check(
        &format!("neuron:mc_alloc_internal: {line}"),
        EventKind::DriverFailed { occupied_bytes: 2_002_944 },
    );
}

#[test]
fn lines_that_only_look_alike_are_nothing() {
    let lines = [
        "Failed to alloc SBUF memory: 5",
        "Failed to alloc HOST memory: many",
        "Failed to allocate 5 parsecs (usage: tensors) on ND 0",
        "Failed to allocate 1.000GB (usage: tensors) somewhere",
        "page allocation failure: order:99, mode:0",
        "Node 0 Normal: free 5 kB",
        "Node 0 Normal: 5*3kB",
        "LNC size is 2.",
        "status=ok",
        "",
    ];
    assert_eq!(read_log(&lines.join("\n")), []);
}

#[test]
fn the_table_has_rows_and_columns() {
    let table = table(TABLE);
    let scopes: Vec<&UsageScope> = table.rows.iter().map(|row| &row.scope).collect();
    let device = UsageScope::Device { device: 0, stack: None };
    assert_eq!(scopes, [&device, &UsageScope::Core(4), &UsageScope::Model(1001), &UsageScope::Core(5)]);
    let overall = table.overall().unwrap();
    assert_eq!(overall.usage.len(), 15 - 1, "every column but the unnamed rings");
    assert_eq!(overall.usage[&UsageCategory::ModelCode], 201_433_547);
    assert_eq!(overall.usage[&UsageCategory::DmaRingsSpill], 65_536);
    assert_eq!(overall.largest()[0], (&UsageCategory::Tensors, 14 << 30));
    assert!(!table.rows[2].usage.contains_key(&UsageCategory::Tensors), "n/a");
    assert_eq!(table.models[&1002], "1.0.41235.0+df4a714bb-/models/concat");
}

#[test]
fn the_older_list_says_the_same() {
    let table = table(OLD);
    assert_eq!(table.rows.len(), 1);
    assert_eq!(table.rows[0].scope, UsageScope::Core(0));
    assert_eq!(table.rows[0].usage[&UsageCategory::DmaRings], 32_768);
    assert_eq!(table.rows[0].total_bytes(), 17_024_176_620);
}

#[test]
fn the_usage_of_a_load_has_a_list_for_the_core_and_one_for_the_model() {
    let rows: Vec<_> = read_log(TABLE)
        .into_iter()
        .filter_map(|event| match event.kind {
            EventKind::Usage(table) => Some(table.rows),
            _ => None,
        })
        .skip(1)
        .flatten()
        .collect();
    assert_eq!(rows[0].scope, UsageScope::Core(0));
    assert_eq!(rows[0].usage[&UsageCategory::Total], 101_232_673);
    assert_eq!(rows[1].scope, UsageScope::Other("dense".to_owned()));
    assert_eq!(rows[1].usage.len(), 4);
}

#[test]
fn a_table_with_one_line_of_headings_or_cut_short_is_read_as_far_as_it_goes() {
    let text = "Displaying Current Memory Utilization:\n | TOTAL | Tensors | Novel Things |\n\
                ERROR TDRV ND 1 HBM 2 | 1.000GB | 0.500GB | 7.000B |\n\\_NC 8 | 1.0";
    let table = table(text);
    assert_eq!(table.rows[0].scope, UsageScope::Device { device: 1, stack: Some(2) });
    assert_eq!(table.rows[0].usage[&UsageCategory::Other("novel things".to_owned())], 7);
    assert_eq!((table.rows.len(), table.rows[1].usage.len()), (2, 0));
}

#[test]
fn lines_of_one_failure_are_one_incident() {
    let explanation = Explanation::of(&read_log(HOST));
    let found: Vec<_> =
        explanation.incidents.iter().map(|one| (one.memory, one.bytes, one.times, one.line)).collect();
    assert_eq!(found, [(MemoryKind::Host, 3_292_176, 2, 9), (MemoryKind::Host, 524_288, 1, 14)]);
    let first = &explanation.incidents[0];
    assert_eq!(first.tensors.iter().collect::<Vec<_>>(), ["input.7", "input.9"]);
    assert_eq!(first.files.first().unwrap(), "/tmp/nrt_mem_log_device_0_690882a0.csv");
    assert_eq!(explanation.kernel_failures.values().collect::<Vec<_>>(), [&1, &1]);
    assert_eq!((explanation.reserve_served[&2_097_152], explanation.driver_failures), (1, 1));
    insta::assert_snapshot!(first.reasons().join("\n"), @r"
    the kernel had no free block of order 10, 4194304 bytes
    the driver's reserve has no class above 2097152 bytes, whatever its size
    ");
    insta::assert_snapshot!(explanation.incidents[1].reasons().join("\n"), @r"
    the kernel had no free block of order 7, 524288 bytes
    the driver's reserve was used up or never complete
    ");
}

#[test]
fn exact_and_printed_sizes_meet() {
    let explanation = Explanation::of(&read_log(OLD));
    assert_eq!(explanation.incidents.len(), 1);
    let incident = &explanation.incidents[0];
    assert_eq!((incident.bytes, incident.is_exact, incident.times), (180_355_072, true, 1));
    assert_eq!(incident.place, Some(Place { device: 0, core: Some(0) }));
    assert_eq!(incident.files.first().unwrap(), "/tmp/nrt_mem_log_device_0_670eaded.csv");
    insta::assert_snapshot!(incident.reasons().join("\n"), @"tensors had 17024176620 bytes, 100 % of 17024176620");
}

#[test]
fn device_memory_gets_advice_for_its_main_uses() {
    let explanation = Explanation::of(&read_log(TABLE));
    let incident = &explanation.incidents[0];
    assert_eq!((incident.bytes, incident.is_exact), (4 << 30, false));
    insta::assert_snapshot!(incident.reasons().join("\n"), @r"
    cores 4 and 5 share this memory
    tensors had 15032385536 bytes, 60 % of 24897925415
    shared scratchpad had 6442450944 bytes, 25 % of 24897925415
    scratchpad had 3221225472 bytes, 12 % of 24897925415
    ");
    assert_eq!(
        incident.advice(),
        [UsageCategory::Tensors, UsageCategory::SharedScratchpad, UsageCategory::Scratchpad]
            .map(|one| one.advice())
    );
    assert!(incident.remedies().is_empty());
}

proptest! {
    /// No log makes the reader panic.
    #[test]
    fn no_log_is_too_wild(text in "(Failed to alloc(ate)? [0-9A-Z. (]{0,30}|Displaying Current Memory Utilization|\\||\\* [a-z]{0,5}: [0-9.]{0,22}[KMGT]?B|Node [0-9]{1,12} N: [0-9*kB ]{0,30}|[^\n]{0,20}|\n){0,30}") {
        let _ = Explanation::of(&read_log(&text));
    }

    /// Nor does a real one that is cut anywhere.
    #[test]
    fn no_cut_is_too_bad(at in 0..TABLE.len()) {
        let events = read_log(&TABLE[..at]);
        let explanation = Explanation::of(&events);
        prop_assert!(explanation.incidents.len() <= 1);
    }
}

//! Modes × classes × overflow check, written by hand from the guidelines for memory management,
//! "Understand 64-bit dtype memory behavior".

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem_int64::{
    Int64Mode, Int64Policy, OperatorClass, OperatorTable, Path, Reason, Risk, Route, route,
};

/// A row for each class: an operator of it, then its place in `native`, `packed`, `native_strict`,
/// `cpu_bounce` and `cpu_fallback`. A star: with the check switched on, values are checked there.
const TABLE: &str = "
    class            operator                      native    packed    strict    bounce   fallback
    view             aten.expand.default           device64  device64  device64  device64 device64
    state            _flash_attention_forward      device64  device64  device64  device64 device64
    movement         aten.cat.default              device64  packed    device64  int32    cpu
    factory          aten.arange.default           device64  packed*   device64  int32    cpu
    elementwise      aten.add.Tensor               device64  packed*   device64  int32    cpu
    comparison       aten.eq.Scalar                device64  packed*   device64  int32    cpu
    bitwise          aten.bitwise_and.Tensor       device64  packed*   device64  int32    cpu
    shift            aten.bitwise_left_shift       device64  packed*   device64  int32    cpu
    power            aten.pow.Tensor_Scalar        packed*   packed*   cpu       int32    cpu
    float_result     aten.sqrt.default             packed*   packed*   cpu       int32    cpu
    cast             aten._to_copy.default         packed*   packed*   cpu       int32    cpu
    reduction        aten.sum.dim_IntList          device64  packed*   device64  int32    cpu
    scan             aten.cumsum.default           device64  packed*   device64  int32    cpu
    sort             aten.topk.default             packed*   packed*   cpu       int32    cpu
    gather           aten.embedding.default        device64  packed*   device64  int32    cpu
    scatter          aten.scatter.value            device64  packed*   device64  int32    cpu
    scatter_compute  aten.index_add.default        packed*   packed*   cpu       int32    cpu
    matmul           aten.mm.default               cpu       packed*   cpu       int32    cpu
    collective       _c10d_functional.all_reduce   packed*   packed*   cpu       int32    cpu
    exchange         _c10d_functional.broadcast    device64  packed    device64  int32    cpu
    data_dependent   aten.nonzero.default          packed*   packed*   cpu       int32    cpu
";

fn path(text: &str) -> Path {
    match text.trim_end_matches('*') {
        "device64" => Path::Device64,
        "packed" => Path::DevicePacked,
        "int32" => Path::DeviceInt32,
        "cpu" => Path::Cpu,
        other => panic!("no path is called {other}"),
    }
}

#[test]
fn every_mode_routes_every_class_with_and_without_the_check() {
    let rows: Vec<Vec<&str>> = TABLE
        .lines()
        .map(|line| line.split_whitespace().collect())
        .filter(|row: &Vec<_>| !row.is_empty())
        .collect();
    let (_, rows) = rows.split_first().unwrap();
    let classes: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(classes, OperatorClass::ALL.map(OperatorClass::name));
    for row in rows {
        for (mode, expected) in Int64Mode::ALL.into_iter().zip(&row[2..]) {
            for check in [false, true] {
                let route = route(row[1], Int64Policy::new(mode, check));
                let place = format!("{} in {mode}, check {check}", row[1]);
                assert_eq!(route.class.map(OperatorClass::name), Some(row[0]), "{place}");
                assert_eq!(route.path, path(expected), "{place}");
                assert_eq!(route.is_checked, check && expected.ends_with('*'), "{place}");
            }
        }
    }
}

/// What holds for one operator of a class holds for all, but for what is said of single ones.
#[test]
fn the_operators_of_a_class_run_alike() {
    let table = OperatorTable::built_in();
    for class in OperatorClass::ALL {
        for mode in Int64Mode::ALL {
            let of_class = || table.iter().filter(|(_, facts)| facts.class == class);
            let mut paths: Vec<Path> = of_class().map(|(name, _)| table.route(name, mode).path).collect();
            paths.dedup();
            assert_eq!(paths.len(), 1, "{class} in {mode}");
        }
    }
}

#[test]
fn reasons_follow_the_guide() {
    let reasons = |operator| Int64Mode::ALL.map(|mode| route(operator, mode).reason);
    let [packs, bounces, falls_back] =
        [Reason::ModePacksAll, Reason::ModeBouncesAll, Reason::ModeKeepsAllOnCpu];
    assert_eq!(reasons("add"), [Reason::Supported, packs, Reason::Supported, bounces, falls_back]);
    assert_eq!(reasons("pow"), [Reason::NotSupported, packs, Reason::NotSupported, bounces, falls_back]);
    assert_eq!(reasons("bmm"), [Reason::MatmulOnCpu, packs, Reason::MatmulOnCpu, bounces, falls_back]);
    assert_eq!(
        reasons("my::op"),
        [Reason::UnknownOperator, packs, Reason::UnknownOperator, bounces, falls_back]
    );
    assert_eq!(reasons("view"), [Reason::ViewOnly; 5]);
    assert_eq!(reasons("_scaled_dot_product_flash_attention"), [Reason::StateOnly; 5]);
}

#[track_caller]
fn check_risks(operator: &str, policy: Int64Policy, expected: &[Risk]) {
    assert_eq!(route(operator, policy).risks(), expected, "{operator}, {policy:?}");
}

#[test]
fn values_survive_in_64_bits_and_are_at_risk_elsewhere() {
    for mode in [Int64Mode::NativeStrict, Int64Mode::CpuFallback] {
        for (name, _) in OperatorTable::built_in().iter() {
            check_risks(name, mode.into(), &[]);
        }
    }
    let packed = Int64Policy::new(Int64Mode::Packed, false);
    let checked = Int64Policy::new(Int64Mode::Packed, true);
    let bounce = Int64Policy::new(Int64Mode::CpuBounce, true);
    check_risks("add", packed, &[Risk::LowWord]);
    check_risks("add", checked, &[Risk::Raises]);
    check_risks("add", bounce, &[Risk::Cast]);
    check_risks("cat", packed, &[]);
    check_risks("cat", checked, &[]);
    check_risks("cat", bounce, &[Risk::Cast]);
    check_risks("gather", packed, &[Risk::WrongRow]);
    check_risks("gather", bounce, &[Risk::Cast, Risk::WrongRow]);
    check_risks("scatter_add", packed, &[Risk::Float32, Risk::WrongRow]);
    check_risks("scatter_add", checked, &[Risk::Raises, Risk::Float32]);
    check_risks("mm", packed, &[Risk::LowWord, Risk::Float32]);
    check_risks("topk", packed, &[Risk::Refused, Risk::LowWord]);
    check_risks("my::op", packed, &[Risk::Unknown, Risk::LowWord]);
    check_risks("my::op", Int64Mode::NativeStrict.into(), &[Risk::Unknown]);
    check_risks("expand", bounce, &[]);
}

#[test]
fn an_index_alone_brings_no_risk_to_data() {
    let of_index = |mode| route("aten.embedding_dense_backward", mode).risks_of_index();
    assert_eq!(of_index(Int64Mode::Packed), [Risk::WrongRow]);
    assert_eq!(of_index(Int64Mode::CpuBounce), [Risk::WrongRow]);
    assert_eq!(of_index(Int64Mode::NativeStrict), []);
}

#[test]
fn without_facts_a_route_is_that_of_an_unsupported_operator() {
    for mode in Int64Mode::ALL {
        assert_eq!(Route::of(None, mode.into()).path, route("aten.pow", mode).path);
    }
}

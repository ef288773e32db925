//! Names of modes, the policy from values of variables, bytes bounced, and `float64`.

use neuronx_mem_int64::{
    Float64Use, Int64Error, Int64Mode, Int64Policy, Path, Reason, Risk, Traffic, route, route_float64,
};

#[test]
fn modes_are_the_five_of_the_guide() {
    let names = ["native", "packed", "native_strict", "cpu_bounce", "cpu_fallback"];
    assert_eq!(Int64Mode::ALL.map(Int64Mode::name), names);
    assert_eq!(names.map(|name| name.parse()), Int64Mode::ALL.map(Ok));
    assert_eq!(Int64Mode::default(), Int64Mode::Native);
    assert_eq!(format!("{:>8}", Int64Mode::Packed), "  packed");
    for text in ["", "Native", "native ", "gpu"] {
        assert_eq!(text.parse::<Int64Mode>(), Err(Int64Error::UnknownMode { text: text.to_owned() }));
    }
}

#[test]
fn a_bad_mode_warns_and_the_default_holds() {
    let default = Int64Policy::default();
    assert_eq!(Int64Policy::from_values(None, false), (default, None));
    assert_eq!(Int64Policy::from_values(Some(" "), false), (default, None));
    let packed = Int64Policy::new(Int64Mode::Packed, true);
    assert_eq!(Int64Policy::from_values(Some(" packed\n"), true), (packed, None));
    let (policy, warning) = Int64Policy::from_values(Some("Packed"), true);
    assert_eq!(policy, Int64Policy::new(Int64Mode::Native, true));
    assert_eq!(
        warning.map(|warning| warning.to_string()).as_deref(),
        Some("int64 mode `Packed` is none of native, packed, native_strict, cpu_bounce, cpu_fallback")
    );
}

#[test]
fn bytes_bounce_only_where_the_cpu_takes_part() {
    let call = Traffic::wide(1600, 800).with_others(100, 10);
    let bounced = |mode| {
        let bounce = route("aten.add", mode).bounced(call);
        (bounce.to_host_bytes, bounce.to_device_bytes, bounce.total_bytes())
    };
    assert_eq!(bounced(Int64Mode::Native), (0, 0, 0));
    assert_eq!(bounced(Int64Mode::Packed), (0, 0, 0));
    assert_eq!(bounced(Int64Mode::CpuBounce), (1600 + 400, 800 + 800, 3600));
    assert_eq!(bounced(Int64Mode::CpuFallback), (1700, 810, 2510));
    let most = Traffic::wide(u64::MAX, u64::MAX).with_others(u64::MAX, u64::MAX);
    assert_eq!(route("add", Int64Mode::CpuBounce).bounced(most).total_bytes(), u64::MAX);
    assert_eq!(route("add", Int64Mode::CpuFallback).bounced(most).total_bytes(), u64::MAX);
}

#[test]
fn float64_has_no_path_on_the_device() {
    let conversion = route_float64(Float64Use::Conversion);
    assert_eq!((conversion.path, conversion.reason), (Path::Cpu, Reason::Float64Conversion));
    let operator = route_float64(Float64Use::Operator);
    assert_eq!((operator.path, operator.reason), (Path::Cpu, Reason::NoFloat64));
    let movement = route_float64(Float64Use::Movement);
    assert_eq!((movement.path, movement.reason), (Path::Device64, Reason::MoveOnly));
    for route in [conversion, operator, movement] {
        assert_eq!(route.risks(), <[Risk; 0]>::default());
        assert!(!route.is_checked);
    }
    // Widening 100 floats: 400 bytes to the host, 800 back.
    let bounce = conversion.bounced(Traffic::wide(0, 800).with_others(400, 0));
    assert_eq!((bounce.to_host_bytes, bounce.to_device_bytes), (400, 800));
}

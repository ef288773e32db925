//! The audit: which calls count, how bytes add up, how rows are sorted.

use neuronx_mem_int64::{
    Audit, AuditReport, Dtype, Int64Mode, Int64Policy, OperatorCall, OperatorTable, Path, Reason, Risk,
    TensorInfo,
};

const BF16: Dtype = Dtype::Other(2);

fn tensor(dtype: Dtype, shape: &[u64]) -> TensorInfo {
    TensorInfo::new(dtype, shape)
}

fn audited(mode: Int64Mode, calls: &[OperatorCall]) -> AuditReport {
    let mut audit = Audit::new(OperatorTable::built_in(), mode.into());
    calls.iter().for_each(|call| audit.add(call, 1));
    audit.finish()
}

#[test]
fn operators_of_floats_have_no_row_and_comparisons_may_not_tell() {
    let calls = [
        OperatorCall::new("aten.mm.default", [tensor(BF16, &[4, 4])]),
        OperatorCall::new("aten.eq.Scalar", [tensor(Dtype::Other(1), &[4])]),
        OperatorCall::new("aten._to_copy.default", [tensor(BF16, &[4])]),
        OperatorCall::new("aten.sum.default", [tensor(BF16, &[])]),
        OperatorCall::new("aten.any.default", [tensor(Dtype::Other(1), &[])]),
        OperatorCall::new("aten.eq.Scalar", [tensor(Dtype::Other(1), &[4])])
            .with_operands([tensor(BF16, &[4])]),
    ];
    let report = audited(Int64Mode::Native, &calls);
    assert_eq!((report.calls, report.wide_calls, report.undecided_calls, report.rows.len()), (6, 0, 3, 0));
    assert_eq!(report.total(Int64Mode::Packed).packed_calls, 0);
}

#[test]
fn index_operators_count_whatever_the_type_of_their_result() {
    let calls = [OperatorCall::new("aten.embedding.default", [tensor(BF16, &[8, 16, 32])])];
    let report = audited(Int64Mode::CpuFallback, &calls);
    let row = &report.rows[0];
    // The indices have the shape of the rows; the table of weights is not recorded.
    assert_eq!((row.wide_bytes, row.is_lower_bound), (8 * 8 * 16, true));
    let on_cpu = row.route(Int64Mode::CpuFallback).bounced;
    assert_eq!((on_cpu.to_host_bytes, on_cpu.to_device_bytes), (8 * 8 * 16, 2 * 8 * 16 * 32));
    let bounce = row.route(Int64Mode::CpuBounce).bounced;
    assert_eq!((bounce.to_host_bytes, bounce.to_device_bytes), (8 * 8 * 16, 4 * 8 * 16));
    assert_eq!(row.route(Int64Mode::CpuBounce).risks, [Risk::WrongRow]);
}

/// With operands recorded, the weights bounce too when an embedding runs on the CPU.
#[test]
fn recorded_operands_make_bytes_exact() {
    let call = OperatorCall::new("aten.embedding.default", [tensor(BF16, &[16, 32])])
        .with_operands([tensor(BF16, &[50_257, 32]), tensor(Dtype::Int64, &[16])]);
    let report = audited(Int64Mode::CpuFallback, &[call]);
    let row = &report.rows[0];
    assert!(!row.is_lower_bound && !row.is_unsized);
    let on_cpu = row.route(Int64Mode::CpuFallback).bounced;
    assert_eq!((on_cpu.to_host_bytes, on_cpu.to_device_bytes), (2 * 50_257 * 32 + 8 * 16, 2 * 16 * 32));
}

#[test]
fn spellings_of_one_operator_share_a_row_and_in_place_forms_do_not() {
    let calls =
        ["aten.add.Tensor", "aten::add.Scalar", "add", "aten.add_.Tensor"].map(OperatorCall::of_int64);
    let report = audited(Int64Mode::Native, &calls);
    let rows: Vec<_> = report.rows.iter().map(|row| (row.operator.as_str(), row.calls)).collect();
    assert_eq!(rows, [("aten.add", 3), ("aten.add_", 1)]);
    assert!(report.rows.iter().all(|row| row.is_unsized));
}

#[test]
fn float64_runs_on_the_cpu_in_every_mode() {
    let wide = tensor(Dtype::Float64, &[10]);
    let calls = [
        OperatorCall::new("aten.add.Tensor", [wide.clone()]).with_operands([wide.clone(), wide.clone()]),
        OperatorCall::new("aten._to_copy.default", [tensor(Dtype::Other(4), &[10])])
            .with_operands([wide.clone()]),
        OperatorCall::new("aten.clone.default", [wide.clone()]).with_operands([wide]),
    ];
    let report = audited(Int64Mode::Packed, &calls);
    let of = |name: &str| report.rows.iter().find(|row| row.operator == name);
    for mode in Int64Mode::ALL {
        let route = |name| of(name).map(|row| row.route(mode));
        let add = route("aten.add").map(|add| (add.path, add.reason, add.bounced.total_bytes()));
        assert_eq!(add, Some((Path::Cpu, Reason::NoFloat64, 240)));
        let cast = route("aten._to_copy").map(|cast| (cast.reason, cast.bounced.total_bytes()));
        assert_eq!(cast, Some((Reason::Float64Conversion, 80 + 40)));
        assert_eq!(route("aten.clone").map(|clone| clone.path), Some(Path::Device64));
    }
    assert!(report.rows.iter().all(|row| row.dtype == Dtype::Float64 && row.class.is_some()));
}

#[test]
fn totals_are_the_sums_of_the_rows() {
    let wide = tensor(Dtype::Int64, &[100]);
    let call =
        |name: &str| OperatorCall::new(name, [wide.clone()]).with_operands([wide.clone(), wide.clone()]);
    let mut audit = Audit::new(OperatorTable::built_in(), Int64Policy::new(Int64Mode::Native, true));
    audit.add(&call("aten.add"), 5);
    audit.add(&call("aten.mm"), 2);
    audit.add(&call("aten.pow"), 1);
    audit.add(&call("aten.view"), 7);
    let report = audit.finish();
    let names: Vec<&str> = report.rows.iter().map(|row| row.operator.as_str()).collect();
    // By bytes bounced, then by calls: `pow` is packed and checked, so that nothing is silent.
    assert_eq!(names, ["aten.mm", "aten.view", "aten.add", "aten.pow"]);
    let native = report.total(Int64Mode::Native);
    assert_eq!((native.device64_calls, native.packed_calls, native.cpu_calls), (12, 1, 2));
    assert_eq!((native.bounced.to_host_bytes, native.bounced.to_device_bytes), (2 * 1600, 2 * 800));
    let bounce = report.total(Int64Mode::CpuBounce);
    assert_eq!((bounce.int32_calls, bounce.silent_calls), (8, 8));
    // Checked, but for the sums in float32 of `mm`.
    assert_eq!(report.total(Int64Mode::Packed).silent_calls, 2);
    assert_eq!(report.total(Int64Mode::CpuFallback).silent_calls, 0);
}

#[test]
fn sizes_saturate() {
    let huge = tensor(Dtype::Int64, &[u64::MAX, u64::MAX]);
    let report =
        audited(Int64Mode::CpuBounce, &[OperatorCall::new("aten.add", [huge.clone()]).with_operands([huge])]);
    assert_eq!(report.rows[0].wide_bytes, u64::MAX);
    assert_eq!(report.total(Int64Mode::CpuBounce).bounced.total_bytes(), u64::MAX);
}

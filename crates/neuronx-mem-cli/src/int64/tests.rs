//! Lines of lists and records of traces, one by one.

use neuronx_mem_int64::{Audit, AuditReport, Int64Mode, OperatorTable};

use super::calls::Calls;
use super::{list, record};

#[test]
fn a_line_of_a_list_has_a_name_and_perhaps_a_number() {
    assert_eq!(list::parse("aten.add.Tensor"), Ok(Some(("aten.add.Tensor", 1))));
    assert_eq!(list::parse("   12 aten::mm  # often"), Ok(Some(("aten::mm", 12))));
    assert_eq!(list::parse("aten::mm\t3"), Ok(Some(("aten::mm", 3))));
    assert_eq!(list::parse("# nothing"), Ok(None));
    let refused = |line: &str| list::parse(line).unwrap_err();
    assert_eq!(refused("a,1,512,0"), "`a,1,512,0` is no name of an operator; a trace in CSV names none");
    assert_eq!(refused("12"), "`12` is no name of an operator");
    assert_eq!(refused("add mul"), "`add mul` is no operator with a number of calls");
    assert_eq!(refused("add 1 2"), "`add 1 2` is no operator with a number of calls");
    assert_eq!(refused("add -1"), "`add -1` is no operator with a number of calls");
    assert_eq!(refused(&"é".repeat(99)), format!("`{}…` is no name of an operator", "é".repeat(60)));
}

/// What an audit makes of these records.
fn audited(records: &str) -> Result<AuditReport, String> {
    let table = OperatorTable::built_in();
    let mut audit = Audit::new(table, Int64Mode::Native.into());
    let mut calls = Calls::new(table, &mut audit);
    for line in records.lines() {
        if let Some(record) = record::parse(line.trim())? {
            calls.record(record)?;
        }
    }
    calls.finish();
    Ok(audit.finish())
}

#[track_caller]
fn check(records: &str, expected: &[(&str, u64, u64)]) {
    let report = audited(records).unwrap();
    let rows: Vec<_> =
        report.rows.iter().map(|row| (row.operator.as_str(), row.calls, row.wide_bytes)).collect();
    assert_eq!(rows, expected);
}

#[test]
fn allocations_of_one_call_are_one_call() {
    // The values are floats, the indices int64; then the same again from the same place.
    let pair = r#"{"ev":"alloc","op":"aten.topk.default","dtype":"float32","shape":[2,5],"stack_id":1}
        {"ev":"free","id":3}
        {"ev":"alloc","op":"aten.topk.default","dtype":"int64","shape":[2,5],"stack_id":1}
    "#;
    check(&format!("{pair}{pair}"), &[("aten.topk", 2, 160)]);
    // Another place is another call.
    check(&pair.replacen("\"stack_id\":1", "\"stack_id\":2", 1), &[("aten.topk", 1, 80)]);
    // An operator with one result makes a call each time.
    let add = r#"{"op":"aten.add.Tensor","dtype":"int64","shape":[],"stack_id":1}"#;
    check(&format!("{add}\n{add}"), &[("aten.add", 2, 16)]);
}

#[test]
fn records_of_calls_have_all_tensors() {
    let call = r#"{"op":"aten::eq.Tensor","calls":3,
        "inputs":[{"dtype":"torch.int64","shape":[10]},{"dtype":"int64","shape":[]}],
        "outputs":[{"dtype":"bool","shape":[10]}]}"#;
    let report = audited(&call.replace('\n', " ")).unwrap();
    let row = &report.rows[0];
    assert_eq!((row.calls, row.wide_bytes, row.is_lower_bound), (3, 3 * 88, false));
    let on_cpu = row.route(Int64Mode::CpuFallback).bounced;
    assert_eq!((on_cpu.to_host_bytes, on_cpu.to_device_bytes), (3 * 88, 3 * 10));
    // Without a 64-bit operand there is nothing to tell.
    check(&call.replace('\n', " ").replace("int64", "int32"), &[]);
    check(r#"{"op":"aten.add_.Tensor","inputs":[{"dtype":"int64","shape":[4]}]}"#, &[("aten.add_", 1, 32)]);
}

#[test]
fn types_that_nobody_knows_are_no_obstacle() {
    check(r#"{"op":"aten.add.Tensor","dtype":"float3","shape":[8],"bytes":3}"#, &[]);
    check(r#"{"op":"aten.gather.default","dtype":"float3","shape":[0],"bytes":3}"#, &[("aten.gather", 1, 0)]);
}

#[test]
fn lines_without_an_operator_are_read_over_and_broken_ones_refused() {
    check("{\"name\": \"x\", \"shape\": \"none\"}\n\n{\"ev\":\"mark\"}\n{\"op\":null}", &[]);
    let refused = |line: &str| audited(line).unwrap_err();
    assert_eq!(refused("{"), "no record: EOF while parsing an object at line 1 column 1");
    assert_eq!(refused("[1]"), "no record: it is no object");
    assert_eq!(refused(r#"{"op":"aten.add"}"#), "`aten.add` lacks its dtype");
    assert_eq!(refused(r#"{"op":"aten.add","dtype":"int64"}"#), "`aten.add` lacks its shape");
    assert_eq!(
        refused(r#"{"op":"aten.add","dtype":"int64","shape":[-1]}"#),
        "no record: invalid value: integer `-1`, expected u64 at line 1 column 44"
    );
}

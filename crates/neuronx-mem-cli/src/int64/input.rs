//! What the input is: names of operators, a trace in JSON lines, or a list. Reads it line by line.

use std::ffi::OsString;
use std::io::{BufRead, Read};
use std::path::Path;

use neuronx_mem_int64::{Audit, OperatorCall, OperatorTable};
use neuronx_mem_replay::TraceInput;

use super::calls::Calls;
use super::error::AuditError;
use super::{list, record};
use crate::failure::Failure;

/// Longest line: the stacks of a trace come in one line of a few hundred kilobytes.
const MAX_LINE_BYTES: u64 = 256 << 20;

/// The first byte of a pickle of protocol 2 or later.
const PICKLE: u8 = 0x80;

/// Reads everything into the audit and returns the name of the input.
pub(super) fn read(
    inputs: &[OsString],
    table: &OperatorTable,
    audit: &mut Audit<'_>,
) -> Result<String, Failure> {
    let [input] = inputs else { return Ok(names(inputs, table, audit)?) };
    let is_file = input == "-" || Path::new(input).exists();
    if !is_file && is_operator(&input.to_string_lossy(), table) {
        return Ok(names(inputs, table, audit)?);
    }
    if !is_file {
        return Err(AuditError::NoInput { name: input.to_string_lossy().into_owned() }.into());
    }
    let input = TraceInput::from_argument(input);
    lines(&input, table, audit)?;
    Ok(input.name())
}

fn names(inputs: &[OsString], table: &OperatorTable, audit: &mut Audit<'_>) -> Result<String, AuditError> {
    for name in inputs {
        let name = name.to_string_lossy();
        if !is_operator(&name, table) {
            return Err(AuditError::NoOperator { name: name.into_owned() });
        }
        audit.add(&OperatorCall::of_int64(name), 1);
    }
    Ok("command line".to_owned())
}

/// A name of the table, or one that says by its namespace that it is an operator.
fn is_operator(name: &str, table: &OperatorTable) -> bool {
    let has_namespace = name.contains("::") || name.starts_with("aten.") || name.starts_with("torch.ops.");
    list::is_name(name) && (has_namespace || table.get(name).is_some())
}

fn lines(input: &TraceInput, table: &OperatorTable, audit: &mut Audit<'_>) -> Result<(), Failure> {
    let mut reader = input.open_text()?;
    let start = reader.fill_buf().map_err(|source| input.unreadable(0, source))?;
    if start.first() == Some(&PICKLE) {
        return Err(AuditError::Snapshot { input: input.name() }.into());
    }
    let is_json = start.trim_ascii_start().first() == Some(&b'{');
    let mut calls = Calls::new(table, audit);
    let (mut line, mut bytes) = (0, Vec::new());
    loop {
        bytes.clear();
        let n_read = reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes);
        if n_read.map_err(|source| input.unreadable(line, source))? == 0 {
            break;
        }
        line += 1;
        let wrong = |reason| AuditError::Line { input: input.name(), line, reason };
        let text = std::str::from_utf8(&bytes).map_err(|_| wrong("no text in UTF-8".to_owned()))?.trim();
        if is_json {
            if let Some(record) = record::parse(text).map_err(wrong)? {
                calls.record(record).map_err(wrong)?;
            }
        } else if let Some((name, n_calls)) = list::parse(text).map_err(wrong)? {
            calls.named(name, n_calls);
        }
    }
    if calls.finish() == 0 { Err(AuditError::Empty { input: input.name() }.into()) } else { Ok(()) }
}

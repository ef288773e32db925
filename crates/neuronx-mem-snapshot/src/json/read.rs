//! Reads JSON. Knows the top level and turns the parser's failures into typed errors; refuses to
//! hold the text of a file in memory.

use std::io::Read;

use serde::de::DeserializeSeed;

use super::context::Context;
use super::seeds::Top;
use crate::Error;
use crate::limits::{Budget, Limits};
use crate::model::Snapshot;

/// Reads a snapshot from memory.
pub(crate) fn read_json_slice(bytes: &[u8], limits: &Limits) -> Result<Snapshot, Error> {
    limits.check_input(bytes.len() as u64)?;
    let mut context = Context::new(limits, Budget::new(limits, bytes.len() as u64));
    let mut parser = serde_json::Deserializer::from_slice(bytes);
    let result = Top(&mut context).deserialize(&mut parser).and_then(|snapshot| {
        parser.end()?;
        Ok(snapshot)
    });
    finish(context, result)
}

/// Reads a snapshot of `input_bytes` from a stream; what lies beyond is not read.
pub(crate) fn read_json_from(
    reader: impl Read,
    input_bytes: u64,
    limits: &Limits,
) -> Result<Snapshot, Error> {
    limits.check_input(input_bytes)?;
    let mut context = Context::new(limits, Budget::new(limits, input_bytes));
    let mut parser = serde_json::Deserializer::from_reader(reader.take(input_bytes));
    let result = Top(&mut context).deserialize(&mut parser).and_then(|snapshot| {
        parser.end()?;
        Ok(snapshot)
    });
    finish(context, result)
}

fn finish(context: Context, result: Result<Snapshot, serde_json::Error>) -> Result<Snapshot, Error> {
    let failure = match result {
        Ok(snapshot) => return Ok(snapshot),
        Err(failure) => failure,
    };
    // Our own errors pass through the parser as messages; the original is kept aside.
    if let Some(error) = context.error {
        return Err(error);
    }
    if failure.is_io() {
        return Err(Error::io("reading json", failure.into()));
    }
    Err(Error::Json { line: failure.line(), column: failure.column(), message: failure.to_string() })
}

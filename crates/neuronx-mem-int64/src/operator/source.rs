//! The text of a table: TOML, read strictly. Knows the format and no operator.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Basis, DataPath, Values};
use crate::{Int64Error, OperatorClass};

/// The version that this crate reads.
const SCHEMA: u32 = 1;

/// A table as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Source {
    schema: u32,
    #[serde(default)]
    pub(super) class: Vec<Class>,
    #[serde(default)]
    pub(super) operator: Vec<Operator>,
    #[serde(default)]
    pub(super) refused: Refused,
    #[serde(default)]
    pub(super) operand_shapes: OperandShapes,
    #[serde(default)]
    pub(super) results: BTreeMap<String, usize>,
}

/// A class: what holds for it, and its operators. What an extension leaves out stays as it was.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Class {
    pub(super) name: OperatorClass,
    pub(super) values: Option<Values>,
    pub(super) device64: Option<bool>,
    pub(super) basis: Option<Basis>,
    pub(super) data_path: Option<DataPath>,
    pub(super) always_int64: Option<bool>,
    pub(super) source: Option<String>,
    #[serde(default)]
    pub(super) operators: Vec<String>,
}

/// An exception for one operator that is in the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Operator {
    pub(super) name: String,
    pub(super) values: Option<Values>,
    pub(super) device64: Option<bool>,
    pub(super) basis: Option<Basis>,
    pub(super) data_path: Option<DataPath>,
    pub(super) source: Option<String>,
    pub(super) refused: Option<bool>,
}

/// What the compiler refuses on `int32` as well.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Refused {
    #[serde(default)]
    pub(super) source: String,
    #[serde(default)]
    pub(super) operators: Vec<String>,
}

/// What a recorded result says about an operand.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OperandShapes {
    #[serde(default)]
    pub(super) as_result: Vec<String>,
    #[serde(default)]
    pub(super) rows_of_result: Vec<String>,
}

impl Source {
    pub(super) fn parse(text: &str) -> Result<Self, Int64Error> {
        let source: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| 1 + text[..span.start].matches('\n').count());
            let message = error.message().replace('\n', " ");
            let reason = line.map_or_else(|| message.clone(), |line| format!("line {line}: {message}"));
            Int64Error::Table { reason }
        })?;
        if source.schema != SCHEMA {
            let reason = format!("schema {} where {SCHEMA} is needed", source.schema);
            return Err(Int64Error::Table { reason });
        }
        Ok(source)
    }
}

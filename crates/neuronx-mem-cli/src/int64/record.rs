//! Records of a trace in JSON lines: allocations with their operator, or calls with all their tensors.

use neuronx_mem_int64::{Dtype, TensorInfo};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// One line that names an operator. What else a line holds is ignored.
#[derive(Debug, Deserialize)]
pub(super) struct Record {
    pub(super) op: String,
    /// The result that was allocated.
    dtype: Option<String>,
    shape: Option<Vec<u64>>,
    bytes: Option<u64>,
    /// Where the program was; allocations of one call have the same.
    pub(super) stack_id: Option<u64>,
    /// All operands, where the trace records calls.
    inputs: Option<Vec<Tensor>>,
    /// All results, where the trace records calls.
    outputs: Option<Vec<Tensor>>,
    /// How often the call was made.
    calls: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Tensor {
    dtype: String,
    shape: Vec<u64>,
}

/// A line, if it names an operator: headers, frees and marks do not.
pub(super) fn parse(line: &str) -> Result<Option<Record>, String> {
    /// What tells lines apart, without reading the rest.
    #[derive(Deserialize)]
    struct Kind {
        op: Option<IgnoredAny>,
    }
    if line.is_empty() {
        return Ok(None);
    }
    // A list would be read as the fields in their order.
    if !line.starts_with('{') {
        return Err("no record: it is no object".to_owned());
    }
    let wrong = |error: serde_json::Error| format!("no record: {error}");
    match serde_json::from_str::<Kind>(line).map_err(wrong)?.op {
        None => Ok(None),
        Some(_) => serde_json::from_str(line).map(Some).map_err(wrong),
    }
}

impl Record {
    /// Whether the record is a call with all its results, and not one allocation.
    pub(super) const fn is_call(&self) -> bool {
        self.outputs.is_some() || self.inputs.is_some()
    }

    pub(super) fn n_calls(&self) -> u64 {
        self.calls.unwrap_or(1)
    }

    pub(super) fn operands(&self) -> Option<Vec<TensorInfo>> {
        self.inputs.as_ref().map(|tensors| tensors.iter().map(Tensor::info).collect())
    }

    /// The results of a call, or the one that was allocated.
    pub(super) fn results(&self) -> Result<Vec<TensorInfo>, String> {
        if let Some(tensors) = &self.outputs {
            return Ok(tensors.iter().map(Tensor::info).collect());
        }
        match (&self.dtype, &self.shape) {
            (Some(dtype), Some(shape)) => {
                Ok(vec![TensorInfo::new(type_of(dtype, shape, self.bytes), shape.clone())])
            }
            (None, None) if self.inputs.is_some() => Ok(Vec::new()),
            (None, _) => Err(format!("`{}` lacks its dtype", self.op)),
            (_, None) => Err(format!("`{}` lacks its shape", self.op)),
        }
    }
}

impl Tensor {
    fn info(&self) -> TensorInfo {
        TensorInfo::new(type_of(&self.dtype, &self.shape, None), self.shape.clone())
    }
}

/// A type by name; of one that is not known, only the size matters.
fn type_of(name: &str, shape: &[u64], bytes: Option<u64>) -> Dtype {
    Dtype::by_name(name).unwrap_or_else(|| {
        let n_elements = shape.iter().fold(1_u64, |n, size| n.saturating_mul(*size));
        Dtype::Other(bytes.and_then(|bytes| bytes.checked_div(n_elements)).unwrap_or(1))
    })
}

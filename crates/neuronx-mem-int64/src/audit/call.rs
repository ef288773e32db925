//! One call of an operator, as a trace or a list tells it.

use super::Dtype;
use crate::{OperandShape, OperatorClass, OperatorFacts, Traffic, Values};

/// A tensor of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorInfo {
    /// The type of its elements.
    pub dtype: Dtype,
    /// Its shape; empty for a tensor of one element without dimensions.
    pub shape: Vec<u64>,
}

/// One call of an operator: its results, and its operands where they are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorCall {
    operator: String,
    results: Vec<TensorInfo>,
    operands: Option<Vec<TensorInfo>>,
    is_int64: bool,
}

/// What a call has to do with 64-bit types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Concern {
    /// Nothing.
    None,
    /// Its results do not tell, and its operands are not known.
    Undecided,
    /// One of its tensors is of this type.
    Wide(Dtype),
}

impl TensorInfo {
    /// Puts a tensor together.
    #[must_use]
    pub fn new(dtype: Dtype, shape: impl Into<Vec<u64>>) -> Self {
        Self { dtype, shape: shape.into() }
    }

    /// Returns its bytes in device memory, saturating.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        bytes(&self.shape, self.dtype)
    }

    const fn is_wide(&self) -> bool {
        matches!(self.dtype, Dtype::Int64 | Dtype::Float64)
    }
}

fn bytes(shape: &[u64], dtype: Dtype) -> u64 {
    shape.iter().fold(dtype.element_bytes(), |bytes, size| bytes.saturating_mul(*size))
}

impl OperatorCall {
    /// A call with its results; the operands are not known. The name may have any spelling.
    #[must_use]
    pub fn new(operator: impl Into<String>, results: impl Into<Vec<TensorInfo>>) -> Self {
        Self { operator: operator.into(), results: results.into(), operands: None, is_int64: false }
    }

    /// A call of which only the name is known, and that it concerns `int64`.
    #[must_use]
    pub fn of_int64(operator: impl Into<String>) -> Self {
        Self { operator: operator.into(), results: Vec::new(), operands: None, is_int64: true }
    }

    /// Adds the operands: all tensors that it reads.
    #[must_use]
    pub fn with_operands(mut self, operands: impl Into<Vec<TensorInfo>>) -> Self {
        self.operands = Some(operands.into());
        self
    }

    /// Returns the name as it was given.
    #[must_use]
    pub fn operator(&self) -> &str {
        &self.operator
    }

    pub(super) fn concern(&self, facts: Option<&OperatorFacts>) -> Concern {
        let has = |dtype| self.tensors().any(|tensor| tensor.dtype == dtype);
        if self.is_int64 || has(Dtype::Int64) {
            return Concern::Wide(Dtype::Int64);
        }
        if has(Dtype::Float64) {
            return Concern::Wide(Dtype::Float64);
        }
        if self.operands.is_some() {
            return Concern::None;
        }
        match facts {
            Some(facts) if facts.is_always_int64 => Concern::Wide(Dtype::Int64),
            Some(facts) if self.hides_operands(facts) => Concern::Undecided,
            _ => Concern::None,
        }
    }

    /// Whether the results look the same for `int64` and other operands. Of operators that make
    /// floats only casts count: an exponential of integers is rare, and its operands are floats in
    /// every trace seen.
    fn hides_operands(&self, facts: &OperatorFacts) -> bool {
        let is_bool = self.results.iter().all(|result| result.dtype == Dtype::Other(1));
        match facts.class {
            OperatorClass::Cast | OperatorClass::DataDependent => true,
            OperatorClass::Comparison | OperatorClass::Reduction => is_bool,
            _ => false,
        }
    }

    /// Whether data is of 64 bits, and not an index alone.
    pub(super) fn is_data_wide(&self, facts: Option<&OperatorFacts>) -> bool {
        match facts {
            Some(facts) if facts.values == Values::Index => {
                self.is_int64 || self.results.iter().any(TensorInfo::is_wide)
            }
            _ => true,
        }
    }

    /// Whether it is known how large its tensors are.
    pub(super) fn has_sizes(&self) -> bool {
        !self.results.is_empty() || self.operands.is_some()
    }

    /// Whether every tensor is known.
    pub(super) fn is_complete(&self, facts: Option<&OperatorFacts>) -> bool {
        let needs_none =
            facts.is_some_and(|facts| facts.values == Values::View || facts.class == OperatorClass::Factory);
        self.operands.is_some() || (needs_none && self.has_sizes())
    }

    /// The bytes of its tensors, as far as they are certain.
    pub(super) fn traffic(&self, facts: Option<&OperatorFacts>) -> Traffic {
        let sum = |tensors: &[TensorInfo], is_wide| {
            tensors
                .iter()
                .filter(|tensor| tensor.is_wide() == is_wide)
                .fold(0_u64, |bytes, tensor| bytes.saturating_add(tensor.bytes()))
        };
        let (wide_operand_bytes, other_operand_bytes) = match &self.operands {
            Some(operands) => (sum(operands, true), sum(operands, false)),
            None => (self.certain_operand_bytes(facts), 0),
        };
        Traffic {
            wide_operand_bytes,
            other_operand_bytes,
            wide_result_bytes: sum(&self.results, true),
            other_result_bytes: sum(&self.results, false),
        }
    }

    /// What the shape of the first result says of an `int64` operand.
    fn certain_operand_bytes(&self, facts: Option<&OperatorFacts>) -> u64 {
        let (Some(facts), Some(result)) = (facts, self.results.first()) else { return 0 };
        let is_operand_wide = facts.is_always_int64 || result.is_wide();
        match facts.operand_shape {
            OperandShape::AsResult if is_operand_wide => bytes(&result.shape, Dtype::Int64),
            OperandShape::RowsOfResult if is_operand_wide => {
                result.shape.split_last().map_or(0, |(_, rows)| bytes(rows, Dtype::Int64))
            }
            _ => 0,
        }
    }

    fn tensors(&self) -> impl Iterator<Item = &TensorInfo> {
        self.results.iter().chain(self.operands.iter().flatten())
    }
}

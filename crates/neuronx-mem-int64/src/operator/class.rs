//! The classes of operators that run alike. Knows names; what is true of a class is in the table.

use std::fmt;

/// Operators that run alike in every mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OperatorClass {
    /// Another shape over the same storage: `view`, `expand`, `slice`.
    View,
    /// Floats computed, with the state of the random generator as `int64` beside them: attention.
    State,
    /// Copies of whole elements: `cat`, `clone`, `where`.
    Movement,
    /// Tensors made from nothing or from one number: `arange`, `zeros`, `randint`.
    Factory,
    /// Arithmetic element by element: `add`, `remainder`, `clamp`.
    Elementwise,
    /// Comparisons and logic: `eq`, `logical_and`, `searchsorted`.
    Comparison,
    /// `bitwise_and` and the like.
    Bitwise,
    /// `bitwise_left_shift` and `bitwise_right_shift`.
    Shift,
    /// `pow`.
    Power,
    /// Integers in, floats out: `sqrt`, `div` without a rounding mode.
    FloatResult,
    /// Conversions from and to another dtype.
    Cast,
    /// `sum`, `max`, `argmax`, pooling.
    Reduction,
    /// `cumsum` and the like.
    Scan,
    /// `sort`, `topk`, `median`.
    Sort,
    /// Reading by index: `embedding`, `index_select`, `nll_loss_forward`.
    Gather,
    /// Writing by index: `scatter`, `index_put`.
    Scatter,
    /// Adding by index: `index_add`, `embedding_dense_backward`.
    ScatterCompute,
    /// Matrix products and convolutions.
    Matmul,
    /// Collectives that compute: `all_reduce`.
    Collective,
    /// Collectives that only move: `broadcast`.
    Exchange,
    /// The size of the result follows from the values: `nonzero`, `item`.
    DataDependent,
}

impl OperatorClass {
    /// Every class, in the order of the table.
    pub const ALL: [Self; 21] = [
        Self::View,
        Self::State,
        Self::Movement,
        Self::Factory,
        Self::Elementwise,
        Self::Comparison,
        Self::Bitwise,
        Self::Shift,
        Self::Power,
        Self::FloatResult,
        Self::Cast,
        Self::Reduction,
        Self::Scan,
        Self::Sort,
        Self::Gather,
        Self::Scatter,
        Self::ScatterCompute,
        Self::Matmul,
        Self::Collective,
        Self::Exchange,
        Self::DataDependent,
    ];

    /// Returns the name in the table, such as `scatter_compute`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::State => "state",
            Self::Movement => "movement",
            Self::Factory => "factory",
            Self::Elementwise => "elementwise",
            Self::Comparison => "comparison",
            Self::Bitwise => "bitwise",
            Self::Shift => "shift",
            Self::Power => "power",
            Self::FloatResult => "float_result",
            Self::Cast => "cast",
            Self::Reduction => "reduction",
            Self::Scan => "scan",
            Self::Sort => "sort",
            Self::Gather => "gather",
            Self::Scatter => "scatter",
            Self::ScatterCompute => "scatter_compute",
            Self::Matmul => "matmul",
            Self::Collective => "collective",
            Self::Exchange => "exchange",
            Self::DataDependent => "data_dependent",
        }
    }
}

impl fmt::Display for OperatorClass {
    /// Prints the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

//! 64-bit tensors on Neuron: where each operator runs, and whether values survive.
//!
//! ```
//! use neuronx_mem_int64::{Int64Mode, Path, Risk, route};
//!
//! // cumsum of token counts in the mode `packed`: 32-bit sums, wrong from 2^31 on.
//! let cumsum = route("aten.cumsum", Int64Mode::Packed);
//! assert_eq!((cumsum.path, cumsum.risks()), (Path::DevicePacked, vec![Risk::LowWord]));
//!
//! // Matrix products go to the CPU and back in the default mode.
//! let mm = route("aten.mm.default", Int64Mode::Native);
//! assert_eq!((mm.path, mm.risks()), (Path::Cpu, vec![]));
//! ```
//!
//! [`route()`] decides by a table of operators, which [`OperatorTable::extend`] adds to. [`Audit`] does
//! so for all calls of a program. [`PackedLayout`] and [`TensorRef`] are the packed view, [`kernels`]
//! the loops over whole tensors, and [`Reference`] computes what each mode makes of values.
//!
//! It knows modes, operators and integers. It refuses to read the environment: the two variables come
//! in as values ([`Int64Policy::from_values`]). It runs no operator on a device.
//!
//! Follows the guidelines for memory management, "Understand 64-bit dtype memory behavior". Which
//! operators the device runs in 64 bits is published nowhere; the table says for each how it is known.

#![forbid(unsafe_code)]

mod arithmetic;
mod audit;
mod error;
pub mod kernels;
mod mode;
mod operator;
mod policy;
mod route;
mod view;

pub use arithmetic::{
    Arithmetic, Axis, BinaryOp, Negative, Order, Reduction, Reference, ScanOp, Traced, UnaryOp,
};
pub use audit::{Audit, AuditReport, AuditRow, Dtype, ModeTotals, OperatorCall, RouteSummary, TensorInfo};
pub use error::{Int64Error, Operand};
pub use mode::Int64Mode;
pub use operator::{
    Basis, DataPath, OperandShape, OperatorClass, OperatorFacts, OperatorName, OperatorTable, Values,
};
pub use policy::Int64Policy;
pub use route::{Bounce, Float64Use, Path, Reason, Risk, Route, Traffic, route, route_float64};
pub use view::{
    PackedForm, PackedLayout, PackedRef, TensorLayout, TensorRef, Word, as_values, as_values_mut, as_words,
    as_words_mut,
};

//! What is known of operators: their names, their classes, and the table that holds both.

mod class;
mod facts;
mod name;
mod source;
mod table;

#[cfg(test)]
mod tests;

pub use class::OperatorClass;
pub use facts::{Basis, DataPath, OperandShape, OperatorFacts, Values};
pub use name::OperatorName;
pub use table::OperatorTable;

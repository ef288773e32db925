//! The packed view: a tensor of 64-bit integers as one of 32-bit words, and back, without a copy.
//!
//! Knows shapes, strides and offsets, and slices of host memory. Each value is two words, the low one
//! first: the order of little-endian machines, which Neuron hosts and devices are.

mod layout;
mod packed;
mod tensor;
mod words;

pub use layout::TensorLayout;
pub use packed::{PackedForm, PackedLayout, Word};
pub use tensor::{PackedRef, TensorRef};
pub use words::{as_values, as_values_mut, as_words, as_words_mut};

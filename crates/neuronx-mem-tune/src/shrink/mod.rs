//! The few events of a trace that still show an effect, for a bug report or a test.

mod effect;
mod minimize;
mod pieces;
mod reduce;

pub use effect::{Effect, EffectFault, Measure};
pub use reduce::{Shrunk, Sizes, shrink};

//! Which settings would have served recorded runs best.

mod grid;
mod hunt;
mod memo;
mod moves;
mod options;
mod random;
mod robust;
mod score;
mod space;
mod tune;
mod validate;
mod words;

pub(crate) use random::Random;

pub use options::{Phase, TuneOptions, TuneProgress};
pub use tune::{InputTuning, Pick, Tuning, tune};
pub use validate::{HeldOut, Validation};
pub use words::explain;

//! Loops over whole tensors: take the low words, widen them again, cut values down, look for values
//! that do not fit.
//!
//! Written without branches on values, so that the compiler makes vector code of them; the benchmark
//! program holds them against `memcpy`. Allocate nothing.

#[cfg(feature = "rayon")]
pub mod parallel;
mod scan;
mod words;

pub use scan::{Outside, Scan, scan};
pub use words::{copy_low_words, sign_extend, truncate};

//! A stand-in for libnrt: its functions with their real signatures, over the simulated device. For
//! tests, which open it as they would open libnrt, so that every call crosses a real C boundary.
//!
//! It fails as libnrt does: before `nrt_init`, after `nrt_close`, for a handle that it does not know,
//! for a range outside a tensor, for a copy from one HBM to another, when memory runs out. Slices hold
//! their tensor's memory, in whatever order they are freed. Device memory has bytes here, of which
//! only written pages take host memory. It executes no models and has no asynchronous queues.
//!
//! Settings are variables, read when the library is started (version and number of cores: when they
//! are asked for): see [`Settings`]. Functions that start with `nrt_standin_` are for tests alone:
//! other settings, a callback before each call, and counts.

#![expect(unsafe_code, reason = "a C library")]
#![allow(unreachable_pub, reason = "exported by name, not by path")]
#![warn(clippy::undocumented_unsafe_blocks)]

mod abi;
mod control;
mod pages;
mod settings;
mod state;

pub use control::StandinCounters;
pub use settings::Settings;

//! The Neuron caching allocator behind a C ABI: for C, C++ and whatever speaks to C.
//!
//! ```
//! use neuronx_mem_capi::{NXM_ABI_VERSION, nxm_abi_version, nxm_vtable};
//!
//! assert_eq!(nxm_abi_version(), NXM_ABI_VERSION);
//! assert!(!nxm_vtable(1).is_null() && nxm_vtable(7).is_null());
//! ```
//!
//! A thin layer: each function turns pointers into references, calls the facade once, and turns the
//! error into a code and a text of the thread. It decides nothing, and lets no panic out. The header
//! `include/neuronx_mem.h` is written from these files and compared with them in a test. Objects are
//! opaque pointers; blocks and streams are checked values, so that freeing a block twice is an error.
//! Structs that may grow start with their size, and [`nxm_vtable`] hands out all functions as one
//! versioned table.

#![expect(unsafe_code, reason = "a C ABI")]
#![allow(non_camel_case_types, reason = "names of C")]
#![allow(unreachable_pub, reason = "exported by name, not by path")]
#![warn(clippy::undocumented_unsafe_blocks, clippy::multiple_unsafe_ops_per_block)]

mod allocator;
mod analysis;
mod blocks;
mod callbacks;
mod config;
mod errors;
mod memory;
mod options;
mod out_of_memory;
mod pointers;
mod pools;
mod readings;
mod runtime;
mod snapshots;
mod status;
mod streams;
mod tensors;
mod text;
mod version;
mod vtable;

pub use allocator::*;
pub use analysis::*;
pub use blocks::*;
pub use callbacks::*;
pub use config::*;
pub use errors::*;
pub use memory::*;
pub use options::*;
pub use out_of_memory::*;
pub use pools::*;
pub use readings::*;
pub use snapshots::*;
pub use status::*;
pub use streams::*;
pub use tensors::*;
pub use text::*;
pub use version::*;
pub use vtable::*;

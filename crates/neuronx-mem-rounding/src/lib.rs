//! Size classes of the Neuron caching allocator: powers of two with N divisions.
//!
//! ```
//! use neuronx_mem_rounding::RoundingScheme;
//!
//! let scheme = RoundingScheme::DEFAULT; // 256 B floor, 4 divisions, unrounded from 16 MiB
//! assert_eq!(scheme.round(1000), Some(1024));
//! assert_eq!(scheme.round(1025), Some(1280));
//! assert_eq!(scheme.round(16 << 20), Some(16 << 20));
//! assert_eq!(scheme.classes().count(), 65);
//! ```
//!
//! The crate knows arithmetic only: no pool, no memory, no environment variable. It has no
//! dependency, is `no_std`, and every function can run at compile time, so any allocator can
//! use it alone. A small fixed-class freelist, for example:
//!
//! ```
//! use neuronx_mem_rounding::RoundingScheme;
//!
//! /// Freed addresses by size class; needs no search and no size header.
//! struct ClassFreelist {
//!     scheme: RoundingScheme,
//!     free: Vec<Vec<u64>>,
//!     next_address: u64,
//! }
//!
//! impl ClassFreelist {
//!     fn allocate(&mut self, bytes: u64) -> Option<u64> {
//!         let class = usize::try_from(self.scheme.class_index(bytes)?).ok()?;
//!         if let Some(address) = self.free[class].pop() {
//!             return Some(address);
//!         }
//!         let address = self.next_address;
//!         self.next_address += self.scheme.round(bytes)?;
//!         Some(address)
//!     }
//! }
//!
//! let scheme = RoundingScheme::new(64, 8, 1 << 20)?;
//! let free = vec![Vec::new(); scheme.classes().count()];
//! let mut list = ClassFreelist { scheme, free, next_address: 0 };
//! assert_eq!(list.allocate(65), Some(0));
//! assert_eq!(list.allocate(1), Some(72)); // 65 B took the 72 B class
//! # Ok::<(), neuronx_mem_rounding::InvalidScheme>(())
//! ```
//!
//! Follows the environment variables reference (`kMinRoundedSize`, `kMediumThreshold`,
//! `kRoundupPower2Divisions`) and allocator semantics §2.

#![no_std]
#![forbid(unsafe_code)]

mod classes;
mod scheme;

pub use classes::{Classes, WorstCase};
pub use scheme::{InvalidScheme, RoundingScheme};

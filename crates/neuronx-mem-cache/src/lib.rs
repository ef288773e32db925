//! Compile caches on disk: a store of NEFF and HLO files, locks, and checks of where they are.
//!
//! ```
//! use neuronx_mem_cache::{Cache, EntryKind, KeyBuilder, Origin, Store};
//!
//! # let root = tempfile::tempdir()?;
//! # let (neff_dir, local_dir) = (root.path().join("neff"), root.path().join("local"));
//! let cache = Cache::new(Store::open(&neff_dir, EntryKind::Neff), &local_dir);
//! let key = KeyBuilder::new("neuronx-cc 2.27").compiler_config(b"-O1").from_hlo(b"module {}");
//! let first = cache.get_or_compile(&key, || Ok::<_, std::io::Error>(b"NEFF".to_vec()))?;
//! let second = cache.get_or_compile(&key, || Ok::<_, std::io::Error>(b"again".to_vec()))?;
//! assert_eq!((first.origin, second.origin), (Origin::Compiled, Origin::Store));
//! assert_eq!(second.bytes, b"NEFF");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Store`] keeps whole files under a [`CacheKey`] and notices damage; [`Store::gc`] bounds its
//! size. [`LockDirectory`] lets one process at a time work on a key. [`Cache`] puts both together,
//! so that each key is compiled once. [`check()`] looks at the directories before a job needs them.
//!
//! It knows files, hashes and locks. It refuses to know what a NEFF is, to read the environment,
//! and to break a lock that somebody holds: the kernel releases those of dead processes itself.
//!
//! Follows the environment variables reference ("Persistent NEFF / HLO cache") and the guidelines
//! for memory management ("Place caches deliberately").

#![forbid(unsafe_code)]

mod cache;
pub mod check;
mod error;
mod gc;
mod key;
mod lock;
mod store;

pub use cache::{Cache, CacheStats, GetOrCompileError, Origin, Outcome};
#[doc(inline)]
pub use check::check;
pub use error::{CacheError, Operation};
pub use gc::{GcOptions, GcReport};
pub use key::{CacheKey, KeyBuilder, ParseKeyError};
pub use lock::{
    Clock, DEFAULT_LOCK_TIMEOUT, Holder, KeyLock, LockDirectory, LockOptions, LockSurvey, Presence,
    SystemClock,
};
pub use store::{Durability, Entry, EntryKind, Layer, Lookup, MissReason, Store};

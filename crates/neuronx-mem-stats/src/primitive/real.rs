//! The real atomics. Adds nothing to them.

pub(crate) use std::sync::atomic::{AtomicU64, Ordering, fence};

pub(crate) use crossbeam_utils::Backoff;

//! Where there is no such system call.

use std::io;

use crate::{CpuSet, NumaError};

/// Fails.
pub(crate) fn affinity(_tid: i32) -> io::Result<CpuSet> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Fails.
pub(super) fn set_affinity(_tid: i32, _cpus: &CpuSet) -> Result<(), NumaError> {
    Err(NumaError::Unsupported)
}

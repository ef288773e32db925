//! The threads of this process.
//!
//! Knows `/proc/self/task`. Refuses to say anything of a thread but its id.

use std::fs;
use std::process;

use crate::NumaError;

/// The id of the main thread, which is that of the process.
pub(super) fn main_thread() -> i32 {
    // Ids are positive and far below the limit of the type.
    i32::try_from(process::id()).unwrap_or_default()
}

/// The ids of all threads, in no order that means anything.
pub(super) fn list() -> Result<Vec<i32>, NumaError> {
    let failed = |source| NumaError::Threads { source };
    let mut tids = Vec::new();
    for entry in fs::read_dir("/proc/self/task").map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        tids.extend(name.to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    tids.sort_unstable();
    Ok(tids)
}

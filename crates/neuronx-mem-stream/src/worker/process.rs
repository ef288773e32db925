//! Which process is calling. A thread does not survive a fork, so the worker refuses calls from a
//! process other than the one it started in.

use std::fmt;

/// Tells the current process.
///
/// Replaceable because a real fork needs `unsafe`, which this crate forbids.
pub trait ProcessIdentity: Send + Sync {
    /// The number of the calling process.
    fn process_id(&self) -> u32;
}

/// Asks the system: one system call for each call to the worker.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemProcess;

impl ProcessIdentity for SystemProcess {
    fn process_id(&self) -> u32 {
        std::process::id()
    }
}

impl fmt::Debug for dyn ProcessIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProcessIdentity")
    }
}

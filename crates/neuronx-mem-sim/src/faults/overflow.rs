//! The size overflow of old runtimes: no request of 4 GiB or more works. Refuses such a request
//! rather than granting the wrapped size: a byte must not get two holders.

use neuronx_mem_runtime::Status;

/// First size, bytes, that does not fit the 32 bits of those runtimes.
const FIRST_OVERFLOW_BYTES: u64 = 1 << 32;

/// The status for a request of that size.
pub(crate) fn status(bytes: u64) -> Option<Status> {
    (bytes >= FIRST_OVERFLOW_BYTES).then_some(Status::INVALID)
}

//! The NUMA node of a range of addresses: a preference, which the kernel drops where the node is full.

use std::ffi::{c_int, c_ulong, c_void};
use std::io;

/// Nodes that a mask can name; kernels are built for 1024 at most.
const MAX_NODES: usize = 1024;

const BITS: usize = c_ulong::BITS as usize;

/// `MPOL_PREFERRED` of `linux/mempolicy.h`.
const PREFERRED: c_int = 1;

/// Prefers a node for pages of this range that are not there yet.
#[expect(unsafe_code, reason = "mbind has no safe wrapper")]
pub(super) fn prefer(start: *mut c_void, bytes: usize, node: u32) -> io::Result<()> {
    let node = node as usize;
    let mut mask: [c_ulong; MAX_NODES / BITS] = [0; MAX_NODES / BITS];
    *mask.get_mut(node / BITS).ok_or(io::ErrorKind::InvalidInput)? = 1 << (node % BITS);
    // The kernel reads one bit less than it is told.
    let max_node = (MAX_NODES + 1) as c_ulong;
    // SAFETY: the call reads `mask`, which has MAX_NODES bits and outlives it, and changes where pages of
    // the range come from, never their content. Flags 0: pages that are there stay.
    let result = unsafe {
        libc::syscall(libc::SYS_mbind, start, bytes, PREFERRED, mask.as_ptr(), max_node, 0 as c_int)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

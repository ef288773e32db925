//! The runtime over libnrt, across a real C boundary: every test opens a copy of the stand-in. What
//! only a Trainium host can show is not tested.

#![allow(unsafe_code, reason = "a C library has to be loaded, and told what to do")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod garbage;
mod locks;
mod memory;
mod opening;
mod segments;
#[path = "../support/standin.rs"]
#[allow(unreachable_pub, dead_code, reason = "shared by several tests")]
mod standin;
mod tensors;
mod transfers;

use neuronx_mem::DeviceId;
use standin::Standin;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const DEVICE: DeviceId = DeviceId(0);

/// All owners are gone: nothing is held, and nothing was freed twice.
#[track_caller]
fn check_returned(standin: &Standin) {
    let counters = standin.counters();
    assert_eq!(
        (counters.live_tensors, counters.live_storages, counters.held_bytes, counters.invalid_frees),
        (0, 0, 0, 0)
    );
}

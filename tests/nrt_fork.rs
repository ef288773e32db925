//! A forked child: every call is refused with the documented text, and the parent's runtime is not
//! touched, not even by the child's exit. The only test of this file: a fork copies one thread.

#![allow(unsafe_code, reason = "a fork")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

#[path = "support/standin.rs"]
#[allow(unreachable_pub, dead_code, reason = "shared by several tests")]
mod standin;

use std::ffi::c_int;

use neuronx_mem::DeviceId;
use neuronx_mem_nrt::NrtError;
use standin::Standin;

unsafe extern "C" {
    fn fork() -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn exit(code: c_int) -> !;
}

const TEXT: &str = "Cannot re-initialize Neuron runtime in forked subprocess. \
                    To use Neuron with multiprocessing, use the 'spawn' start method";

#[test]
fn a_fork_may_not_use_the_runtime() {
    let device = DeviceId(0);
    let standin = Standin::new("");
    let runtime = standin.open();
    let segment = runtime.allocate(device, 1 << 20).unwrap();
    let tensor = runtime.tensor(device, segment.address, 64).unwrap();
    let before = standin.counters();
    let parent = std::process::id();
    // SAFETY: the child calls only what it inherited whole: no lock is held by another thread, since the
    // runtime has none running, and it ends by `exit`.
    let child = unsafe { fork() };
    if child == 0 {
        let is_forked = |error: NrtError| {
            error.to_string() == TEXT
                && matches!(error, NrtError::Forked { started_in, .. } if started_in == parent)
        };
        let mut refused = vec![
            runtime.allocate(device, 1 << 20).is_err_and(is_forked),
            runtime.free(device, segment.handle).is_err_and(is_forked),
            runtime.tensor(device, segment.address, 64).is_err_and(is_forked),
            runtime.tensor(device, segment.address + 64, 64).is_err_and(is_forked),
            runtime.make_slice(device, segment.handle, 0, 64).is_err_and(is_forked),
            runtime.memory(device).is_err_and(is_forked),
            runtime.write(device, segment.address, &[1]).is_err_and(is_forked),
            standin.builder().open().is_err_and(is_forked),
            !runtime.close(),
        ];
        drop((tensor, runtime));
        refused.push(standin.counters() == before);
        let n_wrong = refused.iter().filter(|is_refused| !**is_refused).count();
        // SAFETY: ends the child, with its handlers: the one that closes libnrt must let it be.
        unsafe { exit(c_int::try_from(n_wrong).unwrap_or(99)) };
    }
    let mut status = -1;
    // SAFETY: the child is ours, and the number outlives the call.
    assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "calls that were not refused, or a crash");
    // The parent goes on as if nothing had been.
    runtime.write(device, segment.address, &[1]).unwrap();
    drop((tensor, runtime));
    assert_eq!((standin.counters().live_tensors, standin.counters().closes), (0, 0));
}

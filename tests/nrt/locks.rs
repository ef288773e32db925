//! No lock is held across a call: a library that calls back, and a callback that needs every lock.

use std::ffi::{c_char, c_void};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use neuronx_mem::{Allocator, Device};
use neuronx_mem_nrt::NrtRuntime;

use super::standin::Standin;
use super::{DEVICE, MIB, check_returned};

/// What the callback needs, and what it found.
struct Probe {
    device: Device,
    runtime: Arc<NrtRuntime>,
    held: Mutex<Vec<(u64, u64)>>,
    n_calls: Mutex<u64>,
}

/// Asks, from another thread, for everything that takes a lock of the device or of the runtime's table.
/// If one is held, the answer does not come.
extern "C" fn probe(_name: *const c_char, data: *mut c_void) {
    // SAFETY: the test keeps the probe until it has taken the callback away.
    let probe = unsafe { &*data.cast::<Probe>() };
    *probe.n_calls.lock().unwrap() += 1;
    let (answer, has_answered) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            probe.device.inspect(|pool| pool.validate()).unwrap();
            let _ = (probe.device.memory_stats(), probe.device.default_stream().pending());
            // Served from the runtime's table, without a call.
            for (address, bytes) in probe.held.lock().unwrap().iter() {
                probe.runtime.tensor(DEVICE, *address, *bytes).unwrap();
            }
            let _ = answer.send(());
        });
        // Long, and waited for only by a failure, which a deadlock would hide.
        if has_answered.recv_timeout(Duration::from_secs(60)).is_err() {
            // Not a panic: the thread above would be waited for. The test's name says what is wrong.
            std::process::abort();
        }
    });
}

#[test]
fn no_lock_is_held_during_a_call() {
    let standin = Standin::new("memory=268435456");
    let runtime = Arc::new(standin.open());
    let allocator = Allocator::builder().shared_runtime(runtime.clone()).build().unwrap();
    let device = allocator.device(DEVICE).unwrap().clone();
    let stream = device.default_stream();
    let kept = allocator.allocate(MIB, &stream).unwrap();
    runtime.tensor(DEVICE, kept.address(), MIB).unwrap();
    let probe_data = Box::new(Probe {
        device: device.clone(),
        runtime: runtime.clone(),
        held: Mutex::new(vec![(kept.address(), MIB)]),
        n_calls: Mutex::new(0),
    });
    let data = &raw const *probe_data;
    standin.set_callback(Some(probe), data.cast_mut().cast());
    // Growth, recovery, out of memory, release, tensors, transfers, questions.
    let large = allocator.allocate(100 * MIB, &stream).unwrap();
    drop(allocator.allocate(60 * MIB, &stream).unwrap());
    assert!(allocator.allocate(150 * MIB, &stream).unwrap_err().is_out_of_memory());
    drop(large);
    let cached = allocator.allocate(150 * MIB, &stream).unwrap();
    runtime.tensor(DEVICE, cached.address(), 4096).unwrap();
    runtime.tensor(DEVICE, cached.address(), 8192).unwrap();
    runtime.write(DEVICE, cached.address(), &[1, 2, 3]).unwrap();
    runtime.fill(DEVICE, cached.address(), 1, 64).unwrap();
    runtime.copy((DEVICE, cached.address()), (DEVICE, kept.address()), 64).unwrap();
    let _ = (device.memory_info().unwrap(), device.segment_pool_analysis());
    drop(cached);
    allocator.empty_cache().unwrap();
    standin.set_callback(None, std::ptr::null_mut());
    let n_calls = *probe_data.n_calls.lock().unwrap();
    assert!(n_calls > 20, "{n_calls}");
    drop((probe_data, kept, stream, device, allocator, runtime));
    check_returned(&standin);
}

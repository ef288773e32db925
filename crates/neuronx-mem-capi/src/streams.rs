//! Streams of a device: numbers, of which 0 is the default stream that every device has.

use std::ffi::c_void;

use neuronx_mem::Stream;
use neuronx_mem::streams::{StreamId, Ticket};

use crate::allocator::nxm_device;
use crate::errors::{Failure, guard};
use crate::nxm_status;
use crate::pointers::{borrow, put};

/// Work of a stream, run on the device's worker with the data that it was queued with.
pub type nxm_work = Option<unsafe extern "C" fn(data: *mut c_void)>;

/// A stream by its number.
fn find(device: &nxm_device, stream: u32) -> Result<Stream, Failure> {
    Ok(device.device.stream(StreamId(stream))?)
}

/// Makes a stream; the default one when streams are switched off.
///
/// # Safety
///
/// `device` is null or valid, `out` null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_stream_new(device: *const nxm_device, out: *mut u32) -> nxm_status {
    // SAFETY: by the contract.
    let make = || Ok(unsafe { borrow(device, "device") }?.device.new_stream()?.id().0);
    // SAFETY: by the contract.
    guard(|| unsafe { put(out, make) })
}

/// Notes that one more piece of work was queued on a stream, and hands out its ticket. Where work
/// blocks, it is complete when this returns.
///
/// # Safety
///
/// `device` is null or valid, `out` null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_stream_submit(
    device: *const nxm_device,
    stream: u32,
    out: *mut u64,
) -> nxm_status {
    // SAFETY: by the contract.
    let submit = || Ok(find(unsafe { borrow(device, "device") }?, stream)?.submit()?.0);
    // SAFETY: by the contract.
    guard(|| unsafe { put(out, submit) })
}

/// Notes that the work of a stream has completed up to a ticket; frees behind it run now.
/// NXM_UNSUPPORTED where the device's worker completes work.
///
/// # Safety
///
/// `device` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_stream_complete(
    device: *const nxm_device,
    stream: u32,
    ticket: u64,
) -> nxm_status {
    // SAFETY: by the contract.
    guard(|| Ok(find(unsafe { borrow(device, "device") }?, stream)?.complete(Ticket(ticket))?))
}

/// Waits for all work of a stream; without a worker, says that the caller has.
///
/// # Safety
///
/// `device` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_stream_synchronize(device: *const nxm_device, stream: u32) -> nxm_status {
    // SAFETY: by the contract.
    guard(|| Ok(find(unsafe { borrow(device, "device") }?, stream)?.try_synchronize()?))
}

/// Whether nothing that was submitted to a stream is still running.
///
/// # Safety
///
/// `device` is null or valid, `out` null or a place for a bool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_stream_is_idle(
    device: *const nxm_device,
    stream: u32,
    out: *mut bool,
) -> nxm_status {
    // SAFETY: by the contract.
    let ask = || Ok(find(unsafe { borrow(device, "device") }?, stream)?.is_idle());
    // SAFETY: by the contract.
    guard(|| unsafe { put(out, ask) })
}

/// Bytes of the blocks whose free waits for a stream.
///
/// # Safety
///
/// `device` is null or valid, `out` null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_stream_pending_bytes(
    device: *const nxm_device,
    stream: u32,
    out: *mut u64,
) -> nxm_status {
    // SAFETY: by the contract.
    let ask = || Ok(find(unsafe { borrow(device, "device") }?, stream)?.pending().1);
    // SAFETY: by the contract.
    guard(|| unsafe { put(out, ask) })
}

/// Queues work on a stream. It runs on the device's worker after all that was submitted before; it must
/// not throw. NXM_UNSUPPORTED without a worker.
///
/// # Safety
///
/// `device` is null or valid; `work` may be called with `data`, once, on another thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_stream_run(
    device: *const nxm_device,
    stream: u32,
    work: nxm_work,
    data: *mut c_void,
) -> nxm_status {
    guard(|| {
        // SAFETY: by the contract.
        let stream = find(unsafe { borrow(device, "device") }?, stream)?;
        let work = work.ok_or_else(|| Failure::invalid("work is null"))?;
        run(&stream, work, data)
    })
}

/// Lets a stream wait for all that was submitted to another one so far. NXM_UNSUPPORTED without a worker.
///
/// # Safety
///
/// `device` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_stream_wait_stream(
    device: *const nxm_device,
    stream: u32,
    other: u32,
) -> nxm_status {
    guard(|| {
        // SAFETY: by the contract.
        let device = unsafe { borrow(device, "device") }?;
        wait_stream(&find(device, stream)?, &find(device, other)?)
    })
}

#[cfg(feature = "worker")]
fn run(stream: &Stream, work: unsafe extern "C" fn(*mut c_void), data: *mut c_void) -> Result<(), Failure> {
    let data = crate::callbacks::Data(data);
    // SAFETY: whoever queued the work said that it may be called so.
    stream.run(move || unsafe { work(data.get()) })?;
    Ok(())
}

#[cfg(feature = "worker")]
fn wait_stream(stream: &Stream, other: &Stream) -> Result<(), Failure> {
    Ok(stream.wait_stream(other)?)
}

#[cfg(not(feature = "worker"))]
fn run(_: &Stream, _: unsafe extern "C" fn(*mut c_void), _: *mut c_void) -> Result<(), Failure> {
    Err(crate::options::no_worker())
}

#[cfg(not(feature = "worker"))]
fn wait_stream(_: &Stream, _: &Stream) -> Result<(), Failure> {
    Err(crate::options::no_worker())
}

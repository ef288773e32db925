//! Settings of an allocator, one function each.

use std::ffi::c_char;

use neuronx_mem::config::Environment;
use neuronx_mem::sim::{Lnc, Preset};
use neuronx_mem::{Allocator, AllocatorBuilder, AllocatorConfig};

use crate::errors::{Failure, guard};
use crate::nxm_status;
use crate::pointers::{borrow_mut, optional_text, put, text};
use crate::runtime::RuntimeChoice;

/// Settings of an allocator: the documented defaults, and libnrt as the runtime, unless set.
#[derive(Debug)]
pub struct nxm_options {
    pub(crate) builder: AllocatorBuilder,
    pub(crate) runtime: RuntimeChoice,
}

/// Makes options, to be freed by nxm_options_free().
///
/// # Safety
///
/// `out` is null or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_options_new(out: *mut *mut nxm_options) -> nxm_status {
    let make = || {
        let runtime = RuntimeChoice::Libnrt { path: None };
        Ok(Box::into_raw(Box::new(nxm_options { builder: Allocator::builder(), runtime })))
    };
    // SAFETY: by the contract.
    guard(|| unsafe { put(out, make) })
}

/// Frees options; nothing for null.
///
/// # Safety
///
/// `options` is null or from nxm_options_new(), and was not freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_options_free(options: *mut nxm_options) {
    if !options.is_null() {
        // SAFETY: by the contract, made by `Box::into_raw`.
        drop(unsafe { Box::from_raw(options) });
    }
}

/// # Safety
///
/// As for the functions below.
unsafe fn change(
    options: *mut nxm_options,
    change: impl FnOnce(&mut nxm_options) -> Result<(), Failure>,
) -> nxm_status {
    // SAFETY: by the contract.
    guard(|| change(unsafe { borrow_mut(options, "options") }?))
}

/// # Safety
///
/// As for the functions below.
unsafe fn build(
    options: *mut nxm_options,
    build: impl FnOnce(AllocatorBuilder) -> AllocatorBuilder,
) -> nxm_status {
    let change_builder = |options: &mut nxm_options| {
        options.builder = build(options.builder.clone());
        Ok(())
    };
    // SAFETY: by the contract.
    unsafe { change(options, change_builder) }
}

/// Sets allocator keys, in the form of TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG. A bad item keeps its
/// default; nxm_config_check() tells what is wrong with a text.
///
/// # Safety
///
/// `options` is null or valid, `keys` null or a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_options_set_config(
    options: *mut nxm_options,
    keys: *const c_char,
) -> nxm_status {
    let set = |options: &mut nxm_options| {
        // SAFETY: by the contract.
        let keys = unsafe { text(keys, "keys") }?;
        options.builder = options.builder.clone().config(AllocatorConfig::parse(keys).config);
        Ok(())
    };
    // SAFETY: by the contract.
    unsafe { change(options, set) }
}

/// Takes every setting that has an environment variable from the environment of the process, as it was
/// when first asked for.
///
/// # Safety
///
/// `options` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_options_use_environment(options: *mut nxm_options) -> nxm_status {
    // SAFETY: by the contract.
    unsafe { build(options, |builder| builder.environment(Environment::process())) }
}

/// Switches the second step of out-of-memory recovery (NEURON_OOM_RECOVERY_ENABLED); on unless set.
///
/// # Safety
///
/// `options` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_options_set_oom_recovery(
    options: *mut nxm_options,
    is_enabled: bool,
) -> nxm_status {
    // SAFETY: by the contract.
    unsafe { build(options, |builder| builder.oom_recovery(is_enabled)) }
}

/// Switches streams (TORCH_NEURONX_ENABLE_STREAMS); off, every stream is the default one.
///
/// # Safety
///
/// `options` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_options_set_streams(options: *mut nxm_options, are_enabled: bool) -> nxm_status {
    // SAFETY: by the contract.
    unsafe { build(options, |builder| builder.streams(are_enabled)) }
}

/// Makes every submission complete before it returns (NEURON_LAUNCH_BLOCKING); off unless set.
///
/// # Safety
///
/// `options` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_options_set_launch_blocking(
    options: *mut nxm_options,
    is_blocking: bool,
) -> nxm_status {
    // SAFETY: by the contract.
    unsafe { build(options, |builder| builder.launch_blocking(is_blocking)) }
}

/// Gives each device a thread that runs the work of nxm_stream_run() in stream order.
/// NXM_UNSUPPORTED where the library was built without.
///
/// # Safety
///
/// `options` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_options_use_worker(options: *mut nxm_options) -> nxm_status {
    #[cfg(feature = "worker")]
    // SAFETY: by the contract.
    return unsafe { build(options, AllocatorBuilder::worker) };
    #[cfg(not(feature = "worker"))]
    // SAFETY: by the contract.
    return unsafe { change(options, |_| Err(no_worker())) };
}

/// Takes memory from libnrt, opened at run time: `path`, or null for the one that NEURONX_MEM_LIBNRT
/// names, else libnrt.so.1 as the system finds it. This is what happens unless another runtime is set.
///
/// # Safety
///
/// `options` is null or valid, `path` null or a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_options_use_libnrt(
    options: *mut nxm_options,
    path: *const c_char,
) -> nxm_status {
    let set = |options: &mut nxm_options| {
        // SAFETY: by the contract.
        let path = unsafe { optional_text(path, "path") }?.map(str::to_owned);
        options.runtime = RuntimeChoice::Libnrt { path };
        Ok(())
    };
    // SAFETY: by the contract.
    unsafe { change(options, set) }
}

/// Takes memory from a simulated device: `chip` is "trn1", "inf2", "trn2" or "trn3" (null: trn2), `lnc`
/// 1 or 2 (0: the chip's default), `memory_bytes` the memory of each device (0: the chip's).
///
/// # Safety
///
/// `options` is null or valid, `chip` null or a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_options_use_simulator(
    options: *mut nxm_options,
    chip: *const c_char,
    lnc: u32,
    devices: u32,
    memory_bytes: u64,
) -> nxm_status {
    let set = |options: &mut nxm_options| {
        // SAFETY: by the contract.
        let chip = unsafe { optional_text(chip, "chip") }?;
        let parse = |name: &str| name.parse().map_err(|error| Failure::invalid(format!("{name}: {error}")));
        let preset: Preset = chip.map_or(Ok(Preset::default()), parse)?;
        let lnc = match lnc {
            0 => None,
            1 => Some(Lnc::One),
            2 => Some(Lnc::Two),
            other => return Err(Failure::invalid(format!("lnc is {other}, not 0, 1 or 2"))),
        };
        if !(1..=128).contains(&devices) {
            return Err(Failure::invalid(format!("devices is {devices}, not 1 to 128")));
        }
        let memory_bytes = Some(memory_bytes).filter(|bytes| *bytes > 0);
        options.runtime = RuntimeChoice::Simulator { preset, lnc, devices, memory_bytes };
        Ok(())
    };
    // SAFETY: by the contract.
    unsafe { change(options, set) }
}

#[cfg(not(feature = "worker"))]
pub(crate) fn no_worker() -> Failure {
    Failure::new(nxm_status::NXM_UNSUPPORTED, "this library was built without the feature worker")
}

//! Who completes work: the device's worker, where there is one, or the caller. One of two files,
//! by feature, so that nobody else has to ask.

#[cfg(not(feature = "worker"))]
mod disabled;
#[cfg(feature = "worker")]
mod enabled;

#[cfg(not(feature = "worker"))]
pub(super) use disabled::Driver;
#[cfg(feature = "worker")]
pub(super) use enabled::Driver;

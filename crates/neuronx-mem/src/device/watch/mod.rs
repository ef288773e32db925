//! Who watches how memory is used: the detector, by feature, or nobody. One of two files, so that
//! nobody else has to ask; with the feature off every call below is empty and costs nothing.

#[cfg(not(feature = "detector"))]
mod disabled;
#[cfg(feature = "detector")]
mod enabled;
#[cfg(feature = "detector")]
mod uses;
#[cfg(feature = "detector")]
mod verify;

#[cfg(not(feature = "detector"))]
pub(super) use disabled::{Watch, new_capture};
#[cfg(feature = "detector")]
pub(super) use enabled::{Watch, new_capture};

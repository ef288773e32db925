//! The version of libnrt, and what is known to be wrong with some. Parses no text.

use std::fmt;

use crate::ffi::RawVersion;

/// The version of the runtime library (`nrt_version_t`).
///
/// ```
/// use neuronx_mem_nrt::NrtVersion;
///
/// assert!(NrtVersion::new(2, 29, 40, 0).overflows_at_four_gib());
/// assert!(!NrtVersion::new(2, 30, 0, 0).overflows_at_four_gib());
/// assert_eq!(NrtVersion::new(2, 34, 10, 0).to_string(), "2.34.10.0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct NrtVersion {
    /// Major number; 2 is the one that this crate knows.
    pub major: u64,
    /// Minor number: the release.
    pub minor: u64,
    /// Patch number.
    pub patch: u64,
    /// Maintenance number.
    pub maintenance: u64,
}

impl NrtVersion {
    /// The major number whose signatures this crate knows.
    pub const SUPPORTED_MAJOR: u64 = 2;

    /// Puts a version together.
    #[must_use]
    pub const fn new(major: u64, minor: u64, patch: u64, maintenance: u64) -> Self {
        Self { major, minor, patch, maintenance }
    }

    /// Whether `nrt_tensor_allocate` fails silently for 4 GiB and more: up to 2.29, by the release
    /// notes of the runtime.
    #[must_use]
    pub const fn overflows_at_four_gib(&self) -> bool {
        self.major < 2 || (self.major == 2 && self.minor < 30)
    }

    /// Whether the signatures are those that this crate was written for.
    #[must_use]
    pub const fn is_supported(&self) -> bool {
        self.major == Self::SUPPORTED_MAJOR
    }

    pub(crate) const fn from_raw(raw: &RawVersion) -> Self {
        Self::new(raw.major, raw.minor, raw.patch, raw.maintenance)
    }
}

impl fmt::Display for NrtVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}.{}", self.major, self.minor, self.patch, self.maintenance)
    }
}

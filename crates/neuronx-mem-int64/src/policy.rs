//! What a process has asked for: a mode and the overflow check.
//!
//! Takes the values of the two variables from whoever reads the environment, and looks at no
//! environment itself.

use crate::{Int64Error, Int64Mode};

/// A mode, and whether the packed view checks its values.
///
/// ```
/// use neuronx_mem_int64::{Int64Mode, Int64Policy};
///
/// let (policy, warning) = Int64Policy::from_values(Some("cpu"), true);
/// assert_eq!(policy.mode, Int64Mode::Native);
/// let warning = warning.map(|warning| warning.to_string());
/// assert_eq!(
///     warning.as_deref(),
///     Some("int64 mode `cpu` is none of native, packed, native_strict, cpu_bounce, cpu_fallback")
/// );
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Int64Policy {
    /// How operators run: `TORCH_NEURONX_INT64_MODE`.
    pub mode: Int64Mode,
    /// Whether the packed view refuses values outside the range of `int32`:
    /// `TORCH_NEURONX_PACKED_INT64_CHECK_OVERFLOW`. Without effect where a mode packs nothing.
    pub check_overflow: bool,
}

impl Int64Policy {
    /// Puts a policy together.
    #[must_use]
    pub const fn new(mode: Int64Mode, check_overflow: bool) -> Self {
        Self { mode, check_overflow }
    }

    /// Takes the values of the two variables; `None` and the empty text mean that the mode is not
    /// set. A mode that nobody knows is a warning, and the default holds: a bad variable stops no
    /// program (environment variables reference).
    #[must_use]
    pub fn from_values(mode: Option<&str>, check_overflow: bool) -> (Self, Option<Int64Error>) {
        let (mode, warning) = match mode.map(str::trim).filter(|text| !text.is_empty()) {
            None => (Int64Mode::default(), None),
            Some(text) => match text.parse() {
                Ok(mode) => (mode, None),
                Err(error) => (Int64Mode::default(), Some(error)),
            },
        };
        (Self { mode, check_overflow }, warning)
    }
}

impl From<Int64Mode> for Int64Policy {
    /// Takes the mode without the check.
    fn from(mode: Int64Mode) -> Self {
        Self::new(mode, false)
    }
}

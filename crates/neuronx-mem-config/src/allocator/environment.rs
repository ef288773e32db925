//! The one door to the process environment.
//!
//! Knows the name of the variable and how to read what is not Unicode. Refuses to remember: a caller
//! that wants one configuration for the whole process keeps the result.

use std::ffi::OsStr;

use super::config::AllocatorConfig;
use super::finding::Finding;
use super::parse::Parsed;

/// The environment variable that holds the allocator configuration.
pub const ALLOCATOR_CONFIG_VARIABLE: &str = "TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG";

impl AllocatorConfig {
    /// Reads [`ALLOCATOR_CONFIG_VARIABLE`] now and warns of each finding once through `tracing`.
    ///
    /// An unset variable is the default configuration. Bytes that are not UTF-8 are read as U+FFFD,
    /// with a finding. Every call reads and warns anew, so an allocator calls it once, at its first
    /// use (allocator semantics §4).
    ///
    /// ```
    /// use neuronx_mem_config::AllocatorConfig;
    ///
    /// let parsed = AllocatorConfig::from_env();
    /// assert!(parsed.config.roundup_power2_divisions() <= 64);
    /// ```
    pub fn from_env() -> Parsed {
        parse_and_warn(std::env::var_os(ALLOCATOR_CONFIG_VARIABLE).as_deref())
    }

    /// Reads a text as the operating system holds it; bytes that are not UTF-8 are a finding.
    pub(crate) fn parse_os(value: &OsStr) -> Parsed {
        let text = value.to_string_lossy();
        let mut parsed = Self::parse(&text);
        if let Err(error) = std::str::from_utf8(value.as_encoded_bytes()) {
            let start = error.valid_up_to();
            let position = start..start + char::REPLACEMENT_CHARACTER.len_utf8();
            parsed.findings.insert(0, Finding::NotUnicode { position });
        }
        parsed
    }
}

/// All of [`AllocatorConfig::from_env`] but the look at the process environment.
pub(super) fn parse_and_warn(value: Option<&OsStr>) -> Parsed {
    let parsed = AllocatorConfig::parse_os(value.unwrap_or_default());
    for finding in &parsed.findings {
        tracing::warn!(
            variable = ALLOCATOR_CONFIG_VARIABLE,
            kind = finding.kind(),
            key = finding.key().map(|key| key.name()),
            "{finding}"
        );
    }
    parsed
}

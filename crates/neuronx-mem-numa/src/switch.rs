//! On and off, as `NEURON_NUMA_PIN` says it.
//!
//! Knows the words. The registry of variables knows the same ones; a workspace test compares them.

use std::ffi::OsStr;

/// Reads the text of `NEURON_NUMA_PIN`; unset, empty and unusable texts are the default, on.
///
/// ```
/// use neuronx_mem_numa::read_switch;
///
/// assert!(read_switch(None));
/// assert!(!read_switch(Some("off".as_ref())));
/// assert!(read_switch(Some("perhaps".as_ref())));
/// ```
pub fn read_switch(text: Option<&OsStr>) -> bool {
    let text = text.and_then(OsStr::to_str).unwrap_or_default().trim();
    !["0", "false", "off", "no"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

//! Which allocator configuration applies, and where it came from.

use std::fmt;

use neuronx_mem::AllocatorConfig;
use neuronx_mem::config::{ALLOCATOR_CONFIG_VARIABLE, Severity, Source};

use crate::failure::Failure;

/// How the defaults are called on the command line.
const DEFAULT: &str = "default";

/// A configuration and its origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen {
    pub(crate) config: AllocatorConfig,
    origin: Origin,
}

#[derive(Clone, Copy, Debug)]
enum Origin {
    Default,
    Option,
    Environment,
}

/// The option if there is one, else the environment variable, else the defaults.
///
/// A wrong item of the option is an error. One of the variable is a warning, because that is what
/// it is to the program whose variable it is (allocator semantics §4).
pub(crate) fn choose(option: Option<&str>) -> Result<Chosen, Failure> {
    if let Some(text) = option {
        return Ok(Chosen { config: parse(text)?, origin: Origin::Option });
    }
    let is_set = std::env::var_os(ALLOCATOR_CONFIG_VARIABLE).is_some_and(|value| !value.is_empty());
    let origin = if is_set { Origin::Environment } else { Origin::Default };
    Ok(Chosen { config: AllocatorConfig::from_env().config, origin })
}

/// Reads one `--config`; warns of what is allowed but hurts.
pub(crate) fn parse(text: &str) -> Result<AllocatorConfig, Failure> {
    if is_default(text) {
        return Ok(AllocatorConfig::default());
    }
    let mut parsed = AllocatorConfig::parse_as(text, Source::Code);
    if let Some(idx) = parsed.findings.iter().position(|finding| finding.severity() == Severity::Error) {
        let finding = Box::new(parsed.findings.swap_remove(idx));
        return Err(Failure::Config { text: text.to_owned(), finding });
    }
    for finding in parsed.findings.iter().filter(|finding| finding.severity() >= Severity::Warning) {
        tracing::warn!("--config `{text}`: {finding}");
    }
    Ok(parsed.config)
}

/// A configuration as its shortest text, `default` for the defaults.
pub(crate) fn name(config: &AllocatorConfig) -> String {
    let text = config.to_env_string();
    if text.is_empty() { DEFAULT.to_owned() } else { text }
}

fn is_default(text: &str) -> bool {
    matches!(text.trim(), "" | DEFAULT)
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name(&self.config))?;
        match self.origin {
            Origin::Default => Ok(()),
            Origin::Option => f.write_str(" (from --config)"),
            Origin::Environment => write!(f, " (from {ALLOCATOR_CONFIG_VARIABLE})"),
        }
    }
}

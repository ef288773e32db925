//! A configuration as text: every key, or only what is needed to reproduce it.
//!
//! Both forms are read back by [`AllocatorConfig::parse`] to an equal configuration. Refuses units:
//! the format knows plain numbers only.

use std::fmt;

use super::config::AllocatorConfig;
use super::key::ConfigKey;
use super::specification::DefaultRule;

impl AllocatorConfig {
    /// Returns the shortest value of the environment variable that gives these effective values.
    ///
    /// It names the keys that differ from what they would be if left out, in the order of
    /// [`ConfigKey::ALL`]; it is empty for the defaults. A key that follows another is named only
    /// when it has a value of its own.
    ///
    /// ```
    /// use neuronx_mem_config::AllocatorConfig;
    ///
    /// let config = AllocatorConfig::parse("kMinRoundedSize=512,kSmallSplitThreshold=256").config;
    /// // 256 is the usual default, yet without it the threshold would follow to 512.
    /// assert_eq!(config.to_env_string(), "kMinRoundedSize=512,kSmallSplitThreshold=256");
    /// assert_eq!(AllocatorConfig::default().to_env_string(), "");
    /// ```
    pub fn to_env_string(&self) -> String {
        let needed = self.entries().filter(|&(key, value)| value != self.value_if_left_out(key));
        let items: Vec<String> = needed.map(|(key, value)| format!("{key}={value}")).collect();
        items.join(",")
    }

    fn value_if_left_out(&self, key: ConfigKey) -> u64 {
        match key.default_rule() {
            DefaultRule::Plain(value) => value,
            DefaultRule::Follows(leader) => self.get(leader),
        }
    }
}

impl fmt::Display for AllocatorConfig {
    /// Prints all eleven keys as `kPoolBoundary=1048576,…`, in the order of [`ConfigKey::ALL`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (key, value) in self.entries() {
            write!(f, "{separator}{key}={value}")?;
            separator = ",";
        }
        Ok(())
    }
}

//! Configurations and findings for machine-readable output.
//!
//! Knows the shapes that the command line's JSON uses. Refuses to read them back: the one text form
//! that is read is that of the environment variable.

use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

use super::config::AllocatorConfig;
use super::finding::Finding;
use super::key::ConfigKey;

impl Serialize for ConfigKey {
    /// The name of the key.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for AllocatorConfig {
    /// A map from every key to its effective value, in the order of [`ConfigKey::ALL`].
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(ConfigKey::ALL.len()))?;
        for (key, value) in self.entries() {
            map.serialize_entry(&key, &value)?;
        }
        map.end()
    }
}

impl Serialize for Finding {
    /// A struct of `kind`, `message` and `key`, the last null when the finding has none.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Finding", 3)?;
        fields.serialize_field("kind", self.kind())?;
        fields.serialize_field("message", &self.to_string())?;
        fields.serialize_field("key", &self.key())?;
        fields.end()
    }
}

//! Findings and variables for machine-readable output.
//!
//! Knows the shapes that the command line's JSON uses. Refuses to read them back.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::finding::EnvFinding;
use super::reading::Origin;
use super::variable::{Group, Page, Variable};
use crate::Severity;

impl Serialize for EnvFinding {
    /// A struct of `kind`, `severity`, `variable` and `message`; `variable` is null when the finding
    /// is about a name outside the registry.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("EnvFinding", 4)?;
        fields.serialize_field("kind", self.kind())?;
        fields.serialize_field("severity", &self.severity())?;
        fields.serialize_field("variable", &self.variable())?;
        fields.serialize_field("message", &self.to_string())?;
        fields.end()
    }
}

impl Serialize for Severity {
    /// `note`, `warning` or `error`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for Variable {
    /// The name.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for Group {
    /// The group in one word.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Page {
    /// The page in one word.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Origin {
    /// The origin as it prints.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

//! The environment as it was at one moment.
//!
//! Knows the texts of the variables that concern Neuron, and nothing else of the environment.
//! Refuses to look again: what changes later does not show.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use super::variable::Variable;

/// Parts of a name, in upper case, that make it a Neuron name, if perhaps a misspelt one.
const MARKS: [&str; 2] = ["NEURON", "TORCH_NEUR"];

/// Starts of a name, in upper case, that neighbours of the registry have.
const STARTS: [&str; 4] = ["NKI_", "COLLECTIVE_", "TORCHINDUCTOR_CACHE", "TORCH_CACHING"];

/// The names from which the user's name comes, the first that is set and not empty.
const USER_NAMES: [&str; 2] = ["LOGNAME", "USER"];

/// A snapshot of the variables that concern Neuron.
///
/// Only names of the registry, names that look like Neuron names, and those of the user are kept,
/// so that a snapshot can be shown or sent without the secrets of an environment.
///
/// ```
/// use neuronx_mem_config::{Environment, Origin, variables};
///
/// let environment = Environment::from_pairs([("NEURON_OOM_RECOVERY_ENABLED", "off")]);
/// let recovery = environment.bool(variables::NEURON_OOM_RECOVERY_ENABLED);
/// assert_eq!((recovery.value, recovery.origin), (false, Origin::Set));
/// let streams = environment.bool(variables::TORCH_NEURONX_ENABLE_STREAMS);
/// assert_eq!((streams.value, streams.origin), (true, Origin::Default));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    texts: BTreeMap<OsString, OsString>,
    pytorch_version: Option<(u32, u32)>,
}

impl Environment {
    /// Reads the environment of this process now. Cost: one pass over it.
    pub fn capture() -> Self {
        Self::from_pairs(std::env::vars_os())
    }

    /// Makes an environment of pairs; the last of equal names wins.
    pub fn from_pairs<N: Into<OsString>, T: Into<OsString>>(pairs: impl IntoIterator<Item = (N, T)>) -> Self {
        let pairs = pairs.into_iter().map(|(name, text)| (name.into(), text.into()));
        Self { texts: pairs.filter(|(name, _)| is_of_concern(name)).collect(), pytorch_version: None }
    }

    /// Returns this environment with the version of PyTorch, on which a default depends.
    ///
    /// ```
    /// use neuronx_mem_config::{Environment, variables};
    ///
    /// let environment = Environment::default().with_pytorch_version(2, 13);
    /// assert!(environment.bool(variables::TORCH_NEURONX_COMPLEX_DECOMPOSE).value);
    /// ```
    pub fn with_pytorch_version(mut self, major: u32, minor: u32) -> Self {
        self.pytorch_version = Some((major, minor));
        self
    }

    /// Returns the version of PyTorch, major and minor, if it was given.
    pub fn pytorch_version(&self) -> Option<(u32, u32)> {
        self.pytorch_version
    }

    /// Returns the text of a variable, unread; none when it is not set. Cost: O(log n).
    pub fn raw(&self, variable: Variable) -> Option<&OsStr> {
        self.texts.get(OsStr::new(variable.name())).map(OsString::as_os_str)
    }

    /// Says whether a variable is set, to an empty text too.
    pub fn is_set(&self, variable: Variable) -> bool {
        self.raw(variable).is_some()
    }

    /// Returns the kept names in order.
    pub(super) fn names(&self) -> impl Iterator<Item = &OsStr> {
        self.texts.keys().map(OsString::as_os_str)
    }

    /// Returns the name of the user, when the environment says it.
    pub(super) fn user_name(&self) -> Option<&str> {
        let texts = USER_NAMES.iter().filter_map(|name| self.texts.get(OsStr::new(name)));
        texts.filter_map(|text| text.to_str()).find(|text| !text.is_empty())
    }
}

fn is_of_concern(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    USER_NAMES.contains(&name.as_str())
        || MARKS.iter().any(|mark| name.contains(mark))
        || STARTS.iter().any(|start| name.starts_with(start))
        || Variable::by_name(&name).is_some()
}

//! Names of operators as traces, profilers and dispatchers write them, folded to one form.

use std::fmt;

/// The name of an operator without its overload: `add`, or `_c10d_functional::all_reduce` outside of
/// the namespace `aten`.
///
/// ```
/// use neuronx_mem_int64::OperatorName;
///
/// for text in ["aten::add.Tensor", "aten.add.Tensor", "torch.ops.aten.add.default", "add"] {
///     assert_eq!(OperatorName::fold(text).as_str(), "add");
/// }
/// let name = OperatorName::fold("_c10d_functional.all_reduce.default");
/// assert_eq!(name.as_str(), "_c10d_functional::all_reduce");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperatorName(String);

/// Namespaces that are told from an operator's name when only a dot follows.
const NAMESPACES: [&str; 5] = ["aten", "prims", "c10d", "c10d_functional", "_c10d_functional"];

impl OperatorName {
    /// Takes away what a name says about the overload and about `aten`. Any text has a name.
    #[must_use]
    pub fn fold(text: &str) -> Self {
        let text = text.trim();
        let text = text.strip_prefix("torch.ops.").unwrap_or(text);
        let (namespace, rest) = match text.split_once("::") {
            Some((namespace, rest)) => (namespace, rest),
            None => match text.split_once('.') {
                // Three parts always start with the namespace.
                Some((first, rest)) if NAMESPACES.contains(&first) || rest.contains('.') => (first, rest),
                _ => ("aten", text),
            },
        };
        let name = rest.split_once('.').map_or(rest, |(name, _)| name);
        match namespace {
            "aten" => Self(name.to_owned()),
            _ => Self(format!("{namespace}::{name}")),
        }
    }

    /// Returns the folded text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name with its namespace and a dot, as PyTorch prints it: `aten.add`.
    #[must_use]
    pub fn qualified(&self) -> String {
        match self.0.split_once("::") {
            Some((namespace, name)) => format!("{namespace}.{name}"),
            None => format!("aten.{}", self.0),
        }
    }

    /// Returns the names under which a table may hold it, best first: itself, then what it is the
    /// in-place form of, then what it does to each tensor of a list.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = &str> {
        let name = self.0.as_str();
        let each = name.strip_prefix("_foreach_");
        [Some(name), out_of_place(name), each, each.and_then(out_of_place)].into_iter().flatten()
    }
}

impl fmt::Display for OperatorName {
    /// Prints the folded text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// `add_` is `add`, and `__iand__` is `__and__`.
fn out_of_place(name: &str) -> Option<&str> {
    match name {
        "__iand__" => Some("__and__"),
        "__ior__" => Some("__or__"),
        "__ixor__" => Some("__xor__"),
        "__ilshift__" => Some("__lshift__"),
        "__irshift__" => Some("__rshift__"),
        _ => name.strip_suffix('_').filter(|rest| !rest.ends_with('_') && !rest.is_empty()),
    }
}

//! Values under keys that the schema does not know. Knows Python's builtin data types; refuses
//! anything that could carry behaviour.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A Python value of a builtin type.
///
/// Containers are shared: a clone costs O(1). Two floats are equal when their bits are, so that
/// equality is reflexive and a round trip can be checked.
///
/// ```
/// use neuronx_mem_snapshot::Value;
///
/// let settings = Value::dict([("max_split_size", Value::from(-1_i64)), ("flag", Value::from(true))]);
/// assert_eq!(settings.get("max_split_size").and_then(Value::as_int), Some(-1));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Value {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer in `i64::MIN..=u64::MAX`; anything else cannot be written.
    Int(i128),
    /// A float.
    Float(f64),
    /// A string.
    Str(Arc<str>),
    /// A list.
    List(Arc<[Value]>),
    /// A tuple; JSON turns it into a list.
    Tuple(Arc<[Value]>),
    /// A dict in insertion order.
    Dict(Arc<[(Value, Value)]>),
}

impl Value {
    /// A dict with text keys, in the given order.
    #[must_use]
    pub fn dict<K: AsRef<str>>(pairs: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Dict(pairs.into_iter().map(|(key, value)| (Self::from(key.as_ref()), value)).collect())
    }

    /// The value of a text key, if this is a dict that has it. Cost: O(keys).
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Dict(pairs) = self else { return None };
        pairs.iter().find(|(candidate, _)| candidate.as_str() == Some(key)).map(|(_, value)| value)
    }

    /// The integer, if this is one.
    #[must_use]
    pub fn as_int(&self) -> Option<i128> {
        if let Self::Int(value) = self { Some(*value) } else { None }
    }

    /// The float, if this is one.
    #[must_use]
    pub fn as_float(&self) -> Option<f64> {
        if let Self::Float(value) = self { Some(*value) } else { None }
    }

    /// The truth value, if this is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// The string, if this is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Str(text) = self { Some(text) } else { None }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Str(text.into())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(i128::from(value))
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Int(i128::from(value))
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::Str(a), Self::Str(b)) => a == b,
            (Self::List(a), Self::List(b)) | (Self::Tuple(a), Self::Tuple(b)) => a == b,
            (Self::Dict(a), Self::Dict(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::None => {}
            Self::Bool(value) => value.hash(state),
            Self::Int(value) => value.hash(state),
            Self::Float(value) => value.to_bits().hash(state),
            Self::Str(text) => text.hash(state),
            Self::List(items) | Self::Tuple(items) => items.hash(state),
            Self::Dict(pairs) => pairs.hash(state),
        }
    }
}

//! Values under unknown keys. Knows all of JSON's types; refuses nesting beyond the limit.

use std::collections::HashMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::context::Context;
use super::records::KeySeed;
use crate::limits::LimitKind;
use crate::model::{StrId, Value};

/// Any value.
pub(super) struct ValueSeed<'c> {
    context: &'c mut Context,
    depth: usize,
}

/// Memory of a shared container beside its items.
const CONTAINER_BYTES: usize = 64;

/// Memory for finding a key of a dict again while it is read.
const PLACE_BYTES: usize = 40;

impl<'c> ValueSeed<'c> {
    pub(super) fn new(context: &'c mut Context) -> Self {
        Self { context, depth: 1 }
    }

    /// Enters a container.
    fn enter<E: serde::de::Error>(&mut self) -> Result<usize, E> {
        if self.depth >= self.context.max_depth {
            return Err(self.context.fail(LimitKind::Depth.error(self.context.max_depth as u64)));
        }
        let charged = self.context.budget.charge(CONTAINER_BYTES);
        self.context.keep(charged)?;
        Ok(self.depth + 1)
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.context.count_extra()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::None)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Int(i128::from(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(i128::from(value)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value, E> {
        let id = self.context.text(text)?;
        Ok(Value::Str(self.context.stacks.shared_text(id)))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Value, A::Error> {
        let depth = self.enter()?;
        let context = self.context;
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(ValueSeed { context, depth })? {
            let pushed = context.budget.push(&mut values, value);
            context.keep(pushed)?;
        }
        Ok(Value::List(values.into()))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Value, A::Error> {
        let depth = self.enter()?;
        let context = self.context;
        let mut pairs: Vec<(Value, Value)> = Vec::new();
        let mut places: HashMap<StrId, usize> = HashMap::new();
        while let Some(key) = map.next_key_seed(KeySeed(context))? {
            let value = map.next_value_seed(ValueSeed { context, depth })?;
            if let Some((_, old)) = places.get(&key).and_then(|&place| pairs.get_mut(place)) {
                *old = value;
                continue;
            }
            let charged = context.budget.charge(PLACE_BYTES);
            context.keep(charged)?;
            places.insert(key, pairs.len());
            let pair = (Value::Str(context.stacks.shared_text(key)), value);
            let pushed = context.budget.push(&mut pairs, pair);
            context.keep(pushed)?;
        }
        Ok(Value::Dict(pairs.into()))
    }
}

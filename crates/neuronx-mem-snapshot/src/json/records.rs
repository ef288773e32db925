//! Dicts of a known kind. Knows which type each key wants and interns stacks as they arrive;
//! refuses other types with the name of the key.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use smallvec::SmallVec;

use super::context::Context;
use super::seeds::collect;
use super::values::ValueSeed;
use crate::model::{
    FieldValue, FrameId, FrameRecord, PoolId, Record, RecordBuilder, Schema, Slot, StackId, StrId, Value,
    ValueType,
};

/// A key of an object.
pub(super) struct KeySeed<'c>(pub(super) &'c mut Context);

/// One dict.
pub(super) struct RecordSeed<'c, R>(&'c mut Context, PhantomData<R>);

/// The value of a known key; `None` for null.
struct FieldSeed<'c> {
    context: &'c mut Context,
    schema: &'static Schema,
    key: StrId,
    slot: Slot,
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = StrId;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<StrId, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = StrId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<StrId, E> {
        self.0.text(text)
    }
}

impl<'c, R> RecordSeed<'c, R> {
    pub(super) fn new(context: &'c mut Context) -> Self {
        Self(context, PhantomData)
    }
}

impl<'de, R: Record> DeserializeSeed<'de> for RecordSeed<'_, R> {
    type Value = R;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<R, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, R: Record> Visitor<'de> for RecordSeed<'_, R> {
    type Value = R;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {} dict", R::SCHEMA.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<R, A::Error> {
        let context = self.0;
        let mut builder = RecordBuilder::<R>::new();
        while let Some(key) = map.next_key_seed(KeySeed(context))? {
            let slot = R::SCHEMA.slot(key);
            let added = if slot == Slot::Unknown {
                let value = map.next_value_seed(ValueSeed::new(context))?;
                builder.extra(key, value)
            } else {
                match map.next_value_seed(FieldSeed { context, schema: R::SCHEMA, key, slot })? {
                    Some(value) => builder.field(key, slot, value),
                    None => builder.extra(key, Value::None),
                }
            };
            context.keep(added)?;
        }
        let record = builder.finish(&mut context.stacks);
        context.check_table()?;
        let complete = record.check_complete();
        context.keep(complete)?;
        Ok(record)
    }
}

impl FieldSeed<'_> {
    fn wrong<T, E: serde::de::Error>(self, found: &'static str) -> Result<T, E> {
        let key = self.context.stacks.text(self.key).to_owned();
        Err(self.context.fail(self.schema.wrong_type(&key, self.slot, found)))
    }

    fn int<E: serde::de::Error>(self, value: i128) -> Result<Option<FieldValue>, E> {
        match self.slot {
            Slot::Int(_) => Ok(Some(FieldValue::Int(value))),
            _ => self.wrong(ValueType::INT),
        }
    }
}

impl<'de> DeserializeSeed<'de> for FieldSeed<'_> {
    type Value = Option<FieldValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FieldSeed<'_> {
    type Value = Option<FieldValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value of a {} dict", self.schema.name)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E: serde::de::Error>(self, flag: bool) -> Result<Self::Value, E> {
        match self.slot {
            Slot::Flag => Ok(Some(FieldValue::Flag(flag))),
            _ => self.wrong(ValueType::BOOL),
        }
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Self::Value, E> {
        self.int(i128::from(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Self::Value, E> {
        self.int(i128::from(value))
    }

    fn visit_f64<E: serde::de::Error>(self, _value: f64) -> Result<Self::Value, E> {
        self.wrong(ValueType::FLOAT)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        match self.slot {
            Slot::Text(_) => Ok(Some(FieldValue::Text(self.context.text(text)?))),
            _ => self.wrong(ValueType::STR),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        match self.slot {
            Slot::Pool => self.pool(items).map(|pool| Some(FieldValue::Pool(pool))),
            Slot::Stack => stack(self.context, items).map(|stack| Some(FieldValue::Stack(stack))),
            Slot::Blocks => collect(self.context, items).map(|blocks| Some(FieldValue::Blocks(blocks))),
            _ => self.wrong(ValueType::LIST),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, _map: A) -> Result<Self::Value, A::Error> {
        self.wrong(ValueType::DICT)
    }
}

impl FieldSeed<'_> {
    fn pool<'de, A: SeqAccess<'de>>(self, mut items: A) -> Result<PoolId, A::Error> {
        let first = items.next_element::<serde_json::Number>()?.and_then(|number| number.as_i128());
        let second = items.next_element::<serde_json::Number>()?.and_then(|number| number.as_i128());
        let rest = items.next_element::<IgnoredAny>()?;
        let (Some(first), Some(second), None) = (first, second, rest) else {
            return self.wrong(ValueType::LIST);
        };
        let pool = self.context.stacks.intern_pool_ints([first, second]);
        self.context.check_table()?;
        Ok(pool)
    }
}

/// A list of frames, stored once however often it appears.
fn stack<'de, A: SeqAccess<'de>>(context: &mut Context, mut items: A) -> Result<StackId, A::Error> {
    let mut frames = SmallVec::<[FrameId; 64]>::new();
    while let Some(record) = items.next_element_seed(RecordSeed::<FrameRecord>::new(context))? {
        frames.push(context.stacks.intern_frame_record(record));
    }
    let stack = context.stacks.intern_stack(&frames);
    context.check_table()?;
    Ok(stack)
}

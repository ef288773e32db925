//! One value of the machine in eight bytes. Knows how to pack a kind and a payload; refuses to own
//! anything: containers, wide integers and floats live in the heap.

use crate::model::{PoolId, StrId};

/// A packed value: three tag bits and 61 bits of payload.
///
/// Equal bits mean the same object, for texts and small integers also the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Val(u64);

/// A value unpacked; numbers are indices into the heap's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unpacked {
    None,
    Bool(bool),
    Int(i64),
    /// Index of an integer of more than 61 bits.
    WideInt(usize),
    /// Index of a float.
    Float(usize),
    Text(StrId),
    /// A tuple of two integers.
    Pair(PoolId),
    Node(usize),
}

const TAG_BITS: u32 = 3;
const NODE: u64 = 0;
const TEXT: u64 = 1;
const INT: u64 = 2;
const CONSTANT: u64 = 3;
const WIDE_INT: u64 = 4;
const FLOAT: u64 = 5;
const PAIR: u64 = 6;

impl Val {
    pub(super) const NONE: Self = Self::pack(CONSTANT, 0);
    pub(super) const FALSE: Self = Self::pack(CONSTANT, 1);
    pub(super) const TRUE: Self = Self::pack(CONSTANT, 2);
    /// No value at all; never on the stack or in a container.
    pub(super) const UNSET: Self = Self::pack(CONSTANT, 3);

    const fn pack(tag: u64, payload: u64) -> Self {
        Self(payload << TAG_BITS | tag)
    }

    #[inline]
    pub(super) const fn node(index: usize) -> Self {
        Self::pack(NODE, index as u64)
    }

    #[inline]
    pub(super) const fn text(id: StrId) -> Self {
        Self::pack(TEXT, id.index() as u64)
    }

    #[inline]
    pub(super) const fn pair(id: PoolId) -> Self {
        Self::pack(PAIR, id.index() as u64)
    }

    /// Packs an integer that fits 61 bits.
    #[inline]
    pub(super) const fn int(value: i64) -> Option<Self> {
        let packed = value << TAG_BITS;
        if packed >> TAG_BITS == value { Some(Self(packed.cast_unsigned() | INT)) } else { None }
    }

    #[inline]
    pub(super) const fn wide_int(index: usize) -> Self {
        Self::pack(WIDE_INT, index as u64)
    }

    #[inline]
    pub(super) const fn float(index: usize) -> Self {
        Self::pack(FLOAT, index as u64)
    }

    #[inline]
    pub(super) const fn unpack(self) -> Unpacked {
        let payload = self.0 >> TAG_BITS;
        match self.0 & ((1 << TAG_BITS) - 1) {
            NODE => Unpacked::Node(payload as usize),
            TEXT => Unpacked::Text(StrId::from_index(payload as usize)),
            INT => Unpacked::Int(self.0.cast_signed() >> TAG_BITS),
            WIDE_INT => Unpacked::WideInt(payload as usize),
            FLOAT => Unpacked::Float(payload as usize),
            PAIR => Unpacked::Pair(PoolId::from_index(payload as usize)),
            _ => match payload {
                0 => Unpacked::None,
                1 => Unpacked::Bool(false),
                _ => Unpacked::Bool(true),
            },
        }
    }

    /// The text, if this is one.
    #[inline]
    pub(super) const fn as_text(self) -> Option<StrId> {
        if let Unpacked::Text(id) = self.unpack() { Some(id) } else { None }
    }
}

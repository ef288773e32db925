//! The compact store behind every record. Knows integers, texts, one flag, a pool, a stack, unknown
//! keys and the order of keys, each present or absent; refuses to know which key is which.

use super::{ExtrasId, OrderId, PoolId, StackId, StrId};

/// Storage for `I` integers and `T` texts. No heap memory; two stores are equal when every field is.
///
/// An integer is kept as 64 bits and a sign note, which covers `i64::MIN..=u64::MAX`: Python ints
/// have no width, addresses reach beyond 2^63, and C++ writes such addresses as negative ints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Core<const I: usize, const T: usize> {
    /// The integers; 0 when absent.
    bits: [u64; I],
    texts: [Option<StrId>; T],
    pool: Option<PoolId>,
    stack: Option<StackId>,
    extras: Option<ExtrasId>,
    /// `None`: known keys in canonical order, then the unknown ones.
    order: Option<OrderId>,
    /// Bit i set: integer i is present.
    present: u8,
    /// Bit i set: the bits of integer i are a negative two's complement number.
    negative: u8,
    flag: Option<bool>,
}

/// Access to a [`Core`] of any size.
pub(crate) trait Fields {
    fn int(&self, index: usize) -> Option<i128>;
    /// Returns `false` (and stores nothing) if the number does not fit.
    fn set_int(&mut self, index: usize, value: Option<i128>) -> bool;
    fn text(&self, index: usize) -> Option<StrId>;
    fn set_text(&mut self, index: usize, id: Option<StrId>);
    fn flag(&self) -> Option<bool>;
    fn set_flag(&mut self, flag: Option<bool>);
    fn pool(&self) -> Option<PoolId>;
    fn set_pool(&mut self, pool: Option<PoolId>);
    fn stack(&self) -> Option<StackId>;
    fn set_stack(&mut self, stack: Option<StackId>);
    fn extras(&self) -> Option<ExtrasId>;
    fn set_extras(&mut self, extras: Option<ExtrasId>);
    fn order(&self) -> Option<OrderId>;
    fn set_order(&mut self, order: Option<OrderId>);
    fn texts_mut(&mut self) -> &mut [Option<StrId>];
}

impl<const I: usize, const T: usize> Core<I, T> {
    /// The integer as 64 raw bits.
    #[inline]
    pub(crate) fn bits(&self, index: usize) -> Option<u64> {
        (self.present & (1 << index) != 0).then(|| self.bits[index])
    }

    /// Stores an unsigned integer.
    #[inline]
    pub(crate) fn set_bits(&mut self, index: usize, bits: u64) {
        self.bits[index] = bits;
        self.present |= 1 << index;
        self.negative &= !(1 << index);
    }
}

impl<const I: usize, const T: usize> Default for Core<I, T> {
    fn default() -> Self {
        const { assert!(I <= 8, "presence is a byte") };
        Self {
            bits: [0; I],
            texts: [None; T],
            pool: None,
            stack: None,
            extras: None,
            order: None,
            present: 0,
            negative: 0,
            flag: None,
        }
    }
}

impl<const I: usize, const T: usize> Fields for Core<I, T> {
    #[inline]
    fn int(&self, index: usize) -> Option<i128> {
        let bits = self.bits(index)?;
        let negative = self.negative & (1 << index) != 0;
        Some(if negative { i128::from(bits.cast_signed()) } else { i128::from(bits) })
    }

    #[inline]
    fn set_int(&mut self, index: usize, value: Option<i128>) -> bool {
        let Some(value) = value else {
            self.bits[index] = 0;
            self.present &= !(1 << index);
            self.negative &= !(1 << index);
            return true;
        };
        if let Ok(bits) = u64::try_from(value) {
            self.set_bits(index, bits);
            return true;
        }
        let Ok(signed) = i64::try_from(value) else { return false };
        self.set_bits(index, signed.cast_unsigned());
        self.negative |= 1 << index;
        true
    }

    #[inline]
    fn text(&self, index: usize) -> Option<StrId> {
        self.texts[index]
    }

    #[inline]
    fn set_text(&mut self, index: usize, id: Option<StrId>) {
        self.texts[index] = id;
    }

    fn flag(&self) -> Option<bool> {
        self.flag
    }

    fn set_flag(&mut self, flag: Option<bool>) {
        self.flag = flag;
    }

    #[inline]
    fn pool(&self) -> Option<PoolId> {
        self.pool
    }

    #[inline]
    fn set_pool(&mut self, pool: Option<PoolId>) {
        self.pool = pool;
    }

    #[inline]
    fn stack(&self) -> Option<StackId> {
        self.stack
    }

    #[inline]
    fn set_stack(&mut self, stack: Option<StackId>) {
        self.stack = stack;
    }

    fn extras(&self) -> Option<ExtrasId> {
        self.extras
    }

    fn set_extras(&mut self, extras: Option<ExtrasId>) {
        self.extras = extras;
    }

    fn order(&self) -> Option<OrderId> {
        self.order
    }

    fn set_order(&mut self, order: Option<OrderId>) {
        self.order = order;
    }

    fn texts_mut(&mut self) -> &mut [Option<StrId>] {
        &mut self.texts
    }
}

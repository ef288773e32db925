//! An operator with its arithmetic and its check: element by element here, the rest beside.

use super::{Arithmetic, BinaryOp, UnaryOp};
use crate::kernels::scan;
use crate::{Int64Error, Operand, Route};

/// Computes what an operator gives, in any mode.
///
/// Where the check is on, values of operands and of the result outside `int32` are an error that names
/// the operator, the operand, the index and the value; a result is judged by what 64-bit arithmetic
/// gives. What passes the check equals 64-bit arithmetic.
///
/// ```
/// use neuronx_mem_int64::{BinaryOp, Int64Mode, Int64Policy, Reference, route};
///
/// let (left, right) = ([1 << 31, 5], [1, 1 << 32]);
/// let packed = |check| {
///     let route = route("aten.add", Int64Policy::new(Int64Mode::Packed, check));
///     Reference::of_route("aten.add", &route).binary(BinaryOp::Add, &left, &right)
/// };
/// assert_eq!(packed(false), Ok(vec![1 - (1 << 31), 5]));
/// let error = packed(true).map_err(|error| error.to_string());
/// assert_eq!(
///     error.unwrap_err(),
///     "aten.add: operand 0, element 0: 2147483648 is outside the range of int32 (1 such value), \
///      and the packed view computes with the low 32 bits"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    operator: String,
    arithmetic: Arithmetic,
    is_checked: bool,
}

impl Reference {
    /// An operator with an arithmetic and no check; the name is for messages.
    #[must_use]
    pub fn new(operator: impl Into<String>, arithmetic: Arithmetic) -> Self {
        Self { operator: operator.into(), arithmetic, is_checked: false }
    }

    /// An operator as a route has it.
    #[must_use]
    pub fn of_route(operator: impl Into<String>, route: &Route) -> Self {
        Self::new(operator, route.arithmetic()).checked(route.is_checked)
    }

    /// Switches the overflow check, which concerns arithmetic of 32 bits only.
    #[must_use]
    pub const fn checked(mut self, is_checked: bool) -> Self {
        self.is_checked = is_checked && !matches!(self.arithmetic, Arithmetic::Int64);
        self
    }

    /// Returns its arithmetic.
    #[must_use]
    pub const fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// Computes an operator on each value: O(n).
    ///
    /// # Errors
    ///
    /// [`Int64Error::Overflow`] where the check is on.
    pub fn unary(&self, op: UnaryOp, values: &[i64]) -> Result<Vec<i64>, Int64Error> {
        self.admit(0, values)?;
        let apply = |arithmetic| values.iter().map(|value| op.apply(arithmetic, *value)).collect();
        self.settle(|arithmetic| Ok(apply(arithmetic)))
    }

    /// Computes an operator on each pair; a side with one value holds for all of the other: O(n).
    ///
    /// # Errors
    ///
    /// [`Int64Error::Length`] for sides that do not fit, [`Int64Error::DivisionByZero`], and
    /// [`Int64Error::Overflow`] where the check is on.
    pub fn binary(&self, op: BinaryOp, left: &[i64], right: &[i64]) -> Result<Vec<i64>, Int64Error> {
        let n = if left.len() == 1 { right.len() } else { left.len() };
        if right.len() != n && right.len() != 1 {
            let (operand, actual) = (Operand::Input(1), right.len());
            return Err(Int64Error::Length { operator: self.operator(), operand, expected: n, actual });
        }
        self.admit(0, left)?;
        self.admit(1, right)?;
        let at = |side: &[i64], index: usize| if side.len() == 1 { side[0] } else { side[index] };
        self.settle(|arithmetic| {
            let apply = |index| {
                let result = op.apply(arithmetic, at(left, index), at(right, index));
                result.ok_or_else(|| Int64Error::DivisionByZero { operator: self.operator(), index })
            };
            (0..n).map(apply).collect()
        })
    }

    pub(super) fn operator(&self) -> String {
        self.operator.clone()
    }

    /// Refuses an operand with a value outside `int32`, where the check is on.
    pub(super) fn admit(&self, operand_idx: usize, values: &[i64]) -> Result<(), Int64Error> {
        if self.is_checked { self.judge(Operand::Input(operand_idx), values) } else { Ok(()) }
    }

    /// Computes with the arithmetic at hand; where the check is on, refuses what 64-bit arithmetic
    /// gives outside `int32`.
    pub(super) fn settle(
        &self,
        compute: impl Fn(Arithmetic) -> Result<Vec<i64>, Int64Error>,
    ) -> Result<Vec<i64>, Int64Error> {
        if self.is_checked {
            self.judge(Operand::Output, &compute(Arithmetic::Int64)?)?;
        }
        compute(self.arithmetic)
    }

    fn judge(&self, operand: Operand, values: &[i64]) -> Result<(), Int64Error> {
        match scan(values).first {
            None => Ok(()),
            Some(first) => Err(Int64Error::Overflow {
                operator: self.operator(),
                operand,
                index: first.index,
                value: first.value,
                count: scan(values).count,
            }),
        }
    }
}

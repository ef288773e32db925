//! Where an operator runs on `int64` in each mode, why, and what that does to values and traffic.
//!
//! Knows the five modes and what the table says. Computes nothing and moves nothing.

mod bounce;
mod float64;
mod path;
mod risk;

pub use bounce::{Bounce, Traffic};
pub use float64::{Float64Use, route_float64};
pub use path::{Path, Reason};
pub use risk::Risk;

use crate::{
    Arithmetic, Basis, DataPath, Int64Mode, Int64Policy, OperatorClass, OperatorFacts, OperatorTable, Values,
};

/// How one operator runs in one mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Route {
    /// Where its arithmetic runs.
    pub path: Path,
    /// Why there.
    pub reason: Reason,
    /// Whether values outside `int32` are an error: the packed view with the check switched on.
    pub is_checked: bool,
    /// The operator's class, where it is known.
    pub class: Option<OperatorClass>,
    /// How well it is known whether the device runs it in 64 bits.
    pub basis: Basis,
    pub(crate) values: Values,
    pub(crate) data_path: DataPath,
    pub(crate) is_refused: bool,
}

/// Says how an operator of the built-in table runs: O(log n).
///
/// Takes a mode, or a policy that also says whether the packed view is checked. The name may have any
/// of the spellings that [`OperatorName`](crate::OperatorName) folds. An operator that is in no
/// table counts as one that the device does not run in 64 bits, with [`Reason::UnknownOperator`].
///
/// ```
/// use neuronx_mem_int64::{Int64Mode, Path, Reason, route};
///
/// let add = route("aten::add.Tensor", Int64Mode::Native);
/// assert_eq!((add.path, add.reason), (Path::Device64, Reason::Supported));
/// let mm = route("aten::mm", Int64Mode::Native);
/// assert_eq!((mm.path, mm.reason), (Path::Cpu, Reason::MatmulOnCpu));
/// ```
#[must_use]
pub fn route(operator: &str, policy: impl Into<Int64Policy>) -> Route {
    OperatorTable::built_in().route(operator, policy)
}

impl OperatorTable {
    /// Says how an operator runs: [`route()`] with this table.
    #[must_use]
    pub fn route(&self, operator: &str, policy: impl Into<Int64Policy>) -> Route {
        Route::of(self.get(operator), policy.into())
    }
}

impl Route {
    /// Decides from what is known of an operator; `None` is one that nobody knows.
    ///
    /// Follows the guidelines for memory management, "Understand 64-bit dtype memory behavior". What
    /// reads no `int64` value, such as a view, stays on the device in every mode.
    #[must_use]
    pub fn of(facts: Option<&OperatorFacts>, policy: Int64Policy) -> Self {
        let (path, reason) = match facts {
            Some(facts) if facts.values == Values::View => {
                let is_state = facts.class == OperatorClass::State;
                (Path::Device64, if is_state { Reason::StateOnly } else { Reason::ViewOnly })
            }
            _ => decide(facts, policy.mode),
        };
        let values = facts.map_or(Values::Computed, |facts| facts.values);
        Self {
            path,
            reason,
            is_checked: policy.check_overflow
                && path == Path::DevicePacked
                && matches!(values, Values::Index | Values::Computed),
            class: facts.map(|facts| facts.class),
            basis: facts.map_or(Basis::Assumed, |facts| facts.basis),
            values,
            data_path: facts.map_or(DataPath::Integer, |facts| facts.data_path),
            is_refused: facts.is_some_and(|facts| facts.is_refused),
        }
    }

    /// Returns what the route computes with, as the guidelines have it.
    #[must_use]
    pub const fn arithmetic(&self) -> Arithmetic {
        match self.path {
            Path::Device64 | Path::Cpu => Arithmetic::Int64,
            Path::DevicePacked => Arithmetic::LowWord,
            Path::DeviceInt32 => Arithmetic::Int32Cast,
        }
    }

    /// Returns what becomes of values in the operator; of one that nobody knows, that they are computed
    /// with.
    #[must_use]
    pub const fn values(&self) -> Values {
        self.values
    }

    /// Returns what the compiler may compute with instead: sums in `float32`, for the few operators
    /// whose release notes say so, where they run on the device and not in 64 bits.
    #[must_use]
    pub fn downcast_arithmetic(&self) -> Option<Arithmetic> {
        let is_downcast = self.path.is_32_bit() && self.data_path == DataPath::Float32;
        is_downcast.then_some(Arithmetic::Float32)
    }
}

fn decide(facts: Option<&OperatorFacts>, mode: Int64Mode) -> (Path, Reason) {
    match mode {
        Int64Mode::Packed => (Path::DevicePacked, Reason::ModePacksAll),
        Int64Mode::CpuBounce => (Path::DeviceInt32, Reason::ModeBouncesAll),
        Int64Mode::CpuFallback => (Path::Cpu, Reason::ModeKeepsAllOnCpu),
        Int64Mode::Native | Int64Mode::NativeStrict => match facts {
            Some(facts) if facts.device64 => (Path::Device64, Reason::Supported),
            Some(facts) if facts.class == OperatorClass::Matmul => (Path::Cpu, Reason::MatmulOnCpu),
            _ => {
                let path = if mode == Int64Mode::Native { Path::DevicePacked } else { Path::Cpu };
                (path, facts.map_or(Reason::UnknownOperator, |_| Reason::NotSupported))
            }
        },
    }
}

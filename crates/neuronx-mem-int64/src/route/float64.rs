//! `float64`: no path on the device.

use super::{Path, Reason, Route};
use crate::{Basis, DataPath, OperatorClass, Values};

/// What is asked of a `float64` tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Float64Use {
    /// A conversion to or from `float32`.
    Conversion,
    /// Another view of the same storage, or a copy of it as it is.
    Movement,
    /// Any other operator.
    Operator,
}

/// Says how an operator with a `float64` tensor runs; no mode changes it.
///
/// Conversions run on the CPU (guidelines for memory management, "Understand 64-bit dtype memory
/// behavior"). So does every operator that computes, because there is nowhere else. Moving needs no
/// arithmetic: storage keeps 8 bytes an element.
///
/// ```
/// use neuronx_mem_int64::{Float64Use, Path, Traffic, route_float64};
///
/// // 100 elements from float64 to float32: 800 bytes to the host, 400 back.
/// let route = route_float64(Float64Use::Conversion);
/// let bounce = route.bounced(Traffic::wide(800, 0).with_others(0, 400));
/// assert_eq!((route.path, bounce.to_host_bytes, bounce.to_device_bytes), (Path::Cpu, 800, 400));
/// ```
#[must_use]
pub const fn route_float64(what: Float64Use) -> Route {
    let (path, reason, class, values) = match what {
        Float64Use::Conversion => {
            (Path::Cpu, Reason::Float64Conversion, Some(OperatorClass::Cast), Values::Computed)
        }
        Float64Use::Movement => {
            (Path::Device64, Reason::MoveOnly, Some(OperatorClass::Movement), Values::Moved)
        }
        Float64Use::Operator => (Path::Cpu, Reason::NoFloat64, None, Values::Computed),
    };
    Route {
        path,
        reason,
        is_checked: false,
        class,
        basis: Basis::Documented,
        values,
        data_path: DataPath::Integer,
        is_refused: false,
    }
}

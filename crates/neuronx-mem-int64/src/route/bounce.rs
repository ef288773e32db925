//! Bytes that cross between host and device because of a route, beyond what the operator itself
//! needs.

use super::{Path, Route};

/// Bytes of the tensors of one call, as they lie in device memory: 8 for each element of `int64`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Traffic {
    /// Operands of 64-bit dtype.
    pub wide_operand_bytes: u64,
    /// Operands of other dtypes.
    pub other_operand_bytes: u64,
    /// Results of 64-bit dtype.
    pub wide_result_bytes: u64,
    /// Results of other dtypes.
    pub other_result_bytes: u64,
}

/// Bytes that a route copies in each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[non_exhaustive]
pub struct Bounce {
    /// From the device to the host.
    pub to_host_bytes: u64,
    /// From the host to the device.
    pub to_device_bytes: u64,
}

impl Bounce {
    /// Returns the bytes of both directions.
    #[must_use]
    pub const fn total_bytes(self) -> u64 {
        self.to_host_bytes.saturating_add(self.to_device_bytes)
    }

    pub(crate) const fn plus(self, other: Self) -> Self {
        Self {
            to_host_bytes: self.to_host_bytes.saturating_add(other.to_host_bytes),
            to_device_bytes: self.to_device_bytes.saturating_add(other.to_device_bytes),
        }
    }

    pub(crate) const fn times(self, n: u64) -> Self {
        Self {
            to_host_bytes: self.to_host_bytes.saturating_mul(n),
            to_device_bytes: self.to_device_bytes.saturating_mul(n),
        }
    }
}

impl Traffic {
    /// Puts the traffic of a call with only 64-bit tensors together.
    #[must_use]
    pub const fn wide(operand_bytes: u64, result_bytes: u64) -> Self {
        Self {
            wide_operand_bytes: operand_bytes,
            other_operand_bytes: 0,
            wide_result_bytes: result_bytes,
            other_result_bytes: 0,
        }
    }

    /// Sets the bytes of the tensors of other dtypes.
    #[must_use]
    pub const fn with_others(mut self, operand_bytes: u64, result_bytes: u64) -> Self {
        self.other_operand_bytes = operand_bytes;
        self.other_result_bytes = result_bytes;
        self
    }
}

impl Route {
    /// Returns the bytes that one call bounces: O(1), saturating.
    ///
    /// On the CPU every operand comes to the host and every result goes back. The cast to `int32`
    /// brings each 64-bit operand to the host in full and sends half of it back; a 64-bit result
    /// comes as half and goes back in full; other tensors stay where they are.
    ///
    /// ```
    /// use neuronx_mem_int64::{Int64Mode, Traffic, route};
    ///
    /// let route = route("aten.add", Int64Mode::CpuBounce);
    /// let bounce = route.bounced(Traffic::wide(800, 800));
    /// assert_eq!((bounce.to_host_bytes, bounce.to_device_bytes), (800 + 400, 400 + 800));
    /// ```
    #[must_use]
    pub const fn bounced(&self, call: Traffic) -> Bounce {
        match self.path {
            Path::Device64 | Path::DevicePacked => Bounce { to_host_bytes: 0, to_device_bytes: 0 },
            Path::DeviceInt32 => Bounce {
                to_host_bytes: call.wide_operand_bytes.saturating_add(call.wide_result_bytes / 2),
                to_device_bytes: (call.wide_operand_bytes / 2).saturating_add(call.wide_result_bytes),
            },
            Path::Cpu => Bounce {
                to_host_bytes: call.wide_operand_bytes.saturating_add(call.other_operand_bytes),
                to_device_bytes: call.wide_result_bytes.saturating_add(call.other_result_bytes),
            },
        }
    }
}

//! Status codes of the Neuron runtime, by number and name. Unknown numbers are kept, not refused.

use std::fmt;

/// A status of the Neuron runtime (`NRT_STATUS` of the public header `nrt_status.h`).
///
/// ```
/// use neuronx_mem_runtime::Status;
///
/// assert_eq!(Status::RESOURCE.to_string(), "NRT_RESOURCE (4)");
/// assert_eq!(Status(77).to_string(), "unknown status (77)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Status(pub u32);

impl Status {
    /// The call did what was asked.
    pub const SUCCESS: Self = Self(0);
    /// Failure without a nearer cause.
    pub const FAILURE: Self = Self(1);
    /// An argument is not valid.
    pub const INVALID: Self = Self(2);
    /// A handle names nothing.
    pub const INVALID_HANDLE: Self = Self(3);
    /// Out of device memory: the only status that starts a recovery.
    pub const RESOURCE: Self = Self(4);
    /// The call took too long.
    pub const TIMEOUT: Self = Self(5);
    /// The device is broken.
    pub const HW_ERROR: Self = Self(6);
    /// Out of host memory.
    pub const FAIL_HOST_MEM_ALLOC: Self = Self(11);
    /// The runtime has not been initialised.
    pub const UNINITIALIZED: Self = Self(13);
    /// The runtime has been closed.
    pub const CLOSED: Self = Self(14);

    /// Whether this is the status that means "no device memory": [`RESOURCE`](Self::RESOURCE)
    /// and no other (allocator semantics §6).
    #[must_use]
    pub const fn is_resource_exhausted(self) -> bool {
        self.0 == Self::RESOURCE.0
    }

    /// The name in the header, or `None` for a number it does not define.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        NAMES.iter().find(|(number, _)| *number == self.0).map(|(_, name)| *name)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name().unwrap_or("unknown status"), self.0)
    }
}

const NAMES: [(u32, &str); 28] = [
    (0, "NRT_SUCCESS"),
    (1, "NRT_FAILURE"),
    (2, "NRT_INVALID"),
    (3, "NRT_INVALID_HANDLE"),
    (4, "NRT_RESOURCE"),
    (5, "NRT_TIMEOUT"),
    (6, "NRT_HW_ERROR"),
    (7, "NRT_QUEUE_FULL"),
    (9, "NRT_LOAD_NOT_ENOUGH_NC"),
    (10, "NRT_UNSUPPORTED_NEFF_VERSION"),
    (11, "NRT_FAIL_HOST_MEM_ALLOC"),
    (13, "NRT_UNINITIALIZED"),
    (14, "NRT_CLOSED"),
    (15, "NRT_QUEUE_EMPTY"),
    (101, "NRT_EXEC_UNIT_UNRECOVERABLE"),
    (1002, "NRT_EXEC_BAD_INPUT"),
    (1003, "NRT_EXEC_COMPLETED_WITH_NUM_ERR"),
    (1004, "NRT_EXEC_COMPLETED_WITH_ERR"),
    (1005, "NRT_EXEC_NC_BUSY"),
    (1006, "NRT_EXEC_OOB"),
    (1100, "NRT_COLL_PENDING"),
    (1200, "NRT_EXEC_HW_ERR_COLLECTIVES"),
    (1201, "NRT_EXEC_HW_ERR_HBM_UE"),
    (1202, "NRT_EXEC_HW_ERR_NC_UE"),
    (1203, "NRT_EXEC_HW_ERR_DMA_ABORT"),
    (1204, "NRT_EXEC_SW_NQ_OVERFLOW"),
    (1205, "NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE"),
    (1206, "NRT_NETWORK_PROXY_FAILURE"),
];

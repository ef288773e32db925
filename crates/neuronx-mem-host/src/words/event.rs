//! The events that a log can have.

use std::fmt;

use super::table::UsageTable;
use crate::PageOrder;

/// Something that a log says about memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogEvent {
    /// The line, counted from 1; the first one of a table.
    pub line: usize,
    /// What it says.
    pub kind: EventKind,
}

/// What a line, or a table, says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// The runtime got no memory of this size.
    AllocationFailed {
        /// Whose memory.
        memory: MemoryKind,
        /// Exact bytes.
        bytes: u64,
    },
    /// A tensor could not be allocated.
    TensorFailed {
        /// Whose memory.
        memory: MemoryKind,
        /// Exact bytes.
        bytes: u64,
        /// Its name; `None` where the runtime has none.
        tensor: Option<String>,
    },
    /// The runtime got no device memory, with what it was for.
    UsageFailed {
        /// Bytes as printed, to three digits behind the point.
        about_bytes: u64,
        /// Alignment as printed; `None` for none.
        alignment: Option<String>,
        /// What it was for.
        usage: String,
        /// Where.
        place: Place,
    },
    /// Cores that have one stack of memory together.
    SharedStack {
        /// Physical cores to a logical one.
        cores_per_logical: u32,
        /// The logical cores.
        cores: Vec<u32>,
    },
    /// A file with details.
    FileWritten {
        /// Its path.
        path: String,
        /// The device in its name.
        device: Option<u32>,
        /// The stack of memory in its name.
        stack: Option<u32>,
    },
    /// Who has how much of a device.
    Usage(UsageTable),
    /// What the framework got as status, such as 4 for no device memory.
    Status {
        /// The number.
        status: u32,
        /// The text beside it.
        message: String,
    },
    /// The kernel had no block of an order.
    KernelFailed {
        /// The order.
        order: PageOrder,
        /// How it was asked, such as `GFP_KERNEL`.
        mode: String,
    },
    /// The free blocks of a zone when that happened.
    KernelBlocks {
        /// The node.
        node: u32,
        /// The zone.
        zone: String,
        /// Counts by order, order 0 first.
        counts: Vec<u64>,
    },
    /// The driver's reserve served what the kernel did not.
    ReserveServed {
        /// Bytes, rounded up to pages.
        bytes: u64,
    },
    /// The driver had nothing either.
    DriverFailed {
        /// Host memory in use then.
        occupied_bytes: u64,
    },
}

/// Whose memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MemoryKind {
    /// Contiguous memory of the host.
    Host,
    /// Memory of a device.
    Device,
}

/// A core of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Place {
    /// The device.
    pub device: u32,
    /// The core; `None` for the whole device.
    pub core: Option<u32>,
}

impl fmt::Display for MemoryKind {
    /// Prints `host` or `device`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Host => "host",
            Self::Device => "device",
        })
    }
}

impl fmt::Display for Place {
    /// Prints `device 0, core 4`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.core {
            Some(core) => write!(f, "device {}, core {core}", self.device),
            None => write!(f, "device {}", self.device),
        }
    }
}

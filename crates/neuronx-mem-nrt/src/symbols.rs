//! Which functions of libnrt are used, which of them must be there, and since when the others are.
//! Looks nothing up.

use std::fmt;

macro_rules! symbols {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $required:literal;)+) => {
        /// A function of libnrt that this crate knows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Symbol {
            $($(#[$doc])* $variant,)+
        }

        impl Symbol {
            /// All of them, required ones first.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Its name in the library.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// Whether a library without it is refused.
            #[must_use]
            pub const fn is_required(self) -> bool {
                match self { $(Self::$variant => $required,)+ }
            }
        }
    };
}

symbols! {
    /// Starts the runtime.
    Init = "nrt_init", true;
    /// Ends it.
    Close = "nrt_close", true;
    /// Tells the version.
    GetVersion = "nrt_get_version", true;
    /// Allocates a tensor.
    TensorAllocate = "nrt_tensor_allocate", true;
    /// Frees a tensor or slice.
    TensorFree = "nrt_tensor_free", true;
    /// Makes a slice.
    TensorAllocateSlice = "nrt_tensor_allocate_slice", true;
    /// Tells a tensor's device address.
    TensorGetVa = "nrt_tensor_get_va", true;
    /// Tells a tensor's size.
    TensorGetSize = "nrt_tensor_get_size", true;
    /// Copies from device to host.
    TensorRead = "nrt_tensor_read", true;
    /// Copies from host to device.
    TensorWrite = "nrt_tensor_write", true;
    /// Counts the logical cores that the process may use.
    VisibleVncCount = "nrt_get_visible_vnc_count", false;
    /// The older name of that count; one of the two must be there.
    VisibleNcCount = "nrt_get_visible_nc_count", false;
    /// Copies on the device.
    TensorCopy = "nrt_tensor_copy", false;
    /// Fills device memory.
    TensorMemset = "nrt_tensor_memset", false;
    /// Tells memory in use and in all; since runtime 2.27.23.
    VncMemoryStats = "nrt_get_vnc_memory_stats", false;
    /// Tells where a tensor lies.
    DeviceAllocationInfo = "nrt_tensor_get_device_allocation_info", false;
    /// Tells the instance's family.
    InstanceInfo = "nrt_get_instance_info", false;
    /// Tells a status in words.
    StatusText = "nrt_get_status_as_str", false;
    /// Logs who holds device memory; since runtime 2.33, in no public header.
    DebugLogOomReport = "nrt_debug_log_oom_report", false;
    /// Dumps all device allocations; since runtime 2.33, in no public header. Probed, never called:
    /// what it takes is not known.
    DumpDeviceAllocationInfo = "nrt_dump_device_allocation_info", false;
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

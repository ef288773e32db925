//! Other people's allocators. The two of host memory run at 1/256 of the sizes: at full size
//! they would measure the kernel.

use std::ffi::c_void;

use super::Subject;

/// A pointer of a host allocator, as a number so that it can be kept in a slot.
#[derive(Clone, Copy)]
pub struct HostPointer(*mut c_void);

impl Default for HostPointer {
    fn default() -> Self {
        Self(std::ptr::null_mut())
    }
}

fn host_bytes(bytes: u64) -> usize {
    usize::try_from(bytes / 256).unwrap_or(usize::MAX).max(1)
}

pub struct Mimalloc;

impl Subject for Mimalloc {
    type Handle = HostPointer;

    fn allocate(&mut self, bytes: u64) -> HostPointer {
        // SAFETY: `mi_malloc` accepts any size and may be called at any time.
        HostPointer(unsafe { libmimalloc_sys::mi_malloc(host_bytes(bytes)) })
    }

    fn free(&mut self, handle: HostPointer) {
        // SAFETY: a workload frees a slot once after filling it, so the pointer is live and from
        // `mi_malloc`, or null.
        unsafe { libmimalloc_sys::mi_free(handle.0) }
    }
}

pub struct Jemalloc;

impl Subject for Jemalloc {
    type Handle = HostPointer;

    fn allocate(&mut self, bytes: u64) -> HostPointer {
        // SAFETY: `malloc` accepts any size and may be called at any time.
        HostPointer(unsafe { tikv_jemalloc_sys::malloc(host_bytes(bytes)) })
    }

    fn free(&mut self, handle: HostPointer) {
        // SAFETY: as for mimalloc: the pointer is live and from jemalloc's `malloc`, or null.
        unsafe { tikv_jemalloc_sys::free(handle.0) }
    }
}

/// Units of 256 bytes, since it has 32-bit offsets.
pub struct Offset {
    inner: offset_allocator::Allocator<u32>,
}

impl Offset {
    pub fn new() -> Self {
        Self { inner: offset_allocator::Allocator::with_max_allocs(u32::MAX - 1, 1 << 22) }
    }
}

#[derive(Clone, Copy, Default)]
pub struct OffsetHandle(Option<offset_allocator::Allocation<u32>>);

impl Subject for Offset {
    type Handle = OffsetHandle;

    fn allocate(&mut self, bytes: u64) -> OffsetHandle {
        OffsetHandle(self.inner.allocate(u32::try_from(bytes.div_ceil(256)).unwrap_or(u32::MAX)))
    }

    fn free(&mut self, handle: OffsetHandle) {
        if let Some(allocation) = handle.0 {
            self.inner.free(allocation);
        }
    }
}

/// Frames of 256 bytes.
pub struct Buddy {
    inner: buddy_system_allocator::FrameAllocator<40>,
}

impl Buddy {
    pub fn new() -> Self {
        let mut inner = buddy_system_allocator::FrameAllocator::new();
        inner.add_frame(0, 1 << 37);
        Self { inner }
    }
}

impl Subject for Buddy {
    type Handle = (usize, usize);

    fn allocate(&mut self, bytes: u64) -> (usize, usize) {
        let frames = usize::try_from(bytes.div_ceil(256)).unwrap_or(usize::MAX);
        (self.inner.alloc(frames).unwrap_or(usize::MAX), frames)
    }

    fn free(&mut self, handle: (usize, usize)) {
        self.inner.dealloc(handle.0, handle.1);
    }
}

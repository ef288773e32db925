//! One mapping, from the call that makes it to the one that ends it.

use std::ffi::c_void;
use std::io;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::mm::{MapFlags, ProtFlags, mlock, mmap_anonymous, munmap};

use super::options::{HugePages, Locking, MappedOptions};
use super::{Cells, HUGE_PAGE_BYTES};
use crate::order::round_up;
use crate::{BackedRun, HostError, PAGE_BYTES, PageRun};

/// A mapping of a [`super::MappedPages`]; ends when it is dropped.
#[derive(Debug)]
pub struct MappedRun {
    start: usize,
    bytes: usize,
    kind: PageKind,
    is_locked: bool,
    cells: Arc<Cells>,
}

/// Which pages a run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PageKind {
    /// Pages of the normal size.
    Normal,
    /// Normal pages that the kernel may make huge.
    AdvisedHuge,
    /// Huge pages that had been reserved.
    ReservedHuge,
}

impl MappedRun {
    /// Returns which pages the run has. O(1).
    #[must_use]
    pub const fn page_kind(&self) -> PageKind {
        self.kind
    }

    /// Returns whether the pages are locked. O(1).
    #[must_use]
    pub const fn is_locked(&self) -> bool {
        self.is_locked
    }
}

pub(super) fn map(options: &MappedOptions, cells: &Arc<Cells>, bytes: u64) -> Result<MappedRun, HostError> {
    let is_huge = options.huge_pages != HugePages::Never && bytes >= HUGE_PAGE_BYTES;
    let unit = if is_huge { HUGE_PAGE_BYTES } else { page_bytes() };
    let length = round_up(bytes, unit).and_then(|length| usize::try_from(length).ok());
    let limit_bytes = isize::MAX as u64;
    let length = length.filter(|length| *length > 0 && *length as u64 <= limit_bytes);
    let length = length.ok_or(HostError::InvalidSize { requested_bytes: bytes, limit_bytes })?;
    if is_huge && options.huge_pages == HugePages::Reserved {
        match place(options, cells, Mapped::reserved_huge(length)) {
            Ok(run) => return Ok(run),
            Err(_) => cells.refused_huge_pages.fetch_add(1, Ordering::Relaxed),
        };
    }
    let mapped = if is_huge { Mapped::advised_huge(length) } else { Mapped::normal(length) };
    place(options, cells, mapped).map_err(|(call, source)| match source.kind() {
        io::ErrorKind::OutOfMemory if call == "mmap" => HostError::NoPages { requested_bytes: bytes },
        _ => HostError::System { call, bytes, source },
    })
}

/// Puts a mapping on its node, fills it and locks it, in this order: pages stay where they are first
/// touched.
fn place(
    options: &MappedOptions,
    cells: &Arc<Cells>,
    mapped: io::Result<Mapped>,
) -> Result<MappedRun, (&'static str, io::Error)> {
    let mapped = mapped.map_err(|error| ("mmap", error))?;
    if let Some(node) = options.node
        && let Err(error) = mapped.prefer(node)
    {
        tracing::debug!("no preference for node {node}: {error}");
        cells.refused_nodes.fetch_add(1, Ordering::Relaxed);
    }
    // Reserved pages of another node, or above the limit of a control group, show on the first touch: by
    // an error here, by a signal later.
    if options.is_filled || mapped.kind == PageKind::ReservedHuge {
        mapped.fill().map_err(|error| ("madvise", error))?;
    }
    let lock = if options.locking == Locking::Never { Ok(false) } else { mapped.lock().map(|()| true) };
    let is_locked = match lock {
        Err(error) if options.locking == Locking::Required => return Err(("mlock", error)),
        Err(error) => {
            tracing::debug!("memory is not locked: {error}");
            cells.refused_locks.fetch_add(1, Ordering::Relaxed);
            false
        }
        Ok(is_locked) => is_locked,
    };
    let Mapped { start, bytes, kind } = mapped;
    std::mem::forget(mapped);
    let run = MappedRun { start, bytes, kind, is_locked, cells: Arc::clone(cells) };
    cells.note(&run, true);
    Ok(run)
}

/// A mapping that is not a run yet; ends when it is dropped.
struct Mapped {
    start: usize,
    bytes: usize,
    kind: PageKind,
}

impl Mapped {
    fn normal(bytes: usize) -> io::Result<Self> {
        Ok(Self { start: anonymous(bytes, MapFlags::PRIVATE)?, bytes, kind: PageKind::Normal })
    }

    #[cfg(target_os = "linux")]
    fn reserved_huge(bytes: usize) -> io::Result<Self> {
        let flags = MapFlags::PRIVATE | MapFlags::HUGETLB | MapFlags::HUGE_2MB;
        Ok(Self { start: anonymous(bytes, flags)?, bytes, kind: PageKind::ReservedHuge })
    }

    #[cfg(not(target_os = "linux"))]
    fn reserved_huge(_: usize) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Maps a huge page more than needed and ends what is before and behind, so that each huge page can
    /// be one.
    fn advised_huge(bytes: usize) -> io::Result<Self> {
        let unit = usize::try_from(HUGE_PAGE_BYTES).unwrap_or(usize::MAX);
        let wide = bytes.checked_add(unit).ok_or(io::ErrorKind::OutOfMemory)?;
        let first = anonymous(wide, MapFlags::PRIVATE)?;
        let start = first.next_multiple_of(unit);
        unmap(first, start - first);
        unmap(start + bytes, wide - bytes - (start - first));
        let mut mapped = Self { start, bytes, kind: PageKind::Normal };
        if mapped.advise_huge().is_ok() {
            mapped.kind = PageKind::AdvisedHuge;
        }
        Ok(mapped)
    }

    #[cfg(target_os = "linux")]
    #[expect(unsafe_code, reason = "madvise takes an address")]
    fn advise_huge(&self) -> io::Result<()> {
        // SAFETY: the range is this mapping, and the advice changes no content.
        Ok(unsafe { rustix::mm::madvise(self.start(), self.bytes, rustix::mm::Advice::LinuxHugepage) }?)
    }

    #[cfg(not(target_os = "linux"))]
    fn advise_huge(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    #[cfg(target_os = "linux")]
    fn prefer(&self, node: u32) -> io::Result<()> {
        super::node::prefer(self.start(), self.bytes, node)
    }

    #[cfg(not(target_os = "linux"))]
    fn prefer(&self, _: u32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Fine on kernels before 5.14, which cannot: pages come on first touch there.
    #[cfg(target_os = "linux")]
    #[expect(unsafe_code, reason = "madvise takes an address")]
    fn fill(&self) -> io::Result<()> {
        let advice = rustix::mm::Advice::LinuxPopulateWrite;
        // SAFETY: the range is this mapping, which is writable; populating keeps its content.
        match unsafe { rustix::mm::madvise(self.start(), self.bytes, advice) } {
            Err(error) if error != rustix::io::Errno::INVAL => Err(error.into()),
            _ => Ok(()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn fill(&self) -> io::Result<()> {
        Ok(())
    }

    #[expect(unsafe_code, reason = "mlock takes an address")]
    fn lock(&self) -> io::Result<()> {
        // SAFETY: the range is this mapping; locking changes no content.
        Ok(unsafe { mlock(self.start(), self.bytes) }?)
    }

    const fn start(&self) -> *mut c_void {
        ptr::with_exposed_provenance_mut(self.start)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        unmap(self.start, self.bytes);
    }
}

#[expect(unsafe_code, reason = "mmap is declared unsafe for fixed addresses")]
fn anonymous(bytes: usize, flags: MapFlags) -> io::Result<usize> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: no address is asked for, so no mapping of anybody is replaced.
    let start = unsafe { mmap_anonymous(ptr::null_mut(), bytes, access, flags) }?;
    Ok(start.expose_provenance())
}

#[expect(unsafe_code, reason = "munmap takes an address")]
fn unmap(start: usize, bytes: usize) {
    if bytes == 0 {
        return;
    }
    // SAFETY: both callers own the range: a part of a fresh mapping that nobody knows, or a run at its
    // end, whose promise says that nobody uses it beyond.
    if let Err(error) = unsafe { munmap(ptr::with_exposed_provenance_mut(start), bytes) } {
        tracing::warn!("{bytes} bytes of host memory stay mapped: {error}");
    }
}

/// Pages of the system, which may be larger than those that a request is counted in.
fn page_bytes() -> u64 {
    (rustix::param::page_size() as u64).max(PAGE_BYTES)
}

impl PageRun for MappedRun {
    fn address(&self) -> u64 {
        self.start as u64
    }

    fn bytes(&self) -> u64 {
        self.bytes as u64
    }
}

// SAFETY: an anonymous mapping is readable, writable and full of zeros, belongs to this run alone, and
// ends in its drop; neither value changes before.
#[expect(unsafe_code, reason = "the mapping is what the trait promises")]
unsafe impl BackedRun for MappedRun {}

impl Drop for MappedRun {
    fn drop(&mut self) {
        self.cells.note(self, false);
        unmap(self.start, self.bytes);
    }
}

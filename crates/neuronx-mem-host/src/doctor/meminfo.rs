//! `/proc/meminfo`: how much is free, and how much could be.

use super::lines::whole_lines;
use crate::HostError;

pub(super) const FILE: &str = "/proc/meminfo";

/// The lines of `/proc/meminfo` that matter here, in bytes.
///
/// ```
/// use neuronx_mem_host::MemInfo;
///
/// let text = "MemTotal:  16000 kB\nMemFree:  4000 kB\nCached:  8000 kB\nShmem:  1000 kB\n";
/// let info = MemInfo::parse(text)?;
/// assert_eq!(info.free_bytes, 4_096_000);
/// assert_eq!(info.droppable_bytes(), 7_168_000); // the cache without shared memory
/// # Ok::<(), neuronx_mem_host::HostError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemInfo {
    /// All memory.
    pub total_bytes: u64,
    /// Memory that nobody uses.
    pub free_bytes: u64,
    /// What the kernel thinks could be had without swapping; 0 on kernels that do not say.
    pub available_bytes: u64,
    /// Cache of block devices.
    pub buffers_bytes: u64,
    /// Cache of files, shared memory included.
    pub cached_bytes: u64,
    /// Shared memory and tmpfs, which cannot be dropped.
    pub shared_bytes: u64,
    /// Caches of the kernel that can be dropped.
    pub reclaimable_bytes: u64,
    /// Bytes of one huge page; 0 where there are none.
    pub huge_page_bytes: u64,
    /// Reserved huge pages.
    pub huge_pages_total: u64,
    /// Of these, the ones that nobody uses.
    pub huge_pages_free: u64,
}

impl MemInfo {
    /// Reads the text of the file; lines that are not needed may say anything. O(bytes).
    ///
    /// # Errors
    ///
    /// [`HostError::Format`] when a needed line has no number, and behind the last line when `MemTotal` or
    /// `MemFree` is missing.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        let mut info = Self::default();
        let mut has = [false; 2];
        let mut n_lines = 0;
        for (number, line) in whole_lines(FILE, text)? {
            n_lines = number;
            let Some((name, rest)) = line.split_once(':') else { continue };
            let Some(field) = info.field(name) else { continue };
            let mut words = rest.split_whitespace();
            let value: Option<u64> = words.next().and_then(|word| word.parse().ok());
            let unit = match words.next() {
                Some("kB") => 1024,
                _ => 1,
            };
            let bytes = value.and_then(|value| value.checked_mul(unit));
            *field = bytes.ok_or_else(|| HostError::format(FILE, number, format!("{name} is no number")))?;
            has[0] |= name == "MemTotal";
            has[1] |= name == "MemFree";
        }
        if has != [true, true] {
            return Err(HostError::format(FILE, n_lines + 1, "MemTotal or MemFree is missing"));
        }
        Ok(info)
    }

    /// Returns what dropping caches could free at most. O(1).
    #[must_use]
    pub const fn droppable_bytes(&self) -> u64 {
        let caches = self.cached_bytes.saturating_add(self.buffers_bytes);
        caches.saturating_sub(self.shared_bytes).saturating_add(self.reclaimable_bytes)
    }

    fn field(&mut self, name: &str) -> Option<&mut u64> {
        Some(match name {
            "MemTotal" => &mut self.total_bytes,
            "MemFree" => &mut self.free_bytes,
            "MemAvailable" => &mut self.available_bytes,
            "Buffers" => &mut self.buffers_bytes,
            "Cached" => &mut self.cached_bytes,
            "Shmem" => &mut self.shared_bytes,
            "SReclaimable" => &mut self.reclaimable_bytes,
            "Hugepagesize" => &mut self.huge_page_bytes,
            "HugePages_Total" => &mut self.huge_pages_total,
            "HugePages_Free" => &mut self.huge_pages_free,
            _ => return None,
        })
    }
}

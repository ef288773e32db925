//! The kernel driver's host memory: a run from the kernel, else a chunk of its reserve.
//!
//! A model of what the driver does, for tests and predictions; it drives no hardware. It follows the
//! host-memory-pool report and the published behaviour of `neuron_mempool.c` 2.24: four classes built
//! from the largest down, each as far as the kernel has pages; requests rounded up to pages; the
//! smallest class that fits, then larger ones; and no chunk across two pages. It does not copy the
//! driver's counter of allocated bytes, which is only ever lowered for host memory.

mod class;
mod page;
mod parameters;
mod statistics;

use class::Class;
pub use parameters::DriverParameters;
pub use statistics::{DriverClassStatistics, DriverStatistics};

use crate::order::round_up;
use crate::{HostError, PAGE_BYTES, PageRun, PageSource};

/// Classes of the reserve.
pub const DRIVER_CLASSES: usize = 4;

/// The page of the smallest class; each further class has twice that of the one before.
pub const SMALLEST_DRIVER_PAGE_BYTES: u64 = 256 << 10;

/// The page of the largest class: no request above it is ever served from the reserve.
pub const LARGEST_DRIVER_PAGE_BYTES: u64 = SMALLEST_DRIVER_PAGE_BYTES << (DRIVER_CLASSES - 1);

/// One device's host memory as the driver manages it.
///
/// ```
/// use neuronx_mem_host::{DriverParameters, DriverPool, NumberedPages};
///
/// // A kernel that has what the reserve takes and nothing more, like a fragmented host.
/// let parameters = DriverParameters::default();
/// let kernel = NumberedPages::new(parameters.reserve_bytes());
/// let mut driver = DriverPool::load(kernel, parameters)?;
/// let chunk = driver.allocate(2 << 20)?;
/// assert_eq!(
///     chunk.log_line().as_deref(),
///     Some("Completed host allocation of 2097152B from the internal pool")
/// );
/// assert!(driver.allocate(2_441_472).is_err()); // no class is that large
/// driver.free(chunk);
/// # Ok::<(), neuronx_mem_host::HostError>(())
/// ```
#[derive(Debug)]
pub struct DriverPool<S: PageSource> {
    kernel: S,
    parameters: DriverParameters,
    /// Smallest first.
    classes: [Class<S::Run>; DRIVER_CLASSES],
    /// Host memory in use, rounded to pages; the reserve itself does not count.
    occupied_bytes: u64,
    n_from_kernel: u64,
    n_from_reserve: u64,
    n_failed: u64,
}

/// Host memory that the driver has handed out; goes back with [`DriverPool::free`].
#[derive(Debug)]
pub struct DriverChunk<R: PageRun> {
    bytes: u64,
    address: u64,
    origin: Origin<R>,
}

#[derive(Debug)]
enum Origin<R> {
    Kernel { _run: R },
    Reserve { class_idx: usize, page_idx: usize },
}

impl<S: PageSource> DriverPool<S> {
    /// Loads the driver: builds the reserve from the largest class down. A class that the kernel has too
    /// few pages for stays smaller, and the others go on. Cost: one call of the source a page.
    ///
    /// # Errors
    ///
    /// [`HostError::InvalidPolicy`] for parameters with which the driver would stop the kernel.
    pub fn load(kernel: S, parameters: DriverParameters) -> Result<Self, HostError> {
        parameters.check()?;
        let mut classes = std::array::from_fn(|idx| Class::new(SMALLEST_DRIVER_PAGE_BYTES << idx));
        for class in classes.iter_mut().rev() {
            class.build(&kernel, &parameters);
        }
        Ok(Self {
            kernel,
            parameters,
            classes,
            occupied_bytes: 0,
            n_from_kernel: 0,
            n_from_reserve: 0,
            n_failed: 0,
        })
    }

    /// Takes host memory: from the kernel, else from the reserve. Cost: one call of the source, then
    /// O(pages of the reserve).
    ///
    /// # Errors
    ///
    /// [`HostError::InvalidSize`] for 0 bytes and for more than 2^63 − 1,
    /// [`HostError::DriverOutOfMemory`] when neither has place.
    pub fn allocate(&mut self, bytes: u64) -> Result<DriverChunk<S::Run>, HostError> {
        let rounded = rounded(bytes)?;
        if let Ok(run) = self.kernel.allocate(rounded) {
            self.n_from_kernel += 1;
            self.occupied_bytes += rounded;
            let address = run.address();
            return Ok(DriverChunk { bytes: rounded, address, origin: Origin::Kernel { _run: run } });
        }
        let fitting = self.classes.iter_mut().enumerate().filter(|(_, class)| class.page_bytes() >= rounded);
        for (class_idx, class) in fitting {
            if let Some((page_idx, address)) = class.take(rounded) {
                self.n_from_reserve += 1;
                self.occupied_bytes += rounded;
                let origin = Origin::Reserve { class_idx, page_idx };
                return Ok(DriverChunk { bytes: rounded, address, origin });
            }
        }
        self.n_failed += 1;
        Err(HostError::DriverOutOfMemory {
            requested_bytes: bytes,
            rounded_bytes: rounded,
            largest_class_bytes: LARGEST_DRIVER_PAGE_BYTES,
            occupied_bytes: self.occupied_bytes,
        })
    }

    /// Takes host memory at an alignment, as far as the driver can: not at all.
    ///
    /// # Errors
    ///
    /// [`HostError::AlignedRequest`] for any alignment but 0, else those of [`DriverPool::allocate`].
    pub fn allocate_aligned(
        &mut self,
        bytes: u64,
        align_bytes: u64,
    ) -> Result<DriverChunk<S::Run>, HostError> {
        if align_bytes != 0 {
            return Err(HostError::AlignedRequest { align_bytes });
        }
        self.allocate(bytes)
    }

    /// Gives memory back to where it came from. O(1) for the reserve, a call of the source otherwise.
    ///
    /// A chunk goes back to the pool that made it; another pool ignores what it does not have.
    pub fn free(&mut self, chunk: DriverChunk<S::Run>) {
        self.occupied_bytes = self.occupied_bytes.saturating_sub(chunk.bytes);
        if let Origin::Reserve { class_idx, page_idx } = chunk.origin {
            self.classes[class_idx].give_back(page_idx, chunk.address, chunk.bytes);
        }
    }

    /// Returns the parameters the driver was loaded with. O(1).
    pub const fn parameters(&self) -> DriverParameters {
        self.parameters
    }

    /// Returns the figures of the reserve and of all requests so far. O(pages of the reserve).
    pub fn statistics(&self) -> DriverStatistics {
        DriverStatistics {
            classes: self.classes.each_ref().map(Class::statistics),
            occupied_bytes: self.occupied_bytes,
            n_from_kernel: self.n_from_kernel,
            n_from_reserve: self.n_from_reserve,
            n_failed: self.n_failed,
        }
    }
}

impl<R: PageRun> DriverChunk<R> {
    /// Returns the address of the first byte. O(1).
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// Returns the bytes, rounded up to pages. O(1).
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns whether the reserve had to step in. O(1).
    pub const fn is_from_reserve(&self) -> bool {
        matches!(self.origin, Origin::Reserve { .. })
    }

    /// Returns what the driver writes to the kernel's log: nothing while the kernel serves.
    pub fn log_line(&self) -> Option<String> {
        let line = || format!("Completed host allocation of {}B from the internal pool", self.bytes);
        self.is_from_reserve().then(line)
    }
}

impl HostError {
    /// Returns what the driver writes to the kernel's log when it has no host memory.
    pub fn driver_log_line(&self) -> Option<String> {
        match self {
            Self::DriverOutOfMemory { occupied_bytes, .. } => {
                Some(format!("host mem occupied {occupied_bytes}"))
            }
            Self::AlignedRequest { .. } => Some("Allocating aligned host memory not supported".to_owned()),
            _ => None,
        }
    }
}

/// The most that one request may have.
const LIMIT_BYTES: u64 = i64::MAX as u64;

fn rounded(bytes: u64) -> Result<u64, HostError> {
    let invalid = HostError::InvalidSize { requested_bytes: bytes, limit_bytes: LIMIT_BYTES };
    if bytes == 0 || bytes > LIMIT_BYTES {
        return Err(invalid);
    }
    round_up(bytes, PAGE_BYTES).ok_or(invalid)
}

#[cfg(test)]
mod tests;

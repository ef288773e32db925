//! Host memory for DMA: what the kernel driver does with it, a pool that survives fragmentation, a staging
//! allocator, and a doctor that says in time what will fail.
//!
//! ```
//! use neuronx_mem_host::{Diagnosis, HostPool, HostPoolPolicy, HostReading, Need, Verdict};
//! use neuronx_mem_host::{HostShape, PageCachePressure, SimulatedHost};
//!
//! let host = SimulatedHost::new(&HostShape::new().with_zone(0, "Normal", 512 << 20));
//! let pool = HostPool::new(HostPoolPolicy::default(), host.clone())?; // while memory is whole
//! host.fill_page_cache(&PageCachePressure::with_seed(1));
//!
//! let reading = HostReading::from_texts(&host.buddyinfo(), &host.meminfo())?;
//! assert_eq!(Diagnosis::of(&reading, &Need::new(3_292_176))?.verdict, Verdict::Fails);
//! let tensor = pool.allocate(3_292_176)?; // the pool has it all the same
//! pool.free(tensor)?;
//! # Ok::<(), neuronx_mem_host::HostError>(())
//! ```
//!
//! [`DriverPool`] is the driver's reserve, [`HostPool`] the better one, both over any [`PageSource`].
//! [`SimulatedHost`] is a source that page cache can fragment, [`MappedPages`] one of real memory, on which
//! [`StagingAllocator`] hands out buffers. [`Diagnosis`] predicts from the kernel's files what a request
//! will meet; [`read_log`] and [`Explanation`] read what was written when it failed.
//!
//! It knows pages, orders and the words of the runtime. It refuses to talk to a device, to register memory
//! with a driver, to run a command, and to read the environment.
//!
//! Follows the host-memory-pool report; the environment variables reference for
//! `TORCH_NEURONX_USE_PINNED_MALLOC`, as far as host memory can be pinned without the driver.

mod doctor;
mod driver;
mod error;
mod mapped;
mod order;
mod pool;
mod simulated;
mod source;
mod staging;
mod words;

pub use doctor::*;
pub use driver::*;
pub use error::HostError;
pub use mapped::*;
pub use order::{PAGE_BYTES, PageOrder};
pub use pool::*;
pub use simulated::*;
pub use source::*;
pub use staging::*;
pub use words::*;

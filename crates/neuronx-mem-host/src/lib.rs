//! Host memory for DMA.
mod driver;
mod error;
mod order;
mod pool;
mod simulated;
mod source;

pub use driver::*;
pub use error::HostError;
pub use order::{PAGE_BYTES, PageOrder};
pub use pool::*;
pub use simulated::*;
pub use source::*;

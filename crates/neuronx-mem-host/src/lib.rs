//! Host memory for DMA.
mod doctor;
mod driver;
mod error;
mod mapped;
mod order;
mod pool;
mod simulated;
mod source;
mod staging;

pub use doctor::*;
pub use driver::*;
pub use error::HostError;
pub use mapped::*;
pub use order::{PAGE_BYTES, PageOrder};
pub use pool::*;
pub use simulated::*;
pub use source::*;
pub use staging::*;

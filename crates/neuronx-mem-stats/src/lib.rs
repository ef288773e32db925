//! Memory statistics of the Neuron caching allocator and the summary table.
//!
//! ```
//! use neuronx_mem_stats::{device_stats, AllocationEvent, StatsPool};
//!
//! let (mut writer, reader) = device_stats(None);
//! writer.segment_allocated(StatsPool::Large, 64 << 20);
//! let event = AllocationEvent { pool: StatsPool::Large, block_bytes: 4 << 20, requested_bytes: 4 << 20, ..Default::default() };
//! writer.block_allocated(&event);
//! assert_eq!((reader.memory_allocated(), reader.memory_reserved()), (4 << 20, 64 << 20));
//! assert_eq!(reader.read().to_map()["allocation.all.current"], 1);
//! ```
//!
//! One writer a device, which the device's own lock protects; any number of readers, which take
//! no lock: single values are one load, several values are read as they were at one moment.
//! The crate counts what it is told. It never looks at a pool and keeps no history.
//!
//! [`TableFile`] appends rows of the metric tables `memory`, `segments`, `oom` and `streams` to CSV
//! files; `prometheus_text` (feature `prometheus`) and `serve_metrics` (feature `serve`) show the same
//! figures to Prometheus.
//!
//! Follows the memory profiling guide (steps 1 and 2) and allocator semantics §7.

#![forbid(unsafe_code)]

mod cells;
mod counter;
mod keys;
mod metrics;
#[cfg(all(test, loom))]
mod model;
mod primitive;
mod reader;
mod report;
mod sequence;
mod summary;
mod units;
mod writer;

pub use keys::{Family, Metric, Scope, StatsPool};
#[cfg(feature = "prometheus")]
pub use metrics::{DeviceMetrics, LastOom, prometheus_text};
pub use metrics::{MetricsError, OomRow, Sample, SegmentRow, StreamRow, TableFile, TablePlace, TableRow};
#[cfg(feature = "serve")]
pub use metrics::{MetricsServer, serve_metrics};
pub use reader::StatsReader;
pub use report::{Counters, MemoryStats, Values};
pub use units::{format_count, format_size};
pub use writer::{AllocationEvent, FreeEvent, StatsWriter, device_stats};

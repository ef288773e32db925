//! Metric tables: the figures of a device as rows of CSV files and as text for Prometheus.
//!
//! Knows four tables, `memory`, `segments`, `oom` and `streams`, and how a row becomes a line.
//! Refuses to decide when a row is due and to read a clock: rows and times are the caller's.

mod error;
#[cfg(feature = "prometheus")]
mod exposition;
mod file;
#[cfg(feature = "serve")]
mod request;
mod row;
#[cfg(feature = "serve")]
mod server;

pub use error::MetricsError;
#[cfg(feature = "prometheus")]
pub use exposition::{DeviceMetrics, LastOom, prometheus_text};
pub use file::{Sample, TableFile, TablePlace};
pub use row::{OomRow, SegmentRow, StreamRow, TableRow};
#[cfg(feature = "serve")]
pub use server::{MetricsServer, serve_metrics};

//! The tables as text for Prometheus, version 0.0.4 of the text format.
//!
//! Knows names, labels and help lines. Refuses to keep a registry: a text is made of the figures at
//! hand, and nothing is counted twice.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, NoLabelSet, prometheus_text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use super::error::MetricsError;
use super::row::{OomRow, SegmentRow, StreamRow};
use crate::{Counters, Family, MemoryStats, Scope, StatsPool, Values};

/// In front of every name.
const PREFIX: &str = "neuronx_mem";

/// A column that is no quantity; Prometheus would round it.
const HASH: &str = "config_hash";

/// The families, each under a name of its own: two pairs of them share their values.
const FAMILIES: [(Family, &str, &str); 7] = [
    (Family::AllocatedBytes, "allocated_bytes", "Block bytes of live blocks"),
    (Family::ReservedBytes, "reserved_bytes", "Bytes of the segments held"),
    (Family::ActiveBytes, "active_bytes", "Bytes that the owners of live blocks asked for"),
    (Family::InactiveSplitBytes, "inactive_split_bytes", "Free bytes in segments that are in use"),
    (Family::Allocation, "allocated_blocks", "Live blocks"),
    (Family::Segment, "segments", "Segments held"),
    (Family::InactiveSplit, "inactive_split_blocks", "Free blocks in segments that are in use"),
];

type ValuesRow = (&'static str, &'static str, MetricType, fn(&Values) -> u64);
/// The four values of a family: what stands behind its name and its help line.
const VALUES: [ValuesRow; 4] = [
    ("", "", MetricType::Gauge, |values| values.current),
    ("_peak", ", most at once", MetricType::Gauge, |values| values.peak),
    ("_added", ", all increases", MetricType::Counter, |values| values.allocated),
    ("_freed", ", all decreases", MetricType::Counter, |values| values.freed),
];

type OversizeRow = (&'static str, &'static str, fn(&MemoryStats) -> Values);
const OVERSIZE: [OversizeRow; 2] = [
    ("oversize_blocks", "Live blocks above kMaxSplitSizeBytes", MemoryStats::oversize_allocations),
    ("oversize_segments", "Segments above kMaxSplitSizeBytes", MemoryStats::oversize_segments),
];

type CounterRow = (&'static str, &'static str, fn(&Counters) -> u64);
const COUNTERS: [CounterRow; 7] = [
    ("allocation_requests", "Allocations asked for", |counters| counters.allocation_requests),
    ("tensor_frees", "Deallocations that have run", |counters| counters.tensor_frees),
    ("alloc_retries", "Retries during recovery", |counters| counters.alloc_retries),
    ("ooms", "Out-of-memory errors returned", |counters| counters.ooms),
    ("device_synchronizations", "Waits for all streams of the device", |counters| {
        counters.device_synchronizations
    }),
    ("device_allocations", "Segments taken from the runtime", |counters| counters.device_allocations),
    ("device_frees", "Segments given back to the runtime", |counters| counters.device_frees),
];

type SegmentsRow = (&'static str, &'static str, fn(&[SegmentRow]) -> u64);
const SEGMENTS: [SegmentsRow; 4] = [
    ("cached_free_bytes", "Bytes of free blocks", |rows| rows.iter().map(|row| row.cached_free_bytes).sum()),
    ("largest_free_bytes", "Bytes of the largest free block", |rows| {
        rows.iter().map(|row| row.largest_free_bytes).max().unwrap_or(0)
    }),
    ("pending_bytes", "Block bytes whose deallocation is queued", |rows| {
        rows.iter().map(|row| row.pending_bytes).sum()
    }),
    ("releasable_segments", "Segments without a block", |rows| {
        rows.iter().map(|row| u64::from(row.n_blocks == 0)).sum()
    }),
];

type StreamsRow = (&'static str, &'static str, MetricType, fn(&StreamRow) -> u64);
const STREAMS: [StreamsRow; 4] = [
    ("stream_pending_blocks", "Blocks whose deallocation waits for the stream", MetricType::Gauge, |row| {
        row.pending_blocks
    }),
    ("stream_pending_bytes", "Block bytes of them", MetricType::Gauge, |row| row.pending_bytes),
    ("stream_submitted", "Pieces of work submitted", MetricType::Counter, |row| row.submitted),
    ("stream_completed", "Pieces of work completed", MetricType::Counter, |row| row.completed),
];

/// The figures of one device.
#[derive(Clone, Debug)]
pub struct DeviceMetrics {
    /// The device ordinal, the label `device`.
    pub device: u32,
    /// The statistics.
    pub memory: MemoryStats,
    /// The segments held, shown as sums by pool; none leaves their metrics out.
    pub segments: Option<Vec<SegmentRow>>,
    /// The last request that could not be served, if there was one.
    pub last_oom: Option<LastOom>,
    /// The streams, each of them a series.
    pub streams: Vec<StreamRow>,
}

/// The last request that could not be served, and when that was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastOom {
    /// Microseconds since the Unix epoch.
    pub timestamp_us: u64,
    /// The figures of the error.
    pub row: OomRow,
}

/// Returns the metrics of some devices as Prometheus reads them.
///
/// | name, after `neuronx_mem_` | labels | what it is |
/// |---|---|---|
/// | `allocated_bytes`, `reserved_bytes`, `active_bytes`, `inactive_split_bytes`, `allocated_blocks`, `segments`, `inactive_split_blocks` | `device`, `pool` | current value of a family |
/// | the same with `_peak` | `device`, `pool` | most at once since the last reset of peaks |
/// | the same with `_added_total`, `_freed_total` | `device`, `pool` | sum of all increases, of all decreases |
/// | `oversize_blocks`, `oversize_segments`, and with the endings above | `device` | above `kMaxSplitSizeBytes` |
/// | `allocation_requests_total`, `tensor_frees_total`, `alloc_retries_total`, `ooms_total`, `device_synchronizations_total`, `device_allocations_total`, `device_frees_total` | `device` | [`Counters`] |
/// | `cached_free_bytes`, `largest_free_bytes`, `pending_bytes`, `releasable_segments` | `device`, `pool` | sums and maximum over the rows of `segments` |
/// | `last_oom_timestamp_us` and `last_oom_<column>` | `device` | the last row of `oom`, without `config_hash` |
/// | `stream_pending_blocks`, `stream_pending_bytes`, `stream_submitted_total`, `stream_completed_total` | `device`, `stream` | the rows of `streams` |
///
/// `pool` is `all`, `small_pool` or `large_pool`. A single segment is no series: its address would
/// make a new one at every growth. A reset of accumulated values is to Prometheus a restart.
///
/// # Errors
///
/// [`MetricsError::Text`] when the encoder refuses, which it has no reason to.
///
/// ```
/// use neuronx_mem_stats::{DeviceMetrics, device_stats, prometheus_text};
///
/// let (_, reader) = device_stats(None);
/// let memory = reader.read();
/// let device = DeviceMetrics { device: 0, memory, segments: None, last_oom: None, streams: Vec::new() };
/// let text = prometheus_text(vec![device])?;
/// assert!(text.contains("neuronx_mem_allocated_bytes{device=\"0\",pool=\"all\"} 0\n"));
/// # Ok::<(), neuronx_mem_stats::MetricsError>(())
/// ```
pub fn prometheus_text(devices: Vec<DeviceMetrics>) -> Result<String, MetricsError> {
    let mut registry = Registry::with_prefix(PREFIX);
    registry.register_collector(Box::new(Devices(devices)));
    let mut text = String::new();
    prometheus_text::encode(&mut text, &registry)?;
    Ok(text)
}

#[derive(Debug)]
struct Devices(Vec<DeviceMetrics>);

/// One number and the labels that tell it from its neighbours.
struct Point<L> {
    labels: L,
    value: u64,
}

impl Collector for Devices {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.families(&mut encoder)?;
        self.oversize(&mut encoder)?;
        self.counters(&mut encoder)?;
        self.segments(&mut encoder)?;
        self.last_oom(&mut encoder)?;
        self.streams(&mut encoder)
    }
}

impl Devices {
    fn families(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        for (family, name, help) in FAMILIES {
            for (ending, more, kind, value_of) in VALUES {
                let points = self.0.iter().flat_map(|device| {
                    Scope::ALL.map(|scope| Point {
                        labels: in_pool(device, scope),
                        value: value_of(&device.memory.values(family, scope)),
                    })
                });
                write(encoder, &format!("{name}{ending}"), &format!("{help}{more}"), kind, points)?;
            }
        }
        Ok(())
    }

    fn oversize(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        for (name, help, values_of) in OVERSIZE {
            for (ending, more, kind, value_of) in VALUES {
                let points = self.each(|device| value_of(&values_of(&device.memory)));
                write(encoder, &format!("{name}{ending}"), &format!("{help}{more}"), kind, points)?;
            }
        }
        Ok(())
    }

    fn counters(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        COUNTERS.iter().try_for_each(|(name, help, value_of)| {
            let points = self.each(|device| value_of(&device.memory.counters()));
            write(encoder, name, help, MetricType::Counter, points)
        })
    }

    fn segments(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        SEGMENTS.iter().try_for_each(|(name, help, value_of)| {
            let known = self.0.iter().filter_map(|device| Some((device, device.segments.as_ref()?)));
            let points = known.flat_map(|(device, segments)| {
                Scope::ALL.map(|scope| Point {
                    labels: in_pool(device, scope),
                    value: value_of(&of_scope(segments, scope)),
                })
            });
            write(encoder, name, help, MetricType::Gauge, points)
        })
    }

    fn last_oom(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let failed = || self.0.iter().filter_map(|device| Some((device, device.last_oom?)));
        let times = failed().map(|(device, oom)| Point { labels: on(device), value: oom.timestamp_us });
        let help = "When a request could not be served the last time, microseconds since the epoch";
        write(encoder, "last_oom_timestamp_us", help, MetricType::Gauge, times)?;
        for (idx, (column, _)) in OomRow::default().figures().iter().enumerate() {
            if *column == HASH {
                continue;
            }
            let values = failed().map(|(device, oom)| (device, oom.row.figures()[idx].1));
            let points = values.map(|(device, value)| Point { labels: on(device), value });
            let help = format!("Column {column} of the last row of the table oom");
            write(encoder, &format!("last_oom_{column}"), &help, MetricType::Gauge, points)?;
        }
        Ok(())
    }

    fn streams(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        STREAMS.iter().try_for_each(|(name, help, kind, value_of)| {
            let points = self.0.iter().flat_map(|device| {
                device.streams.iter().map(|row| Point {
                    labels: [("device", device.device.to_string()), ("stream", row.stream.to_string())],
                    value: value_of(row),
                })
            });
            write(encoder, name, help, *kind, points)
        })
    }

    /// A point for each device.
    fn each(
        &self,
        value_of: impl Fn(&DeviceMetrics) -> u64,
    ) -> impl Iterator<Item = Point<[(&'static str, String); 1]>> {
        self.0.iter().map(move |device| Point { labels: on(device), value: value_of(device) })
    }
}

/// Writes a metric with all its points, and nothing when there are none.
fn write<L: EncodeLabelSet>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    kind: MetricType,
    points: impl Iterator<Item = Point<L>>,
) -> fmt::Result {
    let mut points = points.peekable();
    if points.peek().is_none() {
        return Ok(());
    }
    let mut metric = encoder.encode_descriptor(name, help, None, kind)?;
    points.try_for_each(|point| {
        let mut family = metric.encode_family(&point.labels)?;
        match kind {
            MetricType::Counter => family.encode_counter::<NoLabelSet, u64, u64>(&point.value, None),
            _ => family.encode_gauge(&point.value),
        }
    })
}

fn on(device: &DeviceMetrics) -> [(&'static str, String); 1] {
    [("device", device.device.to_string())]
}

fn in_pool(device: &DeviceMetrics, scope: Scope) -> [(&'static str, String); 2] {
    [("device", device.device.to_string()), ("pool", scope.name().to_owned())]
}

fn of_scope(segments: &[SegmentRow], scope: Scope) -> Vec<SegmentRow> {
    let is_in = |pool: StatsPool| scope == Scope::All || scope == pool.into();
    segments.iter().filter(|row| is_in(row.pool)).copied().collect()
}

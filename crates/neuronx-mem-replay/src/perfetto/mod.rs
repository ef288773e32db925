//! A memory history as a timeline for ui.perfetto.dev: the JSON form of trace events.

mod device;
mod event;

use std::io::Write;

use neuronx_mem_snapshot::Snapshot;

use crate::{HistoryEvents, ReplayError};
use device::Timeline;
use event::Events;

/// Writes the history of a snapshot as trace-event JSON, which opens in ui.perfetto.dev.
///
/// A device is a process (`Device 0`), times are the microseconds of the history. Each has
///
/// - counters `allocated bytes` (bytes asked for by blocks whose deallocation has not completed) and
///   `reserved bytes` (segments),
/// - a slice for each block from allocation to completed free, with address, bytes, stream and
///   innermost frame; one that is still alive has no end,
/// - instants for `oom`, `snapshot` and `annotate`, and the program's own ranges as slices.
///
/// `device_idx` selects one device; `None` writes all. O(entries · log blocks), streaming.
///
/// ```
/// use neuronx_mem_replay::write_perfetto;
/// use neuronx_mem_snapshot::{Action, Snapshot, TraceEntry};
///
/// let mut snapshot = Snapshot::new();
/// snapshot.push_entry(0, TraceEntry::new(Action::Alloc).with_addr(0x1000).with_size_bytes(512));
/// let mut json = Vec::new();
/// write_perfetto(&snapshot, None, &mut json)?;
/// assert!(json.starts_with(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":["));
/// # Ok::<(), neuronx_mem_replay::ReplayError>(())
/// ```
///
/// # Errors
///
/// [`ReplayError::Write`].
pub fn write_perfetto(
    snapshot: &Snapshot,
    device_idx: Option<usize>,
    mut out: impl Write,
) -> Result<(), ReplayError> {
    let devices = match device_idx {
        Some(device_idx) => vec![device_idx],
        None => HistoryEvents::devices(snapshot),
    };
    out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let mut events = Events::new(&mut out);
    for device_idx in devices {
        Timeline::new(snapshot, device_idx, &mut events).write()?;
    }
    out.write_all(b"\n]}\n")?;
    Ok(out.flush()?)
}

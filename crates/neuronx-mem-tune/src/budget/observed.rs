//! What a process really reserved, from the history in its snapshot: beside the figures of a replay,
//! which know nothing of what the pool held before.

use neuronx_mem::snapshot::{Action, Snapshot};

/// The most segment bytes that a device held during its recorded history, reckoned back from the
/// segments at the end. `None` without a history.
#[must_use]
pub fn observed_reserved_peak(snapshot: &Snapshot, device_idx: usize) -> Option<u64> {
    let trace = snapshot.trace(device_idx);
    if trace.is_empty() {
        return None;
    }
    let is_here =
        |device: Option<i64>| device.and_then(|device| usize::try_from(device).ok()) == Some(device_idx);
    let segments = snapshot.segments.iter().filter(|segment| is_here(segment.device()));
    let mut reserved: u64 = segments.filter_map(|segment| segment.total_bytes()).sum();
    let mut peak = reserved;
    for entry in trace.iter().rev() {
        let bytes = entry.size_bytes().unwrap_or(0);
        match entry.action() {
            Action::SegmentAlloc => reserved = reserved.saturating_sub(bytes),
            Action::SegmentFree => reserved = reserved.saturating_add(bytes),
            _ => {}
        }
        peak = peak.max(reserved);
    }
    Some(peak)
}

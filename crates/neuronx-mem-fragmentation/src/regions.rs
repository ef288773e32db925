//! The device's addresses outside all segments. Works on (start, length) pairs sorted by start,
//! and forgives overlaps.

use crate::DeviceLayout;

/// What lies outside the segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outside {
    /// Lengths of the gaps.
    pub(crate) gaps: Vec<u64>,
    /// The address range is unknown, so everything outside the span counts as one gap.
    pub(crate) is_assumed: bool,
    /// End of the last segment minus start of the first.
    pub(crate) span_bytes: u64,
}

impl Outside {
    /// Looks at a device as if it held just `segments`, (address, bytes) in order of address.
    pub(crate) fn of(layout: &DeviceLayout, segments: &[(u64, u64)]) -> Self {
        let reserved = segments.iter().fold(0u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        let end = |(address, bytes): &(u64, u64)| address.saturating_add(*bytes);
        let first = segments.first().map(|(address, _)| *address);
        let last = segments.iter().map(end).max();
        let span_bytes = last.unwrap_or(0).saturating_sub(first.unwrap_or(0));
        let mut gaps = Vec::new();
        let mut covered = match (&layout.address_range, first) {
            (Some(range), _) => range.start,
            (None, Some(first)) => first,
            (None, None) => 0,
        };
        for segment in segments {
            gaps.push(segment.0.saturating_sub(covered));
            covered = covered.max(end(segment));
        }
        match &layout.address_range {
            Some(range) => gaps.push(range.end.saturating_sub(covered)),
            None => gaps.push(layout.total_bytes.saturating_sub(span_bytes)),
        }
        // A cap below the device leaves less than the addresses suggest.
        let left = layout.total_bytes.saturating_sub(reserved);
        gaps.iter_mut().for_each(|gap| *gap = (*gap).min(left));
        gaps.retain(|gap| *gap > 0);
        Self { gaps, is_assumed: layout.address_range.is_none(), span_bytes }
    }

    pub(crate) fn largest_bytes(&self) -> u64 {
        self.gaps.iter().copied().max().unwrap_or(0)
    }
}

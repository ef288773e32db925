//! What a page holds: a description in JSON and columns of numbers. Decides nothing about looks.

use std::io::Write as _;

use serde::Serialize;

use super::PageOptions;
use super::choose::Chosen;
use super::pack::{Columns, Place};
use super::sites::SiteTable;
use super::text::Shown;
use super::tiles::{Tiles, number, peaks};
use crate::{MarkKind, Origin, Recording, ViewError};

/// The description.
#[derive(Debug, Serialize)]
struct Description<'a> {
    schema: u32,
    version: &'static str,
    name: String,
    origin: OriginText,
    device_total: Option<u64>,
    totals: TotalsText,
    /// Events after the moment before the first.
    n_events: u64,
    tile_events: usize,
    /// Unix time of the first event, microseconds.
    start_us: Option<u64>,
    streams: &'a [u64],
    n_allocations: usize,
    n_embedded: usize,
    largest_left_out: u64,
    /// `None` when every moment is whole.
    whole_moments: Option<&'a [u64]>,
    n_segments: usize,
    n_skipped: u64,
    n_dropped: u64,
    n_cut_texts: u64,
    n_marks: usize,
    marks: Vec<(u64, u8, String)>,
    ooms: Vec<(u64, u64, Option<u64>, String)>,
    sites: SiteTable,
    /// Site, bytes and number of blocks at the peak.
    peak_sites: Vec<(usize, u64, u64)>,
    columns: &'a std::collections::BTreeMap<&'static str, Place>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum OriginText {
    Replay { config_hash: String, n_retries: u64, segments_allocated: u64, segments_released: u64 },
    Own { device: usize, n_inferred: u64 },
    Pytorch { device: usize, n_inferred: u64 },
}

#[derive(Debug, Serialize)]
struct TotalsText {
    events: u64,
    reserved_peak: u64,
    allocated_peak: u64,
    active_peak: u64,
    reserved: u64,
    allocated: u64,
    active: u64,
    peak_event: u64,
    num_ooms: u64,
}

/// The content in one piece: length of the description, the description, the columns.
pub(super) fn content(recording: &Recording, options: &PageOptions) -> Result<Vec<u8>, ViewError> {
    let chosen = Chosen::of(recording, options.max_allocations);
    let tiles = Tiles::of(&recording.timeline, options.max_points);
    let columns = columns(recording, &chosen, &tiles);
    let description = describe(recording, options, &chosen, &tiles, &columns);
    let mut json = serde_json::to_vec(&description).map_err(std::io::Error::from)?;
    json.resize(json.len().next_multiple_of(8), b' ');
    let mut content = Vec::with_capacity(8 + json.len() + columns.bytes.len());
    content.write_all(&(json.len() as u64).to_le_bytes())?;
    content.write_all(&json)?;
    content.write_all(&columns.bytes)?;
    Ok(content)
}

fn columns(recording: &Recording, chosen: &Chosen, tiles: &Tiles) -> Columns {
    let mut columns = Columns::default();
    for (name, sums) in &tiles.columns {
        columns.f64(name, sums.iter().copied());
    }
    columns.f64("times", tiles.times.iter().copied());
    columns.f64("rest", peaks(&chosen.rest_bytes, tiles.tile_events));
    let allocations = &recording.allocations;
    let idxs = || chosen.idxs.iter().map(|idx| *idx as usize);
    columns.u32("numbers", if chosen.is_all { &[] } else { chosen.idxs.as_slice() }.iter().copied());
    columns.f64("bytes", idxs().map(|idx| number(allocations.bytes[idx])));
    columns.f64("block_bytes", idxs().map(|idx| number(allocations.block_bytes[idx])));
    columns.u64("addresses", idxs().map(|idx| allocations.addresses[idx]));
    columns.u32("births", idxs().map(|idx| event(allocations.births[idx])));
    columns.u32("deaths", idxs().map(|idx| event(allocations.deaths[idx])));
    columns.u16("stream_idxs", idxs().map(|idx| allocations.stream_idxs[idx]));
    let site = |idx: usize| u32::try_from(allocations.sites[idx].index()).unwrap_or(u32::MAX);
    columns.u32("site_idxs", idxs().map(site));
    let has_trace_ids = !allocations.trace_ids.is_empty();
    let trace_id = |idx: usize| allocations.trace_ids.get(idx).copied().unwrap_or(0);
    columns.u64("trace_ids", idxs().filter(|_| has_trace_ids).map(trace_id));
    let segments = &recording.segments;
    columns.u64("segment_addresses", segments.iter().map(|segment| segment.address));
    columns.f64("segment_bytes", segments.iter().map(|segment| number(segment.bytes)));
    columns.u32("segment_births", segments.iter().map(|segment| event(segment.birth)));
    columns.u32("segment_deaths", segments.iter().map(|segment| event(segment.death)));
    columns.u32("segment_streams", segments.iter().map(|segment| event(segment.stream.unwrap_or(u64::MAX))));
    columns.u16(
        "segment_flags",
        segments.iter().map(|it| {
            let size = it.is_small.map_or(0, |is_small| if is_small { 1 } else { 2 });
            size | if it.is_private { 4 } else { 0 }
        }),
    );
    columns
}

/// An event in four bytes; the largest number is for what has not ended.
fn event(event: u64) -> u32 {
    u32::try_from(event).unwrap_or(u32::MAX)
}

fn describe<'a>(
    recording: &'a Recording,
    options: &PageOptions,
    chosen: &'a Chosen,
    tiles: &Tiles,
    columns: &'a Columns,
) -> Description<'a> {
    let mut shown = Shown::default();
    let marks = recording.marks.iter().take(options.max_marks);
    let marks = marks.map(|mark| (mark.event, code(mark.kind), shown.text(&mark.label))).collect();
    let ooms = recording.ooms.iter().take(options.max_marks);
    let ooms =
        ooms.map(|oom| (oom.event, oom.bytes, oom.device_free_bytes, shown.text(&oom.message))).collect();
    let sites = SiteTable::of(&recording.sites, &mut shown);
    let peak_sites = recording.top_sites_at(recording.totals.peak_event);
    let peak_sites =
        peak_sites.iter().map(|row| (row.site.index(), row.block_bytes, row.n_allocations)).collect();
    let totals = &recording.totals;
    Description {
        schema: 1,
        version: env!("CARGO_PKG_VERSION"),
        name: shown.text(&recording.name),
        origin: origin(&recording.origin),
        device_total: recording.device_total_bytes,
        totals: TotalsText {
            events: totals.n_events,
            reserved_peak: totals.reserved_peak_bytes,
            allocated_peak: totals.allocated_peak_bytes,
            active_peak: totals.active_peak_bytes,
            reserved: totals.reserved_bytes,
            allocated: totals.allocated_bytes,
            active: totals.active_bytes,
            peak_event: totals.peak_event,
            num_ooms: totals.n_ooms,
        },
        n_events: recording.n_events(),
        tile_events: tiles.tile_events,
        start_us: recording.timeline.times_us.first().copied(),
        streams: &recording.allocations.streams,
        n_allocations: recording.allocations.len(),
        n_embedded: chosen.idxs.len(),
        largest_left_out: chosen.largest_left_out,
        whole_moments: (!chosen.is_all).then_some(&chosen.moments),
        n_segments: recording.segments.len(),
        n_skipped: recording.n_skipped,
        n_dropped: recording.n_dropped,
        n_marks: recording.marks.len(),
        marks,
        ooms,
        sites,
        peak_sites,
        n_cut_texts: shown.n_cut,
        columns: &columns.places,
    }
}

fn origin(origin: &Origin) -> OriginText {
    match origin {
        Origin::Replay(report) => OriginText::Replay {
            config_hash: format!("{:016x}", report.config_hash),
            n_retries: report.num_alloc_retries,
            segments_allocated: report.segments_allocated,
            segments_released: report.segments_released,
        },
        Origin::Snapshot { is_own, device_idx, n_inferred } => {
            let (device, n_inferred) = (*device_idx, *n_inferred);
            if *is_own {
                OriginText::Own { device, n_inferred }
            } else {
                OriginText::Pytorch { device, n_inferred }
            }
        }
    }
}

const fn code(kind: MarkKind) -> u8 {
    kind as u8
}

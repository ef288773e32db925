//! The report of `explain` for people.

use comfy_table::{CellAlignment, Table, presets};
use neuronx_mem::fragmentation::BlockUse;
use neuronx_mem::stats::format_count;
use neuronx_mem_explain::{
    Explanation, Heap, HeapBlock, HeapSegment, Input, Least, Release, Request, ServedBy,
};

use super::ExplainArguments;
use crate::{config, site, units};

const BLOCK_COLUMNS: [&str; 6] = ["Address", "Size", "Age", "Stream", "State", "Allocated by"];

/// Blocks shown of one segment.
const MAX_BLOCKS: usize = 5;

pub(super) fn text(
    input: &Input,
    explanation: &Explanation,
    arguments: &ExplainArguments,
    is_tried: bool,
) -> String {
    let heap = &explanation.heap;
    let mut text = format!("{}: {}\n\n{}", input.name(), moment(input, explanation), figures(heap));
    if let Some(request) = &explanation.request {
        text += &needed(request, heap, arguments, is_tried);
    }
    text + &pinned(heap, arguments)
}

fn moment(input: &Input, explanation: &Explanation) -> String {
    let (event, n_events) = (format_count(explanation.event), format_count(explanation.n_events));
    if let Some(oom) = &explanation.out_of_memory {
        return format!(
            "out of memory at event {} of {n_events}, line {}",
            format_count(oom.event),
            format_count(oom.line)
        );
    }
    if input.is_snapshot() {
        return format!("as the snapshot shows it, after {n_events} recorded events");
    }
    let peak = if explanation.is_peak { "at the peak of allocated memory, " } else { "" };
    format!("{peak}after event {event} of {n_events}")
}

fn figures(heap: &Heap) -> String {
    let live = heap.bytes_in(BlockUse::Live);
    let pending = heap.bytes_in(BlockUse::PendingFree);
    let rows = [
        ("Device", heap.total_bytes.map_or_else(|| "unknown, say --memory".to_owned(), units::bytes)),
        (
            "Reserved",
            format!("{} in {}", units::bytes(heap.reserved_bytes()), count(heap.segments.len(), "segment")),
        ),
        ("Live", units::bytes(live)),
        ("Free pending", units::bytes(pending)),
        ("Cached free", units::bytes(heap.bytes_in(BlockUse::Free))),
        (
            "  releasable",
            format!("{}: what empty_cache would give back", units::bytes(heap.releasable_bytes())),
        ),
    ];
    rows.iter().map(|(name, value)| format!("{:<14} {value}\n", format!("{name}:"))).collect()
}

fn needed(request: &Request, heap: &Heap, arguments: &ExplainArguments, is_tried: bool) -> String {
    let Request { need, remedies, release, configs, .. } = request;
    let mut text = format!(
        "\nA request of {} on stream {} needs a block of {} bytes in the {} pool, or a new segment of {} bytes.\n",
        units::bytes(need.requested_bytes),
        need.stream,
        format_count(need.block_bytes),
        need.pool.name(),
        format_count(need.segment_bytes),
    );
    let mut rows: Vec<(String, bool, String)> = Vec::new();
    let mut row = |name: String, serves: bool, why: String| rows.push((name, serves, why));
    let largest = format!(", largest free block {}", units::short(remedies.largest_free_bytes));
    row("served now?".to_owned(), remedies.now, largest);
    for waiting in &remedies.streams {
        let pending = format!(", {} pending", units::short(waiting.pending_bytes));
        row(format!("after waiting for stream {}?", waiting.stream), waiting.serves, pending);
    }
    if remedies.streams.len() > 1 {
        row("after waiting for all streams?".to_owned(), remedies.after_waiting, String::new());
    }
    row("after empty_cache?".to_owned(), remedies.after_empty_cache, String::new());
    let gained = format!(", gives back {}", units::short(remedies.empty_cache_bytes));
    row("after all waits and empty_cache?".to_owned(), remedies.after_both, gained);
    for trial in configs {
        let reserved = format!(", {} reserved before it", units::short(trial.reserved_bytes));
        row(format!("with {}?", config::name(&trial.config)), trial.serves, reserved);
    }
    let width = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    for (name, serves, why) in rows {
        text += &format!("  {name:<width$}  {}{why}\n", if serves { "yes" } else { "no" });
    }
    if !remedies.after_both && !is_tried {
        text += "Other configurations are not tried on a trace of this length; see the verb compare.\n";
    }
    if heap.device_free_bytes.is_none() {
        text += "Device memory outside the segments is unknown and counts as none; say --memory.\n";
    }
    text + &released(release.as_ref(), heap, arguments)
}

fn released(release: Option<&Release>, heap: &Heap, arguments: &ExplainArguments) -> String {
    let Some(release) = release else {
        return "\nNo release would serve it: the memory at hand is smaller than the request.\n".to_owned();
    };
    if release.blocks.is_empty() {
        return String::new();
    }
    let least = arguments.least();
    let proof = if release.is_smallest(least) {
        "proved smallest".to_owned()
    } else {
        let unit = if least == Least::Blocks { "blocks" } else { "bytes" };
        format!("no set is below {} {unit}", format_count(release.bound))
    };
    let serves_by = match release.serves_by {
        ServedBy::CachedBlock { address, bytes } => {
            format!("makes a free block of {} at {address:#x}", units::short(bytes))
        }
        ServedBy::NewSegment { n_segments } => {
            format!("lets empty_cache give back {} for a new one", count(n_segments, "segment"))
        }
        _ => String::new(),
    };
    let waits = if release.waits { "; queued deallocations in between must have run" } else { "" };
    let shown: Vec<&HeapBlock> = release.blocks.iter().take(arguments.top).collect();
    format!(
        "\nSmallest release: {}, {} ({proof}); {serves_by}{waits}.\n\n{}{}",
        count(release.blocks.len(), "block"),
        units::bytes(release.bytes),
        blocks(heap, &shown, arguments.frames),
        more(release.blocks.len(), arguments.top, "block"),
    )
}

fn pinned(heap: &Heap, arguments: &ExplainArguments) -> String {
    let segments = heap.most_pinned();
    if segments.is_empty() {
        return "\nNo segment has free memory behind live blocks.\n".to_owned();
    }
    let free = segments.iter().fold(0, |sum: u64, segment| sum.saturating_add(segment.free_bytes()));
    let mut text = format!(
        "\n{} with free memory behind live blocks: {} free there.\n",
        count(segments.len(), "segment"),
        units::bytes(free)
    );
    for segment in segments.iter().take(arguments.top) {
        text += &pinned_segment(heap, segment, arguments);
    }
    text + &more(segments.len(), arguments.top, "segment")
}

fn pinned_segment(heap: &Heap, segment: &HeapSegment, arguments: &ExplainArguments) -> String {
    let mut pinning: Vec<&HeapBlock> = segment.pinning().collect();
    let stream = segment.stream.map_or_else(String::new, |stream| format!(", stream {stream}"));
    let private = if segment.is_private { ", private" } else { "" };
    let head = format!(
        "\nSegment {:#x}, {} pool{stream}{private}: {} of {} free, pinned by {} with {}\n\n",
        segment.address,
        segment.pool.name(),
        units::short(segment.free_bytes()),
        units::short(segment.bytes),
        count(pinning.len(), "block"),
        units::short(segment.live_bytes()),
    );
    // The oldest first: what has stayed longest is the least likely to go by itself.
    pinning.sort_by_key(|block| (block.birth.map_or(0, |birth| birth.event), block.address));
    let shown = &pinning[..pinning.len().min(MAX_BLOCKS.min(arguments.top))];
    head + &blocks(heap, shown, arguments.frames) + &more(pinning.len(), shown.len(), "block")
}

fn blocks(heap: &Heap, blocks: &[&HeapBlock], n_frames: usize) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(BLOCK_COLUMNS);
    for block in blocks {
        let frames = heap.frames(block);
        let by =
            if frames.is_empty() { site::phase(heap.phase(block)) } else { site::stack(&frames, n_frames) };
        table.add_row([
            format!("{:#x}", block.address),
            units::short(block.bytes),
            age(block),
            block.stream.to_string(),
            if block.state == BlockUse::PendingFree { "free pending" } else { "live" }.to_owned(),
            by,
        ]);
    }
    for idx in 1..4 {
        if let Some(column) = table.column_mut(idx) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("{table}\n")
}

fn age(block: &HeapBlock) -> String {
    let Some(birth) = block.birth else { return "older than the history".to_owned() };
    let events = format!("{} events", format_count(birth.age_events));
    match birth.age_us {
        Some(age_us) if age_us >= 1000 => format!("{events}, {} ms", format_count(age_us / 1000)),
        _ => events,
    }
}

/// `1 block`, `2 blocks`.
pub(crate) fn count(n: usize, what: &str) -> String {
    format!("{} {what}{}", format_count(n as u64), if n == 1 { "" } else { "s" })
}

/// Says what a table leaves out.
pub(crate) fn more(n: usize, n_shown: usize, what: &str) -> String {
    match n.saturating_sub(n_shown) {
        0 => String::new(),
        left => format!("and {}\n", count(left, &format!("more {what}"))),
    }
}

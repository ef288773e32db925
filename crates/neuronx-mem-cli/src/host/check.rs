//! `host check`: what requests for contiguous host memory meet.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};
use neuronx_mem::stats::format_count;
use neuronx_mem_host::{Diagnosis, HostReading, Need, NodeForecast, PageOrder, Verdict};
use serde::Serialize;

use super::arguments::CheckArguments;
use super::remedies::{self, RemedyObject};
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::{json, units};

pub(super) fn run(arguments: &CheckArguments) -> Result<Answer, Failure> {
    let reading = HostReading::read(&arguments.root)?;
    // Without a need, a page shows what there is; it is always served where there is memory.
    let mut need = Need::new(arguments.need.unwrap_or(reading.page_bytes)).times(arguments.count);
    need.node = arguments.node;
    let diagnosis = Diagnosis::of(&reading, &need)?;
    let is_asked = arguments.need.is_some();
    output::print(&if arguments.json {
        json::line(&Check::of(&reading, &diagnosis, is_asked))?
    } else {
        text(&reading, &diagnosis, is_asked)
    })?;
    Ok(if is_asked && !diagnosis.is_served() { Answer::No } else { Answer::Yes })
}

fn text(reading: &HostReading, diagnosis: &Diagnosis, is_asked: bool) -> String {
    let mut text = String::from("Free blocks that requests of the kernel may use, by order\n");
    text += &format!("{}\n\n", table(diagnosis, is_asked));
    text += &sizes(reading, diagnosis);
    text += &driver(diagnosis);
    for huge in &reading.huge_pages {
        let (node, free, total) = (huge.node, format_count(huge.free), format_count(huge.total));
        // Writing to a String does not fail.
        let _ = writeln!(
            text,
            "Huge pages of {}, node {node}: {free} free of {total}",
            units::bytes(huge.page_bytes)
        );
    }
    let unread = unread(reading);
    if !unread.is_empty() {
        let _ = writeln!(text, "Not known here: {}; the figures may be too high", unread.join(" and "));
    }
    if is_asked {
        let _ = writeln!(text, "\n{}", verdict(diagnosis));
    }
    if !diagnosis.remedies.is_empty() {
        text += "\nWhat helps, the gentlest first (nothing was run)\n";
        text += &remedies::text(&diagnosis.remedies);
    }
    text
}

fn table(diagnosis: &Diagnosis, is_asked: bool) -> Table {
    let n_orders = diagnosis.nodes.iter().map(|node| node.blocks.counts().len()).max().unwrap_or(0);
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    let orders = (0..n_orders).map(|order| order.to_string());
    let serves = is_asked.then(|| "Serves".to_owned());
    table.set_header(["Node".to_owned()].into_iter().chain(orders).chain(serves.clone()));
    for node in &diagnosis.nodes {
        let counts = node.blocks.counts().iter().map(|count| format_count(*count));
        let name = if node.counts { node.node.to_string() } else { format!("({})", node.node) };
        let served = serves.as_ref().map(|_| format_count(node.served));
        table.add_row([name].into_iter().chain(counts).chain(served));
    }
    table.column_iter_mut().for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

/// The largest sizes that are served at all, for those who asked for none.
fn sizes(reading: &HostReading, diagnosis: &Diagnosis) -> String {
    let largest = |node: &NodeForecast| {
        let counts = node.blocks.counts().iter().rposition(|count| *count > 0);
        counts.and_then(|idx| PageOrder::new(u8::try_from(idx).ok()?))
    };
    let mut text = String::new();
    for node in &diagnosis.nodes {
        let found = match largest(node) {
            Some(order) => {
                let bytes = units::bytes(reading.page_bytes.saturating_mul(order.pages()));
                format!("order {order}, {bytes}")
            }
            None => "none".to_owned(),
        };
        let _ = writeln!(text, "Largest free block, node {}: {found}", node.node);
    }
    text
}

fn driver(diagnosis: &Diagnosis) -> String {
    let Some(reserve) = &diagnosis.reserve else {
        let n_served = format_count(diagnosis.reserve_serves);
        return format!(
            "Driver: loaded; its reserve, while complete and unused, has place for {n_served} of what is \
             missing\n"
        );
    };
    if reserve.is_complete() {
        return "Driver: not loaded; a load now would reserve all that it asks for\n".to_owned();
    }
    let classes = [256, 512, 1024, 2048].into_iter().zip(reserve.pages.iter().zip(&reserve.wanted_pages));
    let classes: Vec<String> =
        classes.map(|(kib, (pages, wanted))| format!("{pages} of {wanted} of {kib} KiB")).collect();
    format!("Driver: not loaded; a load now would reserve only {} pages\n", classes.join(", "))
}

fn unread(reading: &HostReading) -> Vec<&'static str> {
    let mut unread = Vec::new();
    if reading.pagetypeinfo.is_none() {
        unread.push("the uses of free blocks (/proc/pagetypeinfo, for root)");
    }
    if reading.zoneinfo.is_none() {
        unread.push("what zones keep (/proc/zoneinfo)");
    }
    unread
}

fn verdict(diagnosis: &Diagnosis) -> String {
    let Need { bytes, count, node, .. } = diagnosis.need;
    let place = node.map_or_else(String::new, |node| format!(" on node {node}"));
    let need = format!(
        "{} x {}{place}: order {}, blocks of {}",
        format_count(count),
        units::bytes(bytes),
        diagnosis.order,
        units::bytes(diagnosis.block_bytes)
    );
    let served = format_count(diagnosis.served);
    let answer = match diagnosis.verdict {
        Verdict::Served => format!("yes, the kernel can serve {served} now"),
        Verdict::ReserveOnly => {
            format!("only with the driver's reserve: the kernel can serve {served} now")
        }
        Verdict::Impossible => "no, not on any host: the kernel has no blocks of that size".to_owned(),
        _ => {
            let at_most = format_count(diagnosis.at_most_after_compaction);
            format!(
                "no, the kernel can serve {served} now, and at most {at_most} after dropping caches and \
                 compaction"
            )
        }
    };
    format!("{need}\n{answer}")
}

/// The object of `host check --json`.
#[derive(Serialize)]
struct Check {
    schema: u32,
    ok: bool,
    /// Null without `--need`.
    need: Option<NeedObject>,
    nodes: Vec<NodeObject>,
    driver_loaded: bool,
    /// Pages that a load of the driver would get, smallest class first; null where it is loaded.
    reserve_pages: Option<Vec<u64>>,
    reserve_wanted_pages: Vec<u64>,
    huge_pages: Vec<HugeObject>,
    page_bytes: u64,
    free: u64,
    droppable: u64,
    zones_known: bool,
    page_types_known: bool,
    remedies: Vec<RemedyObject>,
}

#[derive(Serialize)]
struct NeedObject {
    bytes: u64,
    count: u64,
    node: Option<u32>,
    order: u8,
    block_bytes: u64,
    verdict: &'static str,
    served: u64,
    reserve_serves: u64,
    at_most_after_compaction: u64,
}

#[derive(Serialize)]
struct NodeObject {
    node: u32,
    blocks: Vec<u64>,
    /// Null without `--need`.
    served: Option<u64>,
    first_order: Option<u8>,
}

#[derive(Serialize)]
struct HugeObject {
    node: u32,
    page_bytes: u64,
    free: u64,
    total: u64,
}

impl Check {
    fn of(reading: &HostReading, diagnosis: &Diagnosis, is_asked: bool) -> Self {
        let need = || NeedObject {
            bytes: diagnosis.need.bytes,
            count: diagnosis.need.count,
            node: diagnosis.need.node,
            order: diagnosis.order.get(),
            block_bytes: diagnosis.block_bytes,
            verdict: match diagnosis.verdict {
                Verdict::Served => "served",
                Verdict::ReserveOnly => "reserve_only",
                Verdict::Impossible => "impossible",
                _ => "fails",
            },
            served: diagnosis.served,
            reserve_serves: diagnosis.reserve_serves,
            at_most_after_compaction: diagnosis.at_most_after_compaction,
        };
        let node = |node: &NodeForecast| NodeObject {
            node: node.node,
            blocks: node.blocks.counts().to_vec(),
            served: is_asked.then_some(node.served),
            first_order: node.first_order.filter(|_| is_asked).map(PageOrder::get),
        };
        let huge = reading.huge_pages.iter().map(|huge| HugeObject {
            node: huge.node,
            page_bytes: huge.page_bytes,
            free: huge.free,
            total: huge.total,
        });
        Self {
            schema: json::SCHEMA,
            ok: !is_asked || diagnosis.is_served(),
            need: is_asked.then(need),
            nodes: diagnosis.nodes.iter().map(node).collect(),
            driver_loaded: reading.driver.is_loaded,
            reserve_pages: diagnosis.reserve.map(|reserve| reserve.pages.to_vec()),
            reserve_wanted_pages: reading.driver.parameters.class_pages().to_vec(),
            huge_pages: huge.collect(),
            page_bytes: reading.page_bytes,
            free: reading.meminfo.free_bytes,
            droppable: reading.meminfo.droppable_bytes(),
            zones_known: reading.zoneinfo.is_some(),
            page_types_known: reading.pagetypeinfo.is_some(),
            remedies: diagnosis.remedies.iter().map(RemedyObject::of).collect(),
        }
    }
}

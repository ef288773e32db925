//! Events of one line.

use super::event::{EventKind, MemoryKind, Place};
use super::size;
use crate::PageOrder;

/// The event of a line that has one.
pub(super) fn parse(line: &str) -> Option<EventKind> {
    allocation_failed(line)
        .or_else(|| failed_to_allocate(line))
        .or_else(|| shared_stack(line))
        .or_else(|| file_written(line))
        .or_else(|| status(line))
        .or_else(|| driver(line))
        .or_else(|| kernel_failed(line))
        .or_else(|| kernel_blocks(line))
}

/// `Failed to alloc HOST memory: 3292176`.
fn allocation_failed(line: &str) -> Option<EventKind> {
    let rest = after(line, "Failed to alloc ")?;
    let (memory, rest) = rest.split_once(" memory:")?;
    Some(EventKind::AllocationFailed { memory: memory_kind(memory)?, bytes: leading(rest)? })
}

/// `Failed to allocate 3292176 bytes on HOST for tensor x`, or
/// `Failed to allocate 4.000GB (alignment: none, usage: tensors) on ND 0:NC 4`.
fn failed_to_allocate(line: &str) -> Option<EventKind> {
    let rest = after(line, "Failed to allocate ")?;
    if let Some((bytes, rest)) = rest.split_once(" bytes on ") {
        let (memory, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let tensor = after(rest, "for tensor").map(|name| name.trim().trim_end_matches('.'));
        let tensor = tensor.filter(|name| !name.is_empty() && *name != "UNKNOWN").map(str::to_owned);
        return Some(EventKind::TensorFailed {
            memory: memory_kind(memory)?,
            bytes: leading(bytes)?,
            tensor,
        });
    }
    let (bytes, rest) = rest.split_once('(')?;
    let (details, rest) = rest.split_once(')')?;
    let detail = |name: &str| {
        let value = details.split(',').find_map(|part| part.trim().strip_prefix(name));
        value.map(|value| value.trim().to_owned())
    };
    Some(EventKind::UsageFailed {
        about_bytes: size::parse(bytes)?,
        alignment: detail("alignment:").filter(|alignment| alignment != "none"),
        usage: detail("usage:")?,
        place: place(rest)?,
    })
}

/// `LNC size is 1. Neuron Cores using this HBM: NC 4 and NC 5`.
fn shared_stack(line: &str) -> Option<EventKind> {
    let rest = after(line, "LNC size is ")?;
    let cores = after(rest, "using this HBM:")?;
    let cores = cores.split("NC").skip(1).filter_map(|part| u32::try_from(leading(part)?).ok()).collect();
    Some(EventKind::SharedStack { cores_per_logical: u32::try_from(leading(rest)?).ok()?, cores })
}

/// `Wrote nrt memory alloc debug info to /tmp/nrt_mem_log_device_0_670eaded.csv`.
fn file_written(line: &str) -> Option<EventKind> {
    let rest = after(line, "Wrote nrt memory alloc debug info to")?.trim();
    // A notebook turns the path into a link, `[path](address)`.
    let path = rest.trim_start_matches('[').split(|letter: char| letter.is_whitespace() || letter == ']');
    let path = path.into_iter().next().filter(|path| !path.is_empty())?;
    let number = |name: &str| after(path, name).and_then(leading).and_then(|found| u32::try_from(found).ok());
    Some(EventKind::FileWritten { path: path.to_owned(), device: number("device_"), stack: number("hbm_") })
}

/// `status=4 message=Allocation Failure`, the message in quotes or not.
fn status(line: &str) -> Option<EventKind> {
    let rest = after(line, "status=")?;
    let message = after(rest, "message=")?.trim();
    let message = match message.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => message,
    };
    Some(EventKind::Status { status: u32::try_from(leading(rest)?).ok()?, message: message.to_owned() })
}

/// The two lines of the driver.
fn driver(line: &str) -> Option<EventKind> {
    if let Some(rest) = after(line, "Completed host allocation of ") {
        return Some(EventKind::ReserveServed { bytes: leading(rest)? });
    }
    let occupied_bytes = leading(after(line, "host mem occupied ")?)?;
    Some(EventKind::DriverFailed { occupied_bytes })
}

/// `page allocation failure: order:10, mode:0xcc0(GFP_KERNEL), nodemask=…`.
fn kernel_failed(line: &str) -> Option<EventKind> {
    let rest = after(line, "page allocation failure: order:")?;
    let order = PageOrder::new(u8::try_from(leading(rest)?).ok()?)?;
    let mode = after(rest, "mode:").unwrap_or_default();
    let mode = match mode.split_once('(').and_then(|(_, names)| names.split_once(')')) {
        Some((names, _)) => names,
        None => mode.split(',').next().unwrap_or_default(),
    };
    Some(EventKind::KernelFailed { order, mode: mode.trim().to_owned() })
}

/// `Node 0 Normal: 12*4kB (UME) 5*8kB (M) … 0*4096kB = 12345kB`. Orders that a cut line does not show are
/// not there.
fn kernel_blocks(line: &str) -> Option<EventKind> {
    let rest = after(line, "Node ")?;
    let (name, rest) = rest.split_once(':')?;
    let (node, zone) = name.split_once(' ')?;
    let mut counts = Vec::new();
    for word in rest.split_whitespace() {
        if word == "=" {
            break;
        }
        let Some((count, bytes)) = word.split_once('*') else { continue };
        let (count, kib): (u64, u64) = (count.parse().ok()?, bytes.strip_suffix("kB")?.parse().ok()?);
        if kib < 4 || !kib.is_power_of_two() || kib > 1 << 30 {
            return None;
        }
        let order = (kib / 4).ilog2() as usize;
        counts.resize(counts.len().max(order + 1), 0);
        counts[order] = count;
    }
    let is_counted = !counts.is_empty();
    is_counted.then_some(EventKind::KernelBlocks {
        node: node.parse().ok()?,
        zone: zone.trim().to_owned(),
        counts,
    })
}

/// ` on ND 0:NC 4`, with any blanks; ` on ND 0`.
pub(super) fn place(text: &str) -> Option<Place> {
    let rest = after(text, "ND")?;
    let device = u32::try_from(leading(rest)?).ok()?;
    let core = after(rest, "NC").and_then(leading).and_then(|core| u32::try_from(core).ok());
    Some(Place { device, core })
}

/// What follows the first occurrence of these words.
pub(super) fn after<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    text.find(words).map(|start| &text[start + words.len()..])
}

/// The whole number at the start, blanks aside.
pub(super) fn leading(text: &str) -> Option<u64> {
    let text = text.trim_start();
    let n_digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text[..n_digits].parse().ok()
}

fn memory_kind(text: &str) -> Option<MemoryKind> {
    match text.trim().trim_end_matches(['.', ',']) {
        "HOST" => Some(MemoryKind::Host),
        "DEVICE" => Some(MemoryKind::Device),
        _ => None,
    }
}

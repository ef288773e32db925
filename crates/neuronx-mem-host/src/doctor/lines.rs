//! What the kernel's text files have in common: lines with numbers, and an end.

use crate::HostError;

/// The lines of a file with their numbers from 1; an error when there are none, or when the last one has
/// no end, because then the file was cut.
pub(super) fn whole_lines<'a>(
    file: &str,
    text: &'a str,
) -> Result<impl Iterator<Item = (usize, &'a str)> + use<'a>, HostError> {
    let n_lines = text.lines().count();
    if text.trim().is_empty() {
        return Err(HostError::format(file, n_lines + 1, "the file is empty"));
    }
    if !text.ends_with('\n') {
        return Err(HostError::format(file, n_lines, "the line has no end: the file was cut"));
    }
    Ok(text.lines().enumerate().map(|(idx, line)| (idx + 1, line)))
}

/// `Node 0, zone   Normal …`: the node, the zone and what follows.
pub(super) fn node_and_zone(line: &str) -> Option<(u32, &str, &str)> {
    let (node, rest) = line.strip_prefix("Node")?.split_once(',')?;
    let rest = rest.trim_start().strip_prefix("zone")?.trim_start();
    let zone = rest.split([' ', ',']).next().filter(|zone| !zone.is_empty())?;
    Some((node.trim().parse().ok()?, zone, &rest[zone.len()..]))
}

/// Whole numbers; `None` when a word is none. `>100000`, where the kernel stopped counting, is that many.
pub(super) fn numbers(text: &str) -> Option<Vec<u64>> {
    text.split_whitespace().map(|word| word.strip_prefix('>').unwrap_or(word).parse().ok()).collect()
}

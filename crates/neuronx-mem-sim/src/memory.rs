//! What simulated memory holds: runs of one byte or of bytes that were written, zero elsewhere. Knows
//! addresses only; whether a range may be touched is the device's business.
//!
//! Filling a gigabyte is one run, so that a debugging tool may do it at every free.

use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Filled(u8),
    Written(Vec<u8>),
}

#[derive(Clone, Debug)]
struct Run {
    end: u64,
    content: Content,
}

/// Contents by first address; runs never overlap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    runs: BTreeMap<u64, Run>,
}

impl Memory {
    pub(crate) fn fill(&mut self, start: u64, bytes: u64, value: u8) {
        let end = start.saturating_add(bytes);
        if start == end {
            return;
        }
        self.clear(start, bytes);
        let is_same = |run: &Run| run.content == Content::Filled(value);
        // Neighbours of the same value become one run, so that the runs do not grow in number.
        let below = self.runs.range(..start).next_back().filter(|(_, run)| run.end == start && is_same(run));
        let first = below.map_or(start, |(first, _)| *first);
        let above = self.runs.get(&end).filter(|run| is_same(run)).map(|run| run.end);
        if above.is_some() {
            self.runs.remove(&end);
        }
        self.runs.insert(first, Run { end: above.unwrap_or(end), content: Content::Filled(value) });
    }

    pub(crate) fn write(&mut self, start: u64, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        let bytes = data.len() as u64;
        self.clear(start, bytes);
        self.runs.insert(start, Run { end: start + bytes, content: Content::Written(data.to_vec()) });
    }

    pub(crate) fn read(&self, start: u64, into: &mut [u8]) {
        into.fill(0);
        let end = start + into.len() as u64;
        for (first, run) in self.overlapping(start, end) {
            let (from, to) = (first.max(start), run.end.min(end));
            let part = &mut into[length(from - start)..length(to - start)];
            match &run.content {
                Content::Filled(value) => part.fill(*value),
                Content::Written(bytes) => {
                    part.copy_from_slice(&bytes[length(from - first)..length(to - first)]);
                }
            }
        }
    }

    /// The first byte in a range that is not `value`, and what it is. O(runs in the range), and the
    /// bytes that were written there.
    pub(crate) fn find_other(&self, start: u64, bytes: u64, value: u8) -> Option<(u64, u8)> {
        let end = start.saturating_add(bytes);
        let mut covered = start;
        for (first, run) in self.overlapping(start, end) {
            let (from, to) = (first.max(start), run.end.min(end));
            if covered < from && value != 0 {
                return Some((covered, 0));
            }
            covered = to;
            match &run.content {
                Content::Filled(other) if *other != value => return Some((from, *other)),
                Content::Filled(_) => {}
                Content::Written(bytes) => {
                    let part = &bytes[length(from - first)..length(to - first)];
                    if let Some((at, byte)) = (from..).zip(part).find(|(_, byte)| **byte != value) {
                        return Some((at, *byte));
                    }
                }
            }
        }
        (covered < end && value != 0).then_some((covered, 0))
    }

    /// Forgets what a range holds: it reads as zero.
    pub(crate) fn clear(&mut self, start: u64, bytes: u64) {
        let end = start.saturating_add(bytes);
        let firsts: Vec<u64> = self.overlapping(start, end).map(|(first, _)| first).collect();
        for first in firsts {
            let Some(Run { end: run_end, content }) = self.runs.remove(&first) else { continue };
            if first < start {
                let content = part(&content, 0, start - first);
                self.runs.insert(first, Run { end: start, content });
            }
            if end < run_end {
                let content = part(&content, end - first, run_end - first);
                self.runs.insert(end, Run { end: run_end, content });
            }
        }
    }

    fn overlapping(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, &Run)> {
        let below = self.runs.range(..start).next_back().filter(|(_, run)| run.end > start);
        let inside = self.runs.range(start..end.max(start));
        below.into_iter().chain(inside).map(|(first, run)| (*first, run))
    }
}

fn part(content: &Content, from: u64, to: u64) -> Content {
    match content {
        Content::Filled(value) => Content::Filled(*value),
        Content::Written(bytes) => Content::Written(bytes[length(from)..length(to)].to_vec()),
    }
}

/// A length inside a buffer of this host.
#[expect(clippy::cast_possible_truncation, reason = "never above the length of a buffer")]
fn length(bytes: u64) -> usize {
    bytes as usize
}

#[cfg(test)]
mod tests {
    use super::Memory;

    /// The same memory as plain bytes.
    fn check(memory: &Memory, plain: &[u8]) {
        let mut read = vec![9; plain.len()];
        memory.read(0, &mut read);
        assert_eq!(read, plain);
        for start in 0..plain.len() {
            for value in [0, 1, 2] {
                let expected =
                    (start..plain.len()).find(|at| plain[*at] != value).map(|at| (at as u64, plain[at]));
                assert_eq!(memory.find_other(start as u64, (plain.len() - start) as u64, value), expected);
            }
        }
    }

    #[test]
    fn runs_and_plain_bytes_agree() {
        let (mut memory, mut plain) = (Memory::default(), [0; 40]);
        let steps = [(0, 10, 1), (20, 10, 1), (10, 10, 1), (5, 3, 2), (0, 40, 1), (13, 1, 0), (12, 9, 2)];
        for (step, (start, bytes, value)) in steps.into_iter().enumerate() {
            if step % 3 == 2 {
                memory.write(start as u64, &vec![value; bytes]);
            } else {
                memory.fill(start as u64, bytes as u64, value);
            }
            plain[start..start + bytes].fill(value);
            check(&memory, &plain);
        }
        memory.clear(11, 6);
        plain[11..17].fill(0);
        check(&memory, &plain);
    }

    #[test]
    fn neighbouring_fills_are_one_run() {
        let mut memory = Memory::default();
        for start in [0, 64, 32, 96] {
            memory.fill(start, 32, 7);
        }
        assert_eq!(memory.runs.len(), 1);
    }
}

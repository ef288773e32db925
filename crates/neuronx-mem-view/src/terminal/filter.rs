//! Which allocations one looks at: by words of their stack, by size, by stream. Knows no screen.

use bytesize::ByteSize;
use neuronx_mem_replay::{SiteId, Sites};

use super::text;
use crate::{AllocationId, Recording};

/// A filter, worked out for one recording.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    /// As it was typed; empty when all allocations pass.
    text: String,
    /// Whether a site has all the words; empty when there are no words.
    sites: Vec<bool>,
    least_bytes: u64,
    /// More does not pass.
    most_bytes: Option<u64>,
    stream: Option<u64>,
}

/// How a filter is written, for help and messages.
pub(super) const SYNTAX: &str = "words of the stack, >1MiB, <=2GiB, stream=3";

impl Filter {
    /// Reads a filter. O(bytes of all stacks) when it has words.
    ///
    /// # Errors
    ///
    /// One line that says which word is wrong.
    pub(super) fn parse(typed: &str, recording: &Recording) -> Result<Self, String> {
        let mut filter = Self { text: typed.trim().to_owned(), ..Self::default() };
        let mut words: Vec<String> = Vec::new();
        for word in typed.split_whitespace() {
            if let Some(stream) = word.strip_prefix("stream=") {
                let stream = stream.parse().map_err(|_| format!("`{}` is no stream", text::inert(word)))?;
                filter.stream = Some(stream);
            } else if word.starts_with(['<', '>']) {
                filter.bound(word)?;
            } else {
                words.push(word.to_lowercase());
            }
        }
        if !words.is_empty() {
            let has_all = |site| {
                let place = haystack(&recording.sites, site);
                words.iter().all(|word| place.contains(word.as_str()))
            };
            filter.sites = recording.sites.ids().map(has_all).collect();
        }
        Ok(filter)
    }

    fn bound(&mut self, word: &str) -> Result<(), String> {
        let (is_less, rest) = (word.starts_with('<'), &word[1..]);
        let (is_equal, number) = rest.strip_prefix('=').map_or((false, rest), |number| (true, number));
        let ByteSize(bytes) =
            number.parse().map_err(|_| format!("`{}` is no size such as >1MiB", text::inert(word)))?;
        if is_less {
            let most = if is_equal { Some(bytes) } else { bytes.checked_sub(1) };
            let most = most.ok_or_else(|| "nothing has less than 0 bytes".to_owned())?;
            self.most_bytes = Some(self.most_bytes.map_or(most, |known| known.min(most)));
        } else {
            let least = if is_equal { bytes } else { bytes.saturating_add(1) };
            self.least_bytes = self.least_bytes.max(least);
        }
        Ok(())
    }

    /// Whether all allocations pass.
    pub(super) fn is_all(&self) -> bool {
        self.text.is_empty()
    }

    /// As it was typed.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether an allocation passes. O(1).
    pub(super) fn passes(&self, recording: &Recording, id: AllocationId) -> bool {
        if self.is_all() {
            return true;
        }
        let (all, idx) = (&recording.allocations, id.0 as usize);
        let bytes = all.bytes[idx];
        let has_words = self.sites.get(all.sites[idx].index()).copied().unwrap_or(true);
        let is_on_stream =
            self.stream.is_none_or(|stream| all.streams[usize::from(all.stream_idxs[idx])] == stream);
        has_words
            && is_on_stream
            && bytes >= self.least_bytes
            && self.most_bytes.is_none_or(|most| bytes <= most)
    }
}

/// All that can be looked for in a site, in small letters.
pub(super) fn haystack(sites: &Sites, site: SiteId) -> String {
    let mut text = sites.phase(site).unwrap_or_default().to_lowercase();
    for frame in sites.frames(site) {
        text.push('\n');
        text.push_str(&frame.name.to_lowercase());
        text.push('\n');
        text.push_str(&format!("{}:{}", frame.filename, frame.line).to_lowercase());
    }
    text
}

//! The text of the environment variable, read to a configuration and findings.
//!
//! Knows the `key=value,key=value` form. Refuses to fail: an item that cannot be used is as if it
//! were absent, and is reported. The time is linear in the text, and the report is bounded.

use std::ops::Range;

use super::combination::combinations;
use super::config::AllocatorConfig;
use super::finding::{Finding, Severity};
use super::key::ConfigKey;
use super::nearest::nearest_key;
use super::piece::Piece;
use super::quote::quote;
use super::source::Source;
use super::value::read_value;

/// How many findings about items are listed; the rest are counted in [`Finding::More`].
pub const MAX_ITEM_FINDINGS: usize = 64;

/// What a text came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "the findings say what of the text is not in force"]
pub struct Parsed {
    /// The effective configuration; always usable.
    pub config: AllocatorConfig,
    /// The findings about items in the order of the text, then the dangerous combinations, then
    /// perhaps one [`Finding::More`].
    pub findings: Vec<Finding>,
}

impl AllocatorConfig {
    /// Reads the value of the environment variable (allocator semantics §4).
    ///
    /// Items are `key=value`, separated by commas; values are plain decimal digits. An item that
    /// cannot be used is ignored with a finding, as if it were absent: an earlier good value of the
    /// same key stays. Of several good values the last wins, with a finding. A blank text is the
    /// default configuration without findings. Never fails. Cost: linear in the text.
    ///
    /// ```
    /// use neuronx_mem_config::{AllocatorConfig, ConfigKey, Source};
    ///
    /// let parsed = AllocatorConfig::parse("kRoundupPower2Divisions=8,kPoolBoundry=4096");
    /// assert_eq!(parsed.config.roundup_power2_divisions(), 8);
    /// assert_eq!(parsed.config.source(ConfigKey::RoundupPower2Divisions), Source::Environment);
    /// assert_eq!(
    ///     parsed.findings[0].to_string(),
    ///     "unknown key `kPoolBoundry` is ignored; did you mean `kPoolBoundary`?",
    /// );
    /// ```
    pub fn parse(text: &str) -> Parsed {
        Self::parse_as(text, Source::Environment)
    }

    /// Reads a text as [`parse`](Self::parse) does and records that it came from `source`.
    ///
    /// A string of a command line is [`Source::Code`]. [`Source::Default`] and [`Source::Follows`]
    /// say that nobody set a key, which a text contradicts; they are recorded as [`Source::Code`].
    pub fn parse_as(text: &str, source: Source) -> Parsed {
        let source = match source {
            Source::Environment => Source::Environment,
            Source::Code | Source::Default | Source::Follows(_) => Source::Code,
        };
        let mut reader = Reader::new(source);
        if !text.trim().is_empty() {
            reader.read(Piece::whole(text));
        }
        reader.finish()
    }
}

/// The state while a text is read from left to right.
struct Reader {
    config: AllocatorConfig,
    source: Source,
    /// By `ConfigKey::index`: the item whose value is in force.
    set_by: [Option<Range<usize>>; ConfigKey::ALL.len()],
    findings: Vec<Finding>,
    /// What was found after `findings` was full.
    unlisted: Option<Unlisted>,
}

struct Unlisted {
    count: usize,
    worst: Severity,
    position: Range<usize>,
}

impl Reader {
    fn new(source: Source) -> Self {
        Self {
            config: AllocatorConfig::default(),
            source,
            set_by: Default::default(),
            findings: Vec::new(),
            unlisted: None,
        }
    }

    fn read(&mut self, mut rest: Piece<'_>) {
        while let Some((item, after)) = rest.split_once(b',') {
            self.read_item(item);
            rest = after;
        }
        self.read_item(rest);
    }

    fn read_item(&mut self, untrimmed: Piece<'_>) {
        let item = untrimmed.trim();
        if item.text.is_empty() {
            return self.report(Finding::EmptyItem { position: untrimmed.position() });
        }
        let Some((name, value)) = item.split_once(b'=') else {
            let key = ConfigKey::by_name(item.text);
            let (text, position) = (quote(item.text), item.position());
            return self.report(Finding::MissingEquals { key, text, position });
        };
        let (name, value) = (name.trim(), value.trim());
        let key = ConfigKey::by_name(name.text);
        if name.text.len() + 1 + value.text.len() < untrimmed.text.len() {
            let (text, position) = (quote(untrimmed.text), untrimmed.position());
            self.report(Finding::WhiteSpace { key, text, position });
        }
        match key {
            Some(key) => self.read_known(key, value, item),
            None => self.report_unknown(name, item),
        }
    }

    fn read_known(&mut self, key: ConfigKey, value: Piece<'_>, item: Piece<'_>) {
        if value.text.is_empty() {
            return self.report(Finding::EmptyValue { key, position: item.position() });
        }
        let number = match read_value(key, value) {
            Ok(number) => number,
            Err(finding) => return self.report(finding),
        };
        let replaced = self.config.get(key);
        match self.config.with_source(key, number, self.source) {
            Ok(config) => self.config = config,
            Err(error) => {
                let finding = Finding::refused(error, value.position());
                return finding.into_iter().for_each(|finding| self.report(finding));
            }
        }
        let position = item.position();
        if let Some(replaced_position) = self.set_by[key.index()].replace(position.clone()) {
            self.report(Finding::Duplicate { key, replaced, value: number, replaced_position, position });
        }
    }

    fn report_unknown(&mut self, name: Piece<'_>, item: Piece<'_>) {
        let text = quote(name.text);
        let finding = if name.text.is_empty() {
            Finding::MissingKey { text: quote(item.text), position: item.position() }
        } else if self.is_full() {
            // Only counted, so the comparison with every key would be wasted.
            Finding::UnknownKey { text, nearest: None, position: name.position() }
        } else {
            Finding::UnknownKey { text, nearest: nearest_key(name.text), position: name.position() }
        };
        self.report(finding);
    }

    fn is_full(&self) -> bool {
        self.findings.len() >= MAX_ITEM_FINDINGS
    }

    fn report(&mut self, finding: Finding) {
        if !self.is_full() {
            return self.findings.push(finding);
        }
        let position = finding.position().unwrap_or_default();
        let severity = finding.severity();
        match &mut self.unlisted {
            None => self.unlisted = Some(Unlisted { count: 1, worst: severity, position }),
            Some(unlisted) => {
                unlisted.count += 1;
                unlisted.worst = unlisted.worst.max(severity);
                unlisted.position.end = unlisted.position.end.max(position.end);
            }
        }
    }

    fn finish(self) -> Parsed {
        let mut findings = self.findings;
        findings.extend(combinations(&self.config));
        if let Some(Unlisted { count, worst, position }) = self.unlisted {
            findings.push(Finding::More { count, worst, position });
        }
        Parsed { config: self.config, findings }
    }
}

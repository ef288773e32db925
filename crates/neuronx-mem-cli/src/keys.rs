//! The verb `config`: the keys of the allocator as one string sets them, and what is wrong with it.
//!
//! A wrong item is shown and passed over, as it is by the program whose string it is.

use std::ffi::OsStr;

use bytesize::ByteSize;
use comfy_table::{CellAlignment, Table, presets};
use neuronx_mem::AllocatorConfig;
use neuronx_mem::config::{
    ALLOCATOR_CONFIG_VARIABLE, ConfigKey, EnvFinding, Environment, Finding, KeyKind, Severity, Source,
    variables,
};
use serde::Serialize;

use crate::arguments::{ConfigAction, ConfigArguments};
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::{config, finding, json};

const COLUMNS: [&str; 4] = ["Key", "Value", "Size", "Source"];

/// The columns with numbers.
const NUMBERS: std::ops::Range<usize> = 1..3;

/// A string that was read.
struct Text {
    config: AllocatorConfig,
    findings: Vec<Finding>,
    origin: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Argument,
    Environment,
    Unset,
}

pub(crate) fn run(arguments: &ConfigArguments) -> Result<Answer, Failure> {
    let (action, string, is_json) = arguments.parts();
    let text = Text::read(string);
    match action {
        ConfigAction::Show => {
            text.warn();
            output::print(&if is_json { json::line(&text.object())? } else { text.table() })?;
            Ok(Answer::Yes)
        }
        ConfigAction::Lint => {
            output::print(&if is_json { json::line(&text.findings_object())? } else { text.lines() })?;
            Ok(finding::answer(text.findings.iter().map(Finding::severity)))
        }
    }
}

impl Text {
    /// Reads the argument, else the environment variable, else nothing: the defaults.
    fn read(string: Option<&OsStr>) -> Self {
        let variable = variables::TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG;
        let Some(text) = string.or_else(|| Environment::process().raw(variable)) else {
            return Self { config: AllocatorConfig::default(), findings: Vec::new(), origin: Origin::Unset };
        };
        let (origin, source) = match string {
            Some(_) => (Origin::Argument, Source::Code),
            None => (Origin::Environment, Source::Environment),
        };
        let config = AllocatorConfig::parse_as(&text.to_string_lossy(), source).config;
        // The environment says what there is to say about bytes that are no text.
        let findings = Environment::from_pairs([(ALLOCATOR_CONFIG_VARIABLE, text)]).read(variable).findings;
        let findings = findings.into_iter().filter_map(|finding| match finding {
            EnvFinding::Allocator(finding) => Some(finding),
            _ => None,
        });
        Self { config, findings: findings.collect(), origin }
    }

    fn warn(&self) {
        for finding in self.findings.iter().filter(|finding| finding.severity() >= Severity::Warning) {
            tracing::warn!("{}", self.message(finding));
        }
    }

    fn message(&self, finding: &Finding) -> String {
        match finding {
            Finding::NotUnicode { .. } if self.origin == Origin::Argument => {
                "the string is not valid UTF-8; its bad bytes are read as U+FFFD".to_owned()
            }
            _ => finding.to_string(),
        }
    }

    fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN).set_header(COLUMNS);
        for (key, value) in self.config.entries() {
            let source = match self.config.source(key) {
                Source::Code => "command line".to_owned(),
                source => source.to_string(),
            };
            table.add_row([key.name().to_owned(), value.to_string(), size(key, value), source]);
        }
        for idx in NUMBERS {
            if let Some(column) = table.column_mut(idx) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let shortest = config::name(&self.config);
        format!("{table}\n\nConfig:  {shortest}\nHash:    {:016x}\n", self.config.hash64())
    }

    fn lines(&self) -> String {
        if self.findings.is_empty() {
            return match self.origin {
                Origin::Unset => format!("{ALLOCATOR_CONFIG_VARIABLE} is not set: the defaults hold\n"),
                _ => "no findings\n".to_owned(),
            };
        }
        let line = |finding: &Finding| finding::line(finding.severity(), &self.message(finding));
        self.findings.iter().map(line).collect()
    }

    fn object(&self) -> Show {
        Show {
            schema: json::SCHEMA,
            config: self.config.to_env_string(),
            config_hash: format!("{:016x}", self.config.hash64()),
            keys: self.config.entries().map(|(key, value)| Key::of(&self.config, key, value)).collect(),
            findings: self.remarks(),
        }
    }

    fn findings_object(&self) -> Lint {
        Lint { schema: json::SCHEMA, findings: self.remarks() }
    }

    fn remarks(&self) -> Vec<Remark> {
        let remark = |finding: &Finding| Remark {
            kind: finding.kind(),
            severity: finding.severity().name(),
            key: finding.key().map(ConfigKey::name),
            position: finding.position().map(|range| [range.start, range.end]),
            message: self.message(finding),
        };
        self.findings.iter().map(remark).collect()
    }
}

/// A number of bytes as people read it; nothing for other numbers.
fn size(key: ConfigKey, value: u64) -> String {
    match (key.kind(), value) {
        (KeyKind::Bytes, u64::MAX) => "no limit".to_owned(),
        (KeyKind::Bytes, bytes) => ByteSize(bytes).display().iec().to_string(),
        (KeyKind::Integer, _) => String::new(),
    }
}

/// The object of `config show --json`.
#[derive(Serialize)]
struct Show {
    schema: u32,
    /// The shortest string with these values; empty for the defaults.
    config: String,
    config_hash: String,
    keys: Vec<Key>,
    findings: Vec<Remark>,
}

/// The object of `config lint --json`.
#[derive(Serialize)]
struct Lint {
    schema: u32,
    findings: Vec<Remark>,
}

#[derive(Serialize)]
struct Key {
    key: &'static str,
    value: u64,
    /// `default`, `follows`, `environment` or `command_line`.
    source: &'static str,
    /// The key whose value this one has, when it follows one.
    follows: Option<&'static str>,
}

#[derive(Serialize)]
struct Remark {
    kind: &'static str,
    severity: &'static str,
    key: Option<&'static str>,
    /// First byte and the byte after the last, in the string.
    position: Option<[usize; 2]>,
    message: String,
}

impl Key {
    fn of(config: &AllocatorConfig, key: ConfigKey, value: u64) -> Self {
        let (source, follows) = match config.source(key) {
            Source::Follows(leader) => ("follows", Some(leader.name())),
            Source::Environment => ("environment", None),
            Source::Code => ("command_line", None),
            _ => ("default", None),
        };
        Self { key: key.name(), value, source, follows }
    }
}

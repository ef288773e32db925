//! `cache gc`: bounds the caches and sweeps what was left behind.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use neuronx_mem::stats::format_count;
use neuronx_mem_cache::check::Role;
use neuronx_mem_cache::{EntryKind, GcOptions, GcReport, LockDirectory, Store};
use serde::Serialize;

use super::arguments::GcArguments;
use super::directories;
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::{json, units};

pub(super) fn run(arguments: &GcArguments) -> Result<Answer, Failure> {
    let options = GcOptions::new(arguments.max_size);
    let mut result = Gc { schema: json::SCHEMA, caches: Vec::new(), removed_lock_files: 0 };
    for (role, path) in directories::in_use(&arguments.directories) {
        match kind(role) {
            Some(kind) => result.caches.push(collected(role, kind, path, &options)?),
            None => result.removed_lock_files += LockDirectory::new(&path).sweep()?,
        }
    }
    output::print(&if arguments.json { json::line(&result)? } else { text(&result) })?;
    let has_failed = result.caches.iter().any(|cache| cache.failures > 0);
    Ok(if has_failed { Answer::No } else { Answer::Yes })
}

/// What a directory keeps; the one of locks keeps nothing.
fn kind(role: Role) -> Option<EntryKind> {
    match role {
        Role::Neff => Some(EntryKind::Neff),
        Role::Hlo => Some(EntryKind::Hlo),
        _ => None,
    }
}

fn collected(role: Role, kind: EntryKind, path: PathBuf, options: &GcOptions) -> Result<Collected, Failure> {
    let report = Store::open(&path, kind).gc(options)?;
    if let Some(error) = &report.first_failure {
        tracing::warn!("{} files stay: {error}", report.failures);
    }
    Ok(Collected::of(role, &path, &report))
}

fn text(result: &Gc) -> String {
    let mut text = String::new();
    for cache in &result.caches {
        let amount = |entries: u64, bytes: u64| {
            format!("{} in {} entries", units::bytes(bytes), format_count(entries))
        };
        let kept_entries = cache.entries - cache.removed_entries.min(cache.entries);
        // Writing to a String does not fail.
        let _ = writeln!(text, "{} directory {}", cache.title, cache.path);
        let _ = writeln!(text, "  found      {}", amount(cache.entries, cache.bytes));
        let _ = writeln!(text, "  removed    {}", amount(cache.removed_entries, cache.removed_bytes));
        let _ = writeln!(text, "  kept       {}", amount(kept_entries, cache.kept_bytes));
        let _ = writeln!(text, "  leftovers  {} removed\n", format_count(cache.removed_leftovers));
    }
    let n_locks = format_count(result.removed_lock_files);
    let _ = writeln!(text, "Lock files of ended processes: {n_locks} removed");
    text
}

/// The object of `cache gc --json`.
#[derive(Serialize)]
struct Gc {
    schema: u32,
    caches: Vec<Collected>,
    removed_lock_files: u64,
}

#[derive(Serialize)]
struct Collected {
    /// The role as people read it.
    #[serde(skip)]
    title: String,
    role: &'static str,
    path: String,
    entries: u64,
    bytes: u64,
    removed_entries: u64,
    removed_bytes: u64,
    kept_bytes: u64,
    removed_leftovers: u64,
    removed_directories: u64,
    failures: u64,
}

impl Collected {
    fn of(role: Role, path: &Path, report: &GcReport) -> Self {
        Self {
            title: role.to_string(),
            role: role.name(),
            path: path.display().to_string(),
            entries: report.scanned_entries,
            bytes: report.scanned_bytes,
            removed_entries: report.removed_entries,
            removed_bytes: report.removed_bytes,
            kept_bytes: report.kept_bytes,
            removed_leftovers: report.removed_leftovers,
            removed_directories: report.removed_directories,
            failures: report.failures,
        }
    }
}

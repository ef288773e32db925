//! Unsafe code: each block states its proof, and the number of blocks of each crate is committed.
//!
//! Works on lines, as the other rules do: a block is a line with the keyword and an opening brace after
//! it. Whether a proof is sound is for people; the committed number makes them look.

use std::collections::BTreeMap;

use super::files::File;
use super::finding::Finding;

/// The committed numbers, from the root.
pub(super) const COUNTS: &str = "xtask/unsafe-blocks.txt";

/// The keyword, put together from parts because this file is checked too.
const KEYWORD: &str = concat!("un", "safe");

/// How a proof starts.
const PROOF: &str = "// SAFETY:";

/// Lines above a block in which its proof is looked for: comments, attributes, the start of a statement.
const MOST_LINES_BETWEEN: usize = 8;

/// Checks the blocks of all product code, and their numbers against the committed ones.
pub(super) fn check(files: &[File], committed: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| product_of(file).is_some()) {
        findings.extend(without_proof(file));
    }
    let counted = text(files);
    if counted != committed.text {
        let lines = committed.text.lines().chain(std::iter::repeat(""));
        let first = counted.lines().zip(lines).position(|(new, old)| new != old);
        let number = first.unwrap_or(counted.lines().count()) + 1;
        let message = format!(
            "the numbers of {KEYWORD} blocks have changed: read the new proofs, then write\n{}",
            counted.trim_end()
        );
        findings.push(Finding::new(COUNTS, number, message));
    }
    findings
}

/// One line a crate that has any, `crate number`, sorted.
pub(super) fn text(files: &[File]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        let Some(product) = product_of(file) else { continue };
        let n_blocks = file.text.lines().filter(|line| is_block(line)).count();
        if n_blocks > 0 {
            *counts.entry(product).or_default() += n_blocks;
        }
    }
    counts.iter().map(|(product, n_blocks)| format!("{product} {n_blocks}\n")).collect()
}

/// The crate of a source file of a product; `None` for anything else.
fn product_of(file: &File) -> Option<&str> {
    let (product, rest) = file.path.strip_prefix("crates/")?.split_once('/')?;
    (rest.starts_with("src/") && file.has_extension("rs") && !file.is_test()).then_some(product)
}

/// A block or an implementation; not a declaration, whose callers carry the proof.
fn is_block(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let opens = format!("{KEYWORD} {{");
    let implements = format!("{KEYWORD} impl ");
    code.contains(&opens) || code.trim_start().starts_with(&implements)
}

fn without_proof(file: &File) -> Vec<Finding> {
    let lines: Vec<&str> = file.text.lines().collect();
    let has_proof = |idx: usize| {
        let above = lines[idx.saturating_sub(MOST_LINES_BETWEEN)..idx].iter().rev();
        above.take_while(|line| !is_block(line)).any(|line| line.contains(PROOF))
    };
    let bare = (0..lines.len()).filter(|idx| is_block(lines[*idx]) && !has_proof(*idx));
    let message = format!("this {KEYWORD} block has no proof: say `{PROOF} ...` above it");
    bare.map(|idx| Finding::new(&file.path, idx + 1, message.clone())).collect()
}

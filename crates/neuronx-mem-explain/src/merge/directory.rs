//! The files of the ranks in a directory. Knows names; opens nothing.

use std::fs;
use std::path::{Path, PathBuf};

use crate::ExplainError;

/// Names that a trace or a snapshot may end with.
const ENDINGS: [&str; 9] =
    [".csv", ".csv.gz", ".csv.zst", ".jsonl", ".jsonl.gz", ".jsonl.zst", ".pickle", ".pkl", ".json"];

/// One rank's trace or snapshot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RankFile {
    /// The number of the rank.
    pub rank: u64,
    /// The file.
    pub path: PathBuf,
}

/// The traces and snapshots of a directory, by rank. Other files are passed over, as are names that
/// start with a point.
///
/// The rank is the number behind `rank` in the name (`rank_3.pickle`, `snapshot_rank3.json`), else the
/// last number of the name. Where that is missing somewhere, or two files claim the same, all are
/// numbered from 0 in the order of their names.
///
/// # Errors
///
/// [`ExplainError::Directory`]; [`ExplainError::TooFewRanks`] for fewer than two files.
pub fn rank_files(directory: &Path) -> Result<Vec<RankFile>, ExplainError> {
    let listing = |source| ExplainError::Directory { path: directory.to_owned(), source };
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(listing)? {
        let path = entry.map_err(listing)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        if !name.starts_with('.') && ENDINGS.iter().any(|ending| name.ends_with(ending)) && path.is_file() {
            paths.push(path);
        }
    }
    if paths.len() < 2 {
        return Err(ExplainError::TooFewRanks { path: directory.to_owned(), n_found: paths.len() });
    }
    paths.sort();
    Ok(numbered(paths))
}

fn numbered(paths: Vec<PathBuf>) -> Vec<RankFile> {
    let ranks: Option<Vec<u64>> = paths.iter().map(|path| rank_of(path)).collect();
    let mut distinct = ranks.clone().unwrap_or_default();
    distinct.sort_unstable();
    distinct.dedup();
    let ranks = ranks.filter(|ranks| ranks.len() == distinct.len());
    let ranks = ranks.unwrap_or_else(|| (0..paths.len() as u64).collect());
    let mut files: Vec<RankFile> =
        ranks.into_iter().zip(paths).map(|(rank, path)| RankFile { rank, path }).collect();
    files.sort();
    files
}

/// The rank in a file's name.
fn rank_of(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let stem = ENDINGS.iter().filter_map(|ending| name.strip_suffix(ending)).min_by_key(|stem| stem.len())?;
    let number = |text: &str| {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    let behind_rank =
        stem.rsplit_once("rank").and_then(|(_, rest)| number(rest.trim_start_matches(['_', '-', '.', '='])));
    let last_number = || {
        let end = stem.rfind(|letter: char| letter.is_ascii_digit())? + 1;
        let start = stem[..end].rfind(|letter: char| !letter.is_ascii_digit()).map_or(0, |idx| idx + 1);
        stem.get(start..end)?.parse().ok()
    };
    behind_rank.or_else(last_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], expected: &[(u64, &str)]) {
        let mut paths: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        paths.sort();
        let found = numbered(paths);
        let found: Vec<(u64, &str)> =
            found.iter().map(|file| (file.rank, file.path.to_str().unwrap_or_default())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn ranks_are_read_from_names() {
        check(&["rank_10.csv", "rank_2.csv"], &[(2, "rank_2.csv"), (10, "rank_10.csv")]);
        check(
            &["a-rank3-step7.pickle", "a-rank0-step7.pickle"],
            &[(0, "a-rank0-step7.pickle"), (3, "a-rank3-step7.pickle")],
        );
        check(&["dev1.csv.zst", "dev0.csv.zst"], &[(0, "dev0.csv.zst"), (1, "dev1.csv.zst")]);
    }

    #[test]
    fn names_without_ranks_are_numbered_in_order() {
        check(&["b.csv", "a.csv"], &[(0, "a.csv"), (1, "b.csv")]);
        check(&["b1.csv", "a1.csv"], &[(0, "a1.csv"), (1, "b1.csv")]);
    }
}

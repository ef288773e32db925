//! Which known key an unknown name probably stands for.
//!
//! Knows edit distance. Refuses to guess when the name is far from every key or absurdly long.

use super::key::ConfigKey;

/// Longer names, in letters and digits, are not compared: no key has half as many.
pub(crate) const MAX_COMPARED: usize = 64;

/// One edit for each so many characters of the longer name is near enough.
pub(crate) const CHARS_PER_EDIT: usize = 3;

/// Returns the key with the smallest edit distance, the earlier one on a tie.
///
/// Letters and digits are compared without case, and nothing else counts, so that
/// `max_split_size` meets `kMaxSplitSizeBytes`. Cost: at most eleven tables of 64 × 25 cells.
pub(super) fn nearest_key(name: &str) -> Option<ConfigKey> {
    let name = significant(name);
    if name.is_empty() || name.len() > MAX_COMPARED {
        return None;
    }
    let near = ConfigKey::ALL.into_iter().filter_map(|key| {
        let known = significant(key.name());
        let allowed = name.len().max(known.len()) / CHARS_PER_EDIT;
        if name.len().abs_diff(known.len()) > allowed {
            return None;
        }
        let distance = edit_distance(&name, &known);
        (distance <= allowed).then_some((distance, key))
    });
    near.min_by_key(|&(distance, _)| distance).map(|(_, key)| key)
}

/// The letters and digits of a name in lower case, one more than are compared at most.
pub(crate) fn significant(name: &str) -> Vec<char> {
    let compared = name.chars().filter(|char| char.is_alphanumeric()).take(MAX_COMPARED + 1);
    compared.map(|char| char.to_ascii_lowercase()).collect()
}

/// Levenshtein's distance: insertions, deletions and replacements that turn one into the other.
pub(crate) fn edit_distance(left: &[char], right: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (left_idx, left_char) in left.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = left_idx + 1;
        for (right_idx, right_char) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(left_char != right_char);
            diagonal = row[right_idx + 1];
            row[right_idx + 1] = replaced.min(diagonal + 1).min(row[right_idx] + 1);
        }
    }
    row[right.len()]
}

//! Which known name an unknown one probably stands for.
//!
//! Knows that long names share their first words, so that only the rest tells them apart. Refuses to
//! guess at a name that is far from all others or absurdly long.

use super::elsewhere;
use super::variable::Variable;
use crate::allocator::{CHARS_PER_EDIT, MAX_COMPARED, edit_distance, significant};

/// First words, as `significant` leaves them; longer ones stand before those that start them.
const BRANDS: [&str; 7] =
    ["torchneuronx", "torchneuron", "torch", "neuronxrt", "neuronrt", "neuronx", "neuron"];

/// Whole names that differ by so little are near whatever their first words are.
const SMALL_SLIP: usize = 2;

/// A last word that is missing counts as so many differences.
const MISSING_WORD: usize = 3;

/// Returns the known name that is nearest, the earlier one on a tie.
///
/// The rest of a name, behind words such as `TORCH_NEURONX_`, may differ in a third of its letters,
/// have its words in another order or lack the last word; other first words count as one more
/// difference.
/// Cost: a table of 64 × 64 cells for each known name of similar length.
pub(super) fn nearest_name(name: &str) -> Option<&'static str> {
    let spelling = Spelling::of(name)?;
    let registered = Variable::all().map(Variable::name);
    let elsewhere = elsewhere::TOOLS.iter().chain(elsewhere::OTHER_BUILDS).copied();
    let near = registered.chain(elsewhere).filter_map(|known| {
        let distance = spelling.distance(&Spelling::of(known)?).or(lacks_last_word(name, known));
        Some((distance?, known))
    });
    near.min_by_key(|&(distance, _)| distance).map(|(_, known)| known)
}

/// Returns the nearest of a few words. Cost: as above.
pub(super) fn nearest_word(text: &str, words: &[&'static str]) -> Option<&'static str> {
    let text = compared(text)?;
    let near = words.iter().filter_map(|&word| {
        let known = significant(word);
        let distance = bounded_distance(&text, &known, text.len().max(known.len()) / CHARS_PER_EDIT)?;
        Some((distance, word))
    });
    near.min_by_key(|&(distance, _)| distance).map(|(_, word)| word)
}

/// A name as it is compared.
struct Spelling {
    /// Letters and digits in lower case.
    letters: Vec<char>,
    /// How many of the letters are first words.
    brand: usize,
    /// The words in order of the alphabet.
    words: Vec<String>,
}

impl Spelling {
    fn of(name: &str) -> Option<Self> {
        let letters = compared(name)?;
        let text: String = letters.iter().collect();
        let brand = BRANDS.iter().find(|brand| text.starts_with(**brand)).map_or(0, |brand| brand.len());
        let mut words: Vec<_> = name.split('_').map(str::to_ascii_lowercase).collect();
        words.sort();
        Some(Self { letters, brand, words })
    }

    /// The number of differences, when it is small enough.
    fn distance(&self, known: &Self) -> Option<usize> {
        if self.words == known.words {
            return Some(0);
        }
        let whole = bounded_distance(&self.letters, &known.letters, SMALL_SLIP);
        if whole.is_some() || self.brand == 0 || known.brand == 0 {
            return whole;
        }
        let (rest, known_rest) = (&self.letters[self.brand..], &known.letters[known.brand..]);
        let other_brand = usize::from(self.letters[..self.brand] != known.letters[..known.brand]);
        let allowed = (rest.len().max(known_rest.len()) / CHARS_PER_EDIT).checked_sub(other_brand)?;
        Some(bounded_distance(rest, known_rest, allowed)? + other_brand)
    }
}

fn lacks_last_word(name: &str, known: &str) -> Option<usize> {
    let word = known.strip_prefix(name)?.strip_prefix('_')?;
    (!word.contains('_')).then_some(MISSING_WORD)
}

/// The significant letters, unless there are none or too many.
fn compared(name: &str) -> Option<Vec<char>> {
    let letters = significant(name);
    (1..=MAX_COMPARED).contains(&letters.len()).then_some(letters)
}

fn bounded_distance(left: &[char], right: &[char], allowed: usize) -> Option<usize> {
    if left.len().abs_diff(right.len()) > allowed {
        return None;
    }
    Some(edit_distance(left, right)).filter(|&distance| distance <= allowed)
}

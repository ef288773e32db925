//! Texts into values, by the type of the variable.
//!
//! Knows the formats. Refuses to fail as a whole where single items can be dropped, and to know
//! defaults.

use std::ffi::OsStr;
use std::path::PathBuf;

use super::kind::{BoolRule, IntRange, Items, Kind};
use super::problem::ValueProblem;
use super::suggestion::nearest_word;
use super::value::Value;
use crate::MAX_ITEM_FINDINGS;
use crate::allocator::quote;

/// A value beside what is wrong with single items of it.
#[derive(Debug)]
pub(super) struct Accepted {
    pub(super) value: Value,
    pub(super) items: Vec<BadItem>,
    /// How many bad items are not in `items`.
    pub(super) more: usize,
}

/// One item that was not taken, or was with a remark.
#[derive(Debug)]
pub(super) struct BadItem {
    /// Quoted.
    pub(super) text: String,
    pub(super) problem: ValueProblem,
    pub(super) is_kept: bool,
}

/// Whether the nearest word is looked for, which costs more than all else.
#[derive(Clone, Copy)]
enum Hint {
    Nearest,
    /// For problems that are only counted.
    None,
}

/// Reads a text that is set; an empty one too, which the caller may treat apart.
///
/// A list of which no item is good is an error like any other bad value. Cost: O(length).
pub(super) fn parse(kind: Kind, text: &OsStr) -> Result<Accepted, ValueProblem> {
    if kind == Kind::Bool(BoolRule::OnlyOneEnables) {
        return Ok(Accepted::whole(Value::Bool(text == "1")));
    }
    if kind == Kind::Path {
        return path(text);
    }
    if kind == Kind::AllocatorKeys {
        return Ok(Accepted::whole(Value::Text(text.to_string_lossy().into_owned())));
    }
    let text = text.to_str().ok_or(ValueProblem::NotUnicode)?;
    match kind {
        Kind::Bool(BoolRule::ZeroOrOne) => zero_or_one(text).map(Value::Bool).map(Accepted::whole),
        Kind::Bool(_) => switch(text.trim()).map(Value::Bool).map(Accepted::whole),
        Kind::Int(range) => int(text.trim(), range).map(Value::Int).map(Accepted::whole),
        Kind::Choice(words) => choice(text.trim(), words).map(Accepted::whole),
        Kind::List(items) => list(text, items),
        Kind::Text | Kind::Path | Kind::AllocatorKeys => Ok(Accepted::whole(Value::Text(text.to_owned()))),
    }
}

/// Splits a list into its items, trimmed; an empty text is one empty item.
pub(crate) fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim)
}

/// Reads a trimmed `7` or `2-5` into its first and last number, which are in order and at most the limit.
pub(crate) fn item_range(item: &str, maximum: u32) -> Result<(u32, u32), ValueProblem> {
    if item.is_empty() {
        return Err(ValueProblem::EmptyItem);
    }
    let range = IntRange::between(0, u64::from(maximum));
    let number = |text: &str| -> Result<u32, ValueProblem> {
        let number = int(text.trim(), range)?;
        u32::try_from(number).map_err(|_| ValueProblem::OutOfRange(range))
    };
    let Some((first, last)) = item.split_once('-') else {
        let single = number(item)?;
        return Ok((single, single));
    };
    let (first, last) = (number(first)?, number(last)?);
    if first > last { Err(ValueProblem::ReversedRange) } else { Ok((first, last)) }
}

impl Accepted {
    fn whole(value: Value) -> Self {
        Self { value, items: Vec::new(), more: 0 }
    }
}

fn path(text: &OsStr) -> Result<Accepted, ValueProblem> {
    if text.as_encoded_bytes().contains(&0) {
        return Err(ValueProblem::Nul);
    }
    Ok(Accepted::whole(Value::Path(PathBuf::from(text))))
}

fn zero_or_one(text: &str) -> Result<bool, ValueProblem> {
    match text {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(ValueProblem::NotZeroOrOne),
    }
}

fn switch(text: &str) -> Result<bool, ValueProblem> {
    let is = |words: [&str; 4]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is(["1", "true", "on", "yes"]) {
        Ok(true)
    } else if is(["0", "false", "off", "no"]) {
        Ok(false)
    } else {
        Err(ValueProblem::NotSwitch)
    }
}

fn int(text: &str, range: IntRange) -> Result<u64, ValueProblem> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number: Option<u64> = if is_plain { text.parse().ok() } else { None };
    let number = number.ok_or(ValueProblem::NotWholeNumber)?;
    let is_within = (range.minimum..=range.maximum).contains(&number);
    if is_within && number.is_multiple_of(range.multiple_of) {
        Ok(number)
    } else {
        Err(ValueProblem::OutOfRange(range))
    }
}

fn choice(text: &str, words: &'static [&'static str]) -> Result<Value, ValueProblem> {
    word(text, words, Hint::Nearest).map(|()| Value::Text(text.to_owned()))
}

fn word(text: &str, words: &'static [&'static str], hint: Hint) -> Result<(), ValueProblem> {
    if words.contains(&text) {
        return Ok(());
    }
    let nearest = match hint {
        Hint::Nearest => nearest_word(text, words),
        Hint::None => None,
    };
    Err(ValueProblem::NotOneOf { words, nearest })
}

fn list(text: &str, kind: Items) -> Result<Accepted, ValueProblem> {
    if text.is_empty() {
        return Ok(Accepted::whole(Value::List(Vec::new())));
    }
    let mut good = Vec::new();
    let mut bad = Vec::new();
    let mut more = 0;
    let mut first_problem = None;
    for item in items(text) {
        let is_full = bad.len() == MAX_ITEM_FINDINGS;
        let problem = item_problem(item, kind, if is_full { Hint::None } else { Hint::Nearest });
        let is_kept = problem.is_none() || (matches!(kind, Items::OpenWords(_)) && !item.is_empty());
        if is_kept {
            good.push(item.to_owned());
        }
        let Some(problem) = problem else { continue };
        first_problem = first_problem.or(Some(problem));
        if is_full {
            more += 1;
        } else {
            bad.push(BadItem { text: quote(item), problem, is_kept });
        }
    }
    match first_problem {
        Some(problem) if good.is_empty() => Err(problem),
        _ => Ok(Accepted { value: Value::List(good), items: bad, more }),
    }
}

fn item_problem(item: &str, kind: Items, hint: Hint) -> Option<ValueProblem> {
    if item.is_empty() {
        return Some(ValueProblem::EmptyItem);
    }
    match kind {
        Items::Words(words) | Items::OpenWords(words) => word(item, words, hint).err(),
        Items::Ranges(maximum) => item_range(item, maximum).err(),
        Items::Numbers(maximum) => match item_range(item, maximum) {
            Ok(_) if item.contains('-') => Some(ValueProblem::RangeNotAccepted),
            outcome => outcome.err(),
        },
    }
}

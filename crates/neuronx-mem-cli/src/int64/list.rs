//! Lists of operators: a name a line, with a number of calls before it, as `uniq -c` has it, or behind.

/// The name and the number of calls of a line; `None` for a blank or a comment.
pub(super) fn parse(line: &str) -> Result<Option<(&str, u64)>, String> {
    let line = line.split_once('#').map_or(line, |(line, _)| line);
    let words: Vec<&str> = line.split_whitespace().collect();
    let (name, n_calls) = match words[..] {
        [] => return Ok(None),
        [name] => (name, 1),
        [first, second] => match (number(first), number(second)) {
            (Some(n_calls), None) => (second, n_calls),
            (None, Some(n_calls)) => (first, n_calls),
            _ => return Err(format!("`{}` is no operator with a number of calls", shown(line))),
        },
        _ => return Err(format!("`{}` is no operator with a number of calls", shown(line))),
    };
    if name.contains(',') {
        return Err(format!("`{}` is no name of an operator; a trace in CSV names none", shown(name)));
    }
    if !is_name(name) {
        return Err(format!("`{}` is no name of an operator", shown(name)));
    }
    Ok(Some((name, n_calls)))
}

/// Letters, digits, underscores, dots and colons, with at least one letter.
pub(super) fn is_name(name: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "_.:".contains(letter);
    name.chars().all(fits) && name.chars().any(|letter| letter.is_ascii_alphabetic())
}

fn number(word: &str) -> Option<u64> {
    word.parse().ok()
}

/// As much as fits into a message.
fn shown(text: &str) -> String {
    let text = text.trim();
    if text.chars().count() <= 60 { text.to_owned() } else { text.chars().take(60).chain(['…']).collect() }
}

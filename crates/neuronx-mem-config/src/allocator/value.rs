//! One value: plain decimal digits, or a finding that says what was probably meant.
//!
//! Knows the number format of the environment variables reference. Refuses every other spelling,
//! even where its meaning is clear: a guess is offered in words and never put in force.

use super::finding::Finding;
use super::key::ConfigKey;
use super::piece::Piece;
use super::quote::quote;
use super::specification::KeyKind;

/// Longer values are not guessed at.
const MAX_GUESSED_BYTES: usize = 64;

/// Decimal places that a guess takes into account; 10^18 is the largest power in 64 bits but one.
const MAX_DECIMALS: usize = 18;

/// Reads the trimmed value of a key; the range of the key is not checked here.
pub(super) fn read_value(key: ConfigKey, value: Piece<'_>) -> Result<u64, Finding> {
    let text = value.text;
    let position = value.position();
    if text.contains('=') {
        return Err(Finding::EqualsInValue { key, text: quote(text), position });
    }
    if is_digits(text) {
        return text.parse().map_err(|_| Finding::Overflow { key, text: quote(text), position });
    }
    let acceptable = |number: &u64| key.check(*number).is_ok();
    if key.kind() == KeyKind::Bytes
        && let Some((number, unit)) = split_size(text)
    {
        let meant = exact_bytes(number, unit).filter(acceptable);
        return Err(Finding::SizeSuffix { key, text: quote(text), meant, position });
    }
    let meant = plain_number(text).filter(acceptable);
    Err(Finding::NotDecimal { key, text: quote(text), meant, position })
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Splits `1.5 GB` into `1.5` and the bytes of one GB; none when it has not that form.
fn split_size(text: &str) -> Option<(&str, u64)> {
    if text.len() > MAX_GUESSED_BYTES || !text.starts_with(|char: char| char.is_ascii_digit()) {
        return None;
    }
    let end = text.find(|char: char| !char.is_ascii_digit() && char != '.')?;
    let (number, unit) = text.split_at(end);
    Some((number, unit_bytes(unit.trim_start())?))
}

/// Bytes of one unit. Units are powers of 1024 however they are spelled: MB means MiB here.
fn unit_bytes(unit: &str) -> Option<u64> {
    let exponent = match unit.to_ascii_lowercase().as_str() {
        "b" | "byte" | "bytes" => 0,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        "t" | "tb" | "tib" => 4,
        "p" | "pb" | "pib" => 5,
        _ => return None,
    };
    Some(1 << (10 * exponent))
}

/// Multiplies without rounding; none when the product is no whole number of 64 bits.
fn exact_bytes(number: &str, unit: u64) -> Option<u64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let decimals = decimals.trim_end_matches('0');
    if decimals.len() > MAX_DECIMALS {
        return None;
    }
    let scale = 10_u128.pow(u32::try_from(decimals.len()).ok()?);
    let whole: u64 = whole.parse().ok()?;
    let fraction: u64 = if decimals.is_empty() { 0 } else { decimals.parse().ok()? };
    let scaled = u128::from(whole) * scale + u128::from(fraction);
    let product = scaled.checked_mul(u128::from(unit))?;
    if product % scale != 0 {
        return None;
    }
    u64::try_from(product / scale).ok()
}

/// Reads `+5`, `1_000`, `0x10` and the reference's own `SIZE_MAX`.
fn plain_number(text: &str) -> Option<u64> {
    if text.len() > MAX_GUESSED_BYTES {
        return None;
    }
    if text == "SIZE_MAX" {
        return Some(u64::MAX);
    }
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        return if is_hexadecimal { u64::from_str_radix(digits, 16).ok() } else { None };
    }
    let digits = text.strip_prefix('+').unwrap_or(text).replace('_', "");
    if is_digits(&digits) { digits.parse().ok() } else { None }
}

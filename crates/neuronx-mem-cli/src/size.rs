//! Sizes on the command line: plain bytes, or a number and a unit. Exact or refused.

use bytesize::{ByteSize, Unit};

/// Why a text is no size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SizeError {
    #[error("a size must be more than 0 bytes")]
    Zero,
    #[error("a size is whole bytes such as 25769803776, or a number and a unit such as 24GiB")]
    NotASize,
    #[error("a size must be a whole number of bytes")]
    Fraction,
    #[error("a size must fit 64 bits")]
    Overflow,
}

/// Reads `25769803776`, `24GiB`, `512 MiB`, `1.5GiB`, `24GB` (decimal).
pub(crate) fn parse_size(text: &str) -> Result<u64, SizeError> {
    let text = text.trim();
    let n_number = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at(n_number);
    let unit_bytes = unit_bytes(unit.trim_start())?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let bytes = digits(whole)?.checked_mul(unit_bytes).ok_or(SizeError::Overflow)?;
    match bytes.checked_add(part_of(fraction, unit_bytes)?) {
        None => Err(SizeError::Overflow),
        Some(0) => Err(SizeError::Zero),
        Some(bytes) => Ok(bytes),
    }
}

/// Bytes of one unit, by the names that bytesize knows.
fn unit_bytes(unit: &str) -> Result<u64, SizeError> {
    if unit.is_empty() {
        return Ok(1);
    }
    unit.parse::<Unit>().map_err(|_| SizeError::NotASize)?;
    let ByteSize(bytes) = format!("1{unit}").parse().map_err(|_| SizeError::NotASize)?;
    Ok(bytes)
}

fn digits(text: &str) -> Result<u64, SizeError> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(SizeError::NotASize);
    }
    text.parse().map_err(|_| SizeError::Overflow)
}

/// The digits after the point, in bytes. Parsing to a float would round.
fn part_of(fraction: &str, unit_bytes: u64) -> Result<u64, SizeError> {
    let digits = digits(fraction.trim_end_matches('0')).or_else(|error| {
        let is_zero = !fraction.is_empty() && fraction.bytes().all(|byte| byte == b'0');
        if is_zero { Ok(0) } else { Err(error) }
    })?;
    let n_digits = fraction.trim_end_matches('0').len();
    let scale =
        u32::try_from(n_digits).ok().and_then(|n| 10u128.checked_pow(n)).ok_or(SizeError::Fraction)?;
    let scaled = u128::from(digits) * u128::from(unit_bytes);
    if scaled % scale != 0 {
        return Err(SizeError::Fraction);
    }
    u64::try_from(scaled / scale).map_err(|_| SizeError::Overflow)
}

#[cfg(test)]
mod tests;

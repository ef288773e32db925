//! Sizes as the runtime prints them: `20.188GB`, where units are powers of 1024.

/// The bytes, rounded to whole ones; `None` for `n/a` and for what is no size.
pub(super) fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let n_number = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at(n_number);
    let shift = match unit.trim().to_ascii_uppercase().as_str() {
        "B" | "BYTES" => 0,
        "KB" | "KIB" => 10,
        "MB" | "MIB" => 20,
        "GB" | "GIB" => 30,
        "TB" | "TIB" => 40,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = whole.parse().ok().filter(|whole| *whole < 1 << 20)?;
    if fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let scale = 10_u64.pow(u32::try_from(fraction.len()).ok()?);
    let parts: u64 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    // Half a byte more, so that what was cut off does not lose one.
    let part_bytes = (u128::from(parts) << shift) + u128::from(scale / 2);
    Some((whole << shift) + u64::try_from(part_bytes / u128::from(scale)).ok()?)
}

/// Whether a printed size may be this exact one: three digits behind the point were kept.
pub(super) fn is_about(printed: u64, exact: u64) -> bool {
    printed.abs_diff(exact) <= exact / 500 + 1
}

//! Sizes and counts as the summary prints them. Whole units, no locale.

/// Formats bytes as whole units of 1024: `0 B`, `12 MiB`, `1,023 GiB`.
///
/// Divides while the value is 1024 or more, up to PiB, and rounds half to even.
///
/// ```
/// use neuronx_mem_stats::format_size;
///
/// assert_eq!(format_size(79_691_776), "76 MiB");
/// assert_eq!(format_size(1536), "2 KiB"); // 1.5, to even
/// assert_eq!(format_size(2560), "2 KiB"); // 2.5, to even
/// ```
#[must_use]
pub fn format_size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut shift = 0;
    while bytes >> shift >= 1024 && shift < 50 {
        shift += 10;
    }
    let unit = UNITS[shift / 10];
    let (whole, rest) = (bytes >> shift, bytes & ((1u64 << shift) - 1));
    let half = (1u64 << shift) / 2;
    let is_up = shift > 0 && (rest > half || (rest == half && !whole.is_multiple_of(2)));
    format!("{} {unit}", format_count(whole + u64::from(is_up)))
}

/// Formats a count with thousands separators.
///
/// ```
/// assert_eq!(neuronx_mem_stats::format_count(1_234_567), "1,234,567");
/// ```
#[must_use]
pub fn format_count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

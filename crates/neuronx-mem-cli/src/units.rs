//! Figures for people: exact, with a rounded one beside it.

use bytesize::ByteSize;
use neuronx_mem::stats::format_count;

/// `79,691,776 bytes (76.0 MiB)`.
pub(crate) fn bytes(bytes: u64) -> String {
    let exact = format_count(bytes);
    if bytes < 1024 {
        format!("{exact} bytes")
    } else {
        format!("{exact} bytes ({})", ByteSize(bytes).display().iec())
    }
}

/// `76.0 MiB`: for tables, where an exact figure would hide the others.
pub(crate) fn short(bytes: u64) -> String {
    if bytes < 1024 { format!("{bytes} B") } else { ByteSize(bytes).display().iec().to_string() }
}

/// How much more or less than `base`, in percent: `-12.3 %`.
pub(crate) fn change(base: u64, value: u64) -> String {
    if base == 0 {
        return String::new();
    }
    let percent = (value as f64 - base as f64) / base as f64 * 100.0;
    format!("{percent:+.1} %")
}

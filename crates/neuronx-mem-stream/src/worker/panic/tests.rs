//! Which texts survive a panic.

use std::panic;

use super::{MAX_PANIC_BYTES, guarded};

#[track_caller]
fn check(run: impl FnOnce(), expected: &str) {
    assert_eq!(guarded(run), Err(expected.to_owned()));
}

struct PanicsAsItDrops;

impl Drop for PanicsAsItDrops {
    fn drop(&mut self) {
        panic!("second");
    }
}

#[test]
fn the_text_of_a_panic_is_kept_and_bounded() {
    assert_eq!(guarded(|| 7), Ok(7));
    check(|| panic!("fixed"), "fixed");
    check(|| panic!("block {}", 3), "block 3");
    check(|| panic::panic_any(5_u8), "the payload is not a text");
    check(|| panic::panic_any(PanicsAsItDrops), "the payload is not a text");
    check(|| panic::panic_any("x".repeat(1000)), &"x".repeat(MAX_PANIC_BYTES));
    // Three bytes a character: 85 of them fit in 256 bytes.
    check(|| panic::panic_any("段".repeat(1000)), &"段".repeat(85));
}

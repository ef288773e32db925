//! Keeps foreign code that panics from taking the worker's thread with it. The panic hook still
//! runs: what it prints is not this crate's.

use std::any::Any;
use std::mem;
use std::panic::{self, AssertUnwindSafe};

/// Longest text kept of a panic, in bytes; a longer one is cut at a character.
pub const MAX_PANIC_BYTES: usize = 256;

/// Runs foreign code once; a panic comes back as its text.
pub(super) fn guarded<R>(run: impl FnOnce() -> R) -> Result<R, String> {
    // What the code leaves half done is its own; of the worker it touches nothing.
    panic::catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let message = message_of(payload.as_ref());
        discard_payload(payload);
        message
    })
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&'static str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    bounded(text.unwrap_or("the payload is not a text")).to_owned()
}

fn bounded(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_PANIC_BYTES)]
}

/// A payload may panic as it drops; then its own payload is leaked rather than tried again.
fn discard_payload(payload: Box<dyn Any + Send>) {
    if let Err(second) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(second);
    }
}

#[cfg(test)]
mod tests;

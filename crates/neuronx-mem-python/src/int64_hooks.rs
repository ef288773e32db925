//! What the PyTorch backend asks about `int64` while a program runs: how the mode in force computes an
//! operator, whether values survive that, and what is left of them.
//!
//! A table of C functions, because the backend is C++ and never takes Python's lock for it. Knows no
//! operator: the crate `neuronx-mem-int64` does. Reads the mode once, from the environment.

#![expect(unsafe_code, reason = "C functions that take pointers, each with its proof")]

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::sync::OnceLock;

use neuronx_mem::config::{Environment, Int64Settings};
use neuronx_mem_int64::{Arithmetic, Int64Error, Int64Policy, Operand, Values, kernels, route};
use pyo3::prelude::*;

/// How the mode in force runs one operator on `int64`. Each field is 0 or 1.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Arithmetic sees low words: of all `int64` operands, or of the index only.
    takes_low_words: u8,
    /// Of the operands, only positions are computed with.
    is_index: u8,
    /// `int64` results are low words as well.
    gives_low_words: u8,
    /// Values outside `int32` are an error.
    is_checked: u8,
}

/// The functions, for the backend. Fields are only added at the end.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hooks {
    struct_size: usize,
    /// The rule for an operator, named `aten::add.Tensor` or otherwise. Asked once an operator.
    rule: unsafe extern "C" fn(operator: *const c_char) -> Rule,
    /// `null` if all of `len` values are inside `int32`; otherwise why not, in one line that is valid
    /// until the next call on the same thread. Operand −1 is the result.
    find_overflow: unsafe extern "C" fn(
        operator: *const c_char,
        operand: i32,
        values: *const i64,
        len: usize,
    ) -> *const c_char,
    /// Whether all of `len` values are inside `int32`.
    is_inside: unsafe extern "C" fn(values: *const i64, len: usize) -> bool,
    /// Leaves of each value its low word, with its sign.
    truncate: unsafe extern "C" fn(values: *mut i64, len: usize),
}

static HOOKS: Hooks = Hooks { struct_size: size_of::<Hooks>(), rule, find_overflow, is_inside, truncate };

/// The policy of the process.
fn policy() -> Int64Policy {
    static POLICY: OnceLock<Int64Policy> = OnceLock::new();
    *POLICY.get_or_init(|| {
        let (settings, findings) = Int64Settings::from_environment(Environment::process());
        for finding in findings {
            tracing::warn!(target: "neuronx_mem::int64", "{finding}");
        }
        let (policy, _) = Int64Policy::from_values(Some(settings.mode.name()), settings.check_overflow);
        policy
    })
}

fn rule_of(operator: &str, policy: Int64Policy) -> Rule {
    let route = route(operator, policy);
    let is_computed = matches!(route.values(), Values::Computed);
    match route.arithmetic() {
        Arithmetic::LowWord => Rule {
            takes_low_words: u8::from(is_computed || route.values() == Values::Index),
            is_index: u8::from(route.values() == Values::Index),
            gives_low_words: u8::from(is_computed),
            is_checked: u8::from(route.is_checked),
        },
        // The cast takes the high word of whatever passes it.
        Arithmetic::Int32Cast => Rule { takes_low_words: 1, gives_low_words: 1, ..Rule::default() },
        _ => Rule::default(),
    }
}

/// # Safety
///
/// `operator` is a text that ends with 0.
unsafe extern "C" fn rule(operator: *const c_char) -> Rule {
    // SAFETY: by the contract.
    let operator = unsafe { CStr::from_ptr(operator) };
    rule_of(&operator.to_string_lossy(), policy())
}

/// # Safety
///
/// `operator` is a text that ends with 0, `values` has `len` values.
unsafe extern "C" fn find_overflow(
    operator: *const c_char,
    operand: i32,
    values: *const i64,
    len: usize,
) -> *const c_char {
    thread_local! {
        static REASON: RefCell<CString> = RefCell::default();
    }
    // SAFETY: by the contract.
    let operator = unsafe { CStr::from_ptr(operator) };
    // SAFETY: by the contract.
    let values = unsafe { slice(values, len) };
    let found = kernels::scan(values);
    let Some(first) = found.first else { return std::ptr::null() };
    let error = Int64Error::Overflow {
        operator: operator.to_string_lossy().into_owned(),
        operand: usize::try_from(operand).map_or(Operand::Output, Operand::Input),
        index: first.index,
        value: first.value,
        count: found.count,
    };
    REASON.with_borrow_mut(|reason| {
        // The message has no zero byte: the operator's name came without one.
        *reason = CString::new(error.to_string()).unwrap_or_default();
        reason.as_ptr()
    })
}

/// # Safety
///
/// `values` has `len` values.
unsafe extern "C" fn is_inside(values: *const i64, len: usize) -> bool {
    // SAFETY: by the contract.
    kernels::scan(unsafe { slice(values, len) }).is_clean()
}

/// # Safety
///
/// `values` has `len` values, which nobody else uses.
unsafe extern "C" fn truncate(values: *mut i64, len: usize) {
    if len > 0 {
        // SAFETY: by the contract; not empty, so not null.
        kernels::truncate(unsafe { std::slice::from_raw_parts_mut(values, len) });
    }
}

/// # Safety
///
/// `values` has `len` values for as long as the result is used.
unsafe fn slice<'a>(values: *const i64, len: usize) -> &'a [i64] {
    if len == 0 {
        return &[];
    }
    // SAFETY: by the contract; not empty, so not null.
    unsafe { std::slice::from_raw_parts(values, len) }
}

/// The address of the table of functions about `int64`.
#[pyfunction]
pub(crate) fn int64_hooks() -> usize {
    &raw const HOOKS as usize
}

/// The mode in force and whether the packed view is checked.
#[pyfunction]
pub(crate) fn int64_policy() -> (&'static str, bool) {
    (policy().mode.name(), policy().check_overflow)
}

#[cfg(test)]
mod tests {
    use neuronx_mem_int64::Int64Mode;

    use super::*;

    fn rules(operator: &str, mode: Int64Mode) -> [u8; 4] {
        let rule = rule_of(operator, Int64Policy::new(mode, true));
        [rule.takes_low_words, rule.is_index, rule.gives_low_words, rule.is_checked]
    }

    #[test]
    fn rules_follow_the_mode() {
        assert_eq!(rules("aten::add.Tensor", Int64Mode::Native), [0, 0, 0, 0]);
        assert_eq!(rules("aten::add.Tensor", Int64Mode::Packed), [1, 0, 1, 1]);
        assert_eq!(rules("aten::cat", Int64Mode::Packed), [0, 0, 0, 0]);
        assert_eq!(rules("aten::gather", Int64Mode::Packed), [1, 1, 0, 1]);
        assert_eq!(rules("aten::cat", Int64Mode::CpuBounce), [1, 0, 1, 0]);
        assert_eq!(rules("aten::view", Int64Mode::CpuBounce), [0, 0, 0, 0]);
        assert_eq!(rules("aten::add.Tensor", Int64Mode::CpuFallback), [0, 0, 0, 0]);
    }

    #[test]
    fn an_overflow_is_named() {
        // SAFETY: a text with its end, and as many values as said.
        let reason = unsafe { find_overflow(c"aten::add".as_ptr(), -1, [1, 1 << 31].as_ptr(), 2) };
        assert!(!reason.is_null());
        // SAFETY: just made on this thread.
        let reason = unsafe { CStr::from_ptr(reason) }.to_str();
        assert_eq!(
            reason,
            Ok("aten::add: result, element 1: 2147483648 is outside the range of int32 (1 such value), \
                and the packed view computes with the low 32 bits")
        );
        // SAFETY: as before.
        assert!(unsafe { find_overflow(c"aten::add".as_ptr(), 0, [1, -1].as_ptr(), 2) }.is_null());
    }

    #[test]
    fn low_words_are_what_is_left() {
        let mut values = [(1 << 32) + 5, -1, 1 << 31];
        // SAFETY: as many values as said.
        unsafe { truncate(values.as_mut_ptr(), 3) };
        assert_eq!(values, [5, -1, -(1 << 31)]);
    }
}

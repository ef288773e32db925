//! Compiles and runs the README's example; holds nothing else.

#[doc = include_str!("../../../README.md")]
struct Readme;

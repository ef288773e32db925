//! The crate's README, compiled with the examples. Holds nothing of its own.
#![doc = include_str!("../README.md")]

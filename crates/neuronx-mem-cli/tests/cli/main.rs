//! The command from outside, a verb or a group of verbs a file: what it prints where, and how it exits.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod budget;
mod cache;
mod command;
mod convert;
mod environment;
mod explain;
mod host;
mod int64;
mod numa;
mod support;
mod view;
mod view_terminal;
mod what_if;

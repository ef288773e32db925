//! The verb `cache`: looks at the directories of compiled code, and bounds them.

mod arguments;
mod check;
mod directories;
mod gc;

use std::process;

use neuronx_mem_cache::check::LockAttempt;

pub(crate) use arguments::CacheArguments;
use arguments::CacheVerb;

use crate::failure::Failure;
use crate::output::Answer;

pub(crate) fn run(arguments: &CacheArguments) -> Result<Answer, Failure> {
    match &arguments.action {
        CacheVerb::Check(arguments) => check::run(arguments),
        CacheVerb::Gc(arguments) => gc::run(arguments),
        CacheVerb::TryLock { file } => {
            // Ends with the lock in its hands, without unlocking: that is a part of the test.
            let (attempt, _held) = LockAttempt::of(file);
            process::exit(i32::from(attempt.exit_code()))
        }
    }
}

//! The verb `host`: contiguous host memory, before and after it runs out. Changes nothing on the host.

mod arguments;
mod check;
mod explain;
mod remedies;

pub(crate) use arguments::HostArguments;
use arguments::HostVerb;

use crate::failure::Failure;
use crate::output::Answer;

pub(crate) fn run(arguments: &HostArguments) -> Result<Answer, Failure> {
    match &arguments.action {
        HostVerb::Check(arguments) => check::run(arguments),
        HostVerb::Explain(arguments) => explain::run(arguments),
    }
}

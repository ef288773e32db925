//! The verb `numa`: whether a process is beside its device, and where the devices are.

mod arguments;
mod source;
mod status;
mod topology;

pub(crate) use arguments::NumaArguments;
use arguments::NumaVerb;

use crate::failure::Failure;
use crate::output::Answer;

pub(crate) fn run(arguments: &NumaArguments) -> Result<Answer, Failure> {
    match &arguments.action {
        None => status::run(&arguments.status),
        Some(NumaVerb::Status(arguments)) => status::run(arguments),
        Some(NumaVerb::Topology(arguments)) => topology::run(arguments),
    }
}

//! The verb `explain`: why memory is held at a moment, and what a request would take.

mod arguments;
mod object;
mod text;

use neuronx_mem_explain::{ExplainOptions, Explanation, Input, ReadOptions, usual_configs};

pub(crate) use arguments::{DeviceOf, ExplainArguments, device};
pub(crate) use text::{count, more};

use crate::config;
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::steps::warn_of_skipped;

/// Traces beyond this are not replayed once more for every configuration.
const MAX_TRIED_EVENTS: u64 = 3_000_000;

pub(crate) fn run(arguments: &ExplainArguments) -> Result<Answer, Failure> {
    let chosen = config::choose(arguments.config.as_deref())?;
    let read = ReadOptions { is_lenient: arguments.lenient, device_idx: arguments.device_idx() };
    let input = Input::read(&arguments.input(), &read)?;
    let is_tried = input.n_events() <= MAX_TRIED_EVENTS;
    let mut options = ExplainOptions::default();
    options.replay = arguments.replay_options();
    options.replay.config = chosen.config;
    options.moment = arguments.moment();
    options.need_bytes = arguments.need;
    options.need_stream = arguments.stream;
    options.least = arguments.least();
    options.configs = if is_tried { usual_configs() } else { Vec::new() };
    let explanation = Explanation::of(&input, &options)?;
    warn_of_skipped(input.name(), explanation.n_skipped);
    let text = if arguments.json {
        object::line(&input, &explanation, options.least)?
    } else {
        text::text(&input, &explanation, arguments, is_tried)
    };
    output::print(&text)?;
    let is_served = explanation.request.as_ref().is_none_or(|request| request.remedies.after_both);
    Ok(if is_served && explanation.out_of_memory.is_none() { Answer::Yes } else { Answer::No })
}

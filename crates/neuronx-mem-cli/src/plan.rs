//! The verb `plan`: how little memory a trace could do with, and a layout that comes close.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use neuronx_mem::AllocatorConfig;
use neuronx_mem_replay::TraceInput;
use neuronx_mem_tune::{
    Deviation, Figures, FollowedPlan, Plan, PlanOptions, Workload, evaluate, follow, plan,
};
use serde::Serialize;

use crate::arguments::MachineArguments;
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::{json, target, tune, units};

/// Of a thousand tensors, how many differ in the runs that show what a deviation costs.
const DEVIATIONS: [u64; 3] = [1, 10, 100];

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    /// Trace or snapshot to pack; `-` is standard input
    #[arg(value_name = "INPUT")]
    input: OsString,
    #[command(flatten)]
    machine: MachineArguments,
    /// Write the layout as CSV: birth event, death event, bytes, offset
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Another run of the same program, to be served by this plan
    #[arg(long, value_name = "TRACE")]
    against: Option<OsString>,
    /// Seconds after which the packing is not improved any more
    #[arg(long, value_name = "N", default_value_t = 30)]
    budget_s: u64,
    /// Skip and count wrong lines instead of refusing the trace
    #[arg(long)]
    lenient: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A run by the plan.
struct Followed {
    name: String,
    run: FollowedPlan,
}

pub(crate) fn run(arguments: &PlanArguments) -> Result<Answer, Failure> {
    let workload = tune::workload(&TraceInput::from_argument(&arguments.input), arguments.lenient)?;
    let mut options = PlanOptions::default();
    options.time_budget = Some(Duration::from_secs(arguments.budget_s));
    let plan = plan(&workload, &options);
    if let Some(path) = &arguments.output {
        target::write(path, |out| Ok(plan.write_csv(out)?))?;
    }
    let machine = arguments.machine.machine();
    let default = evaluate(&workload, &AllocatorConfig::default(), &machine, u64::MAX);
    let followed = followed(arguments, &plan, &workload)?;
    // The layout on standard output is the result then.
    if arguments.output.as_ref().is_some_and(|path| path.as_os_str() == "-") {
        return Ok(Answer::Yes);
    }
    let text = if arguments.json {
        object(&workload, &plan, &default, &followed)?
    } else {
        text(&workload, &plan, &default, &followed)
    };
    output::print(&text)?;
    Ok(Answer::Yes)
}

fn followed(arguments: &PlanArguments, plan: &Plan, workload: &Workload) -> Result<Vec<Followed>, Failure> {
    let mut followed =
        vec![Followed { name: "the planned run".to_owned(), run: follow(plan, workload, None)? }];
    for per_thousand in DEVIATIONS {
        let deviation = Deviation { per_thousand, seed: 0 };
        let name = format!("{per_thousand} in 1,000 tensors 1/8 larger");
        followed.push(Followed { name, run: follow(plan, workload, Some(deviation))? });
    }
    if let Some(other) = &arguments.against {
        let other = tune::workload(&TraceInput::from_argument(other), arguments.lenient)?;
        followed.push(Followed { name: other.name().to_owned(), run: follow(plan, &other, None)? });
    }
    Ok(followed)
}

fn text(workload: &Workload, plan: &Plan, default: &Figures, followed: &[Followed]) -> String {
    let online = if default.is_finished() {
        units::bytes(default.reserved_peak_bytes)
    } else {
        "out of memory".to_owned()
    };
    let rows = [
        ("Input", workload.name().to_owned()),
        ("Tensors", neuronx_mem::stats::format_count(workload.n_tensors())),
        ("Peak live", units::bytes(plan.live_peak_bytes)),
        ("Lower bound", units::bytes(plan.lower_bound_bytes) + ", in 64-byte granules"),
        ("Planned peak", units::bytes(plan.planned_peak_bytes)),
        ("Gap", format!("{:.2} %", plan.gap_percent())),
        ("Default reserves", online),
    ];
    let rows: String =
        rows.iter().map(|(name, value)| format!("{:<18} {value}\n", format!("{name}:"))).collect();
    let mut text = format!("{rows}\nFollowing the plan, the allocator serving what differs:\n");
    for Followed { name, run } in followed {
        let (n_fallback, n_all) = (run.n_fallback, run.n_fallback + run.n_planned);
        let more = units::change(plan.planned_peak_bytes, run.reserved_peak_bytes);
        text += &format!(
            "  {name:<33} reserved {}, {more}; {} of {} tensors elsewhere\n",
            units::bytes(run.reserved_peak_bytes),
            neuronx_mem::stats::format_count(n_fallback),
            neuronx_mem::stats::format_count(n_all),
        );
    }
    text
}

#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    input: &'a str,
    live_peak: u64,
    lower_bound: u64,
    planned_peak: u64,
    gap_percent: f64,
    default_reserved_peak: u64,
    default_num_ooms: u64,
    followed: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    run: &'a str,
    reserved_peak: u64,
    planned_tensors: u64,
    other_tensors: u64,
}

fn object(
    workload: &Workload,
    plan: &Plan,
    default: &Figures,
    followed: &[Followed],
) -> Result<String, Failure> {
    let rows = followed.iter().map(|Followed { name, run }| Row {
        run: name,
        reserved_peak: run.reserved_peak_bytes,
        planned_tensors: run.n_planned,
        other_tensors: run.n_fallback,
    });
    json::line(&Object {
        schema: json::SCHEMA,
        input: workload.name(),
        live_peak: plan.live_peak_bytes,
        lower_bound: plan.lower_bound_bytes,
        planned_peak: plan.planned_peak_bytes,
        gap_percent: plan.gap_percent(),
        default_reserved_peak: default.reserved_peak_bytes,
        default_num_ooms: default.num_ooms(),
        followed: rows.collect(),
    })
}

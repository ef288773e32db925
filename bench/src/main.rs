//! The benchmark program: every allocator over every workload in one run. Measures; judges only
//! the ratios that `claims.rs` states.

mod claims;
mod count;
mod host;
mod int64;
mod measure;
mod readings;
mod subject;
mod table;
mod threads;
mod workload;

use std::process::ExitCode;

use measure::Cell;
use workload::Workload;

const HELP: &str = "\
neuronx-mem-bench: allocators of address ranges, CPU time per operation

usage: neuronx-mem-bench [--json] [--check] [--filter TEXT] [--repetitions N]
       neuronx-mem-bench --count SUBJECT WORKLOAD REPEATS

  --json            one JSON object instead of the table
  --check           exit 1 unless every claimed ratio holds
  --filter TEXT     only workloads and subjects whose name contains TEXT
  --repetitions N   measurements per cell, at least 9 (default 11)
  --count S W N     run one cell N times and nothing else, for instruction counts
";

struct Options {
    is_json: bool,
    is_check: bool,
    filter: Option<String>,
    repetitions: usize,
}

impl Options {
    fn is_wanted(&self, workload: &str, subject: &str) -> bool {
        self.filter.as_ref().is_none_or(|text| workload.contains(text) || subject.contains(text))
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|argument| argument == "--count") {
        return count::run(&arguments[1..]);
    }
    let Some(options) = parse(&arguments) else {
        eprint!("{HELP}");
        return ExitCode::from(2);
    };
    let workloads = match Workload::all() {
        Ok(workloads) => workloads,
        Err(error) => {
            eprintln!("neuronx-mem-bench: {error}");
            return ExitCode::from(2);
        }
    };
    let cells = measure_all(&workloads, &options);
    let kernels =
        int64::measure(|workload, subject| options.is_wanted(workload, subject), options.repetitions);
    if options.is_json {
        println!("{}", table::json(&[&cells[..], &kernels].concat()));
    } else {
        for cells in [&cells, &kernels].into_iter().filter(|cells| !cells.is_empty()) {
            println!("{}\n", table::markdown(cells));
        }
    }
    let mut verdicts = claims::verdicts(&cells);
    verdicts.extend(int64::verdicts(&kernels));
    verdicts.extend(host::verdicts(&cells));
    if !options.is_json {
        verdicts.iter().for_each(|verdict| println!("{verdict}"));
    }
    let has_failed = verdicts.iter().any(|verdict| !verdict.holds);
    ExitCode::from(u8::from(options.is_check && has_failed))
}

fn measure_all(workloads: &[Workload], options: &Options) -> Vec<Cell> {
    let is_wanted = |workload: &str, subject: &str| options.is_wanted(workload, subject);
    let mut cells = Vec::new();
    for workload in workloads {
        let subjects: Vec<&str> =
            subject::NAMES.into_iter().filter(|name| is_wanted(&workload.name, name)).collect();
        cells.extend(measure::workload(workload, &subjects, options.repetitions));
        eprintln!("measured {}", workload.name);
    }
    for subject in ["facade, 1 thread", "facade, 2 threads"] {
        if is_wanted("1k random", subject) {
            cells.push(threads::measure(subject, options.repetitions));
        }
    }
    for subject in readings::NAMES {
        if is_wanted(readings::WORKLOAD, subject) {
            cells.push(readings::measure(subject, options.repetitions));
        }
    }
    cells.extend(host::measure(&|subject| is_wanted(host::WORKLOAD, subject), options.repetitions));
    cells
}

fn parse(arguments: &[String]) -> Option<Options> {
    let mut options = Options { is_json: false, is_check: false, filter: None, repetitions: 11 };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--json" => options.is_json = true,
            "--check" => options.is_check = true,
            "--filter" => options.filter = Some(rest.next()?.clone()),
            "--repetitions" => options.repetitions = rest.next()?.parse().ok().filter(|n| *n >= 9)?,
            _ => return None,
        }
    }
    Some(options)
}

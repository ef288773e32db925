//! Models of concurrent code: the unit tests below `model` of the crates that have some, built for the
//! model checker, which runs each in every order of its threads.
//!
//! Knows how they are built and what their names promise. The full space and a bounded one are told
//! apart by the ending of the name, which the test's own setting has to match.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::binaries::{Binary, binary_of};
use super::outcome::Outcome;
use super::selection::Selection;
use crate::failure::Failure;
use crate::process::{self, Captured};
use crate::steps::seconds;
use crate::workspace::{Workspace, feature_arguments};

/// Crates with models.
const CRATES: &[&str] = &["neuronx-mem-stats", "neuronx-mem-stream"];

/// Shows the code to the checker: its locks and atomics replace the real ones.
const FLAGS: &str = "--cfg loom";

/// A folder of its own, so that the flag does not rebuild everything each time. Below the root.
const FOLDER: &str = "target/loom";

/// The module whose tests are models.
const MODULE: &str = "model::";

/// One model.
#[derive(Debug, Clone)]
struct Model {
    package: String,
    binary: Binary,
    /// The test's whole name.
    test: String,
}

/// Runs the models of the selected crates, as many at a time as there are processors.
pub(super) fn run(workspace: &Workspace, selection: &Selection<'_>) -> Result<Outcome, Failure> {
    let members: Vec<_> =
        selection.members().iter().filter(|member| CRATES.contains(&member.name.as_str())).collect();
    if members.is_empty() {
        return Err(Failure::Usage(format!("the crates with models are {}", CRATES.join(", "))));
    }
    let mut models = Vec::new();
    for member in members {
        let arguments = feature_arguments([*member]);
        let binary = build(workspace.root(), &member.name, &arguments)?;
        models.extend(tests_of(&binary)?.into_iter().map(|test| {
            let (package, binary) = (member.name.clone(), binary.clone());
            Model { package, binary, test }
        }));
    }
    run_all(&models)
}

/// Builds the unit tests of one crate for the checker.
fn build(root: &Path, package: &str, features: &[String]) -> Result<Binary, Failure> {
    let mut command = process::cargo(root, &["test", "--release", "--no-run", "--lib", "-p", package]);
    command.args(features).args(["--target-dir", FOLDER]).env("RUSTFLAGS", FLAGS);
    process::announce(&command);
    command.args(["--message-format", "json-render-diagnostics"]).stderr(Stdio::inherit());
    let output =
        command.output().map_err(|error| Failure::Broken(format!("cannot start cargo test: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let built = text.lines().filter_map(binary_of).find(|binary| binary.is_test);
    built
        .filter(|_| output.status.success())
        .ok_or_else(|| Failure::Broken(format!("the models of {package} do not build")))
}

/// The names of the models in a binary.
fn tests_of(binary: &Binary) -> Result<Vec<String>, Failure> {
    let mut command = Command::new(&binary.executable);
    command.args(["--list", "--format", "terse"]);
    Ok(names(&process::capture(command)?.text))
}

/// The models in the list that a test binary prints.
fn names(list: &str) -> Vec<String> {
    let tests = list.lines().filter_map(|line| line.strip_suffix(": test"));
    tests.filter(|name| name.contains(MODULE)).map(str::to_owned).collect()
}

fn run_all(models: &[Model]) -> Result<Outcome, Failure> {
    let n_workers = thread::available_parallelism().map_or(1, usize::from);
    let (next, total) = (AtomicUsize::new(0), Mutex::new(Ok(Outcome::default())));
    thread::scope(|scope| {
        for _ in 0..n_workers {
            scope.spawn(|| {
                while let Some(model) = models.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let ran = run_one(model);
                    let mut total = total.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    match (&mut *total, ran) {
                        (Ok(total), Ok(ran)) => {
                            println!("{}", line(model, &ran));
                            total.add(&ran);
                        }
                        (_, Err(failure)) => *total = Err(failure),
                        (Err(_), _) => {}
                    }
                }
            });
        }
    });
    total.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn run_one(model: &Model) -> Result<Outcome, Failure> {
    let Some(space) = space_of(&model.test) else {
        let name = &model.test;
        return Err(Failure::Broken(format!("model `{name}` does not end in what it explores")));
    };
    let mut command = Command::new(&model.binary.executable);
    command.args(["--exact", &model.test]);
    let ran: Captured = process::capture(command)?;
    let outcome = Outcome::of_run(ran);
    if outcome.failed > 0 {
        println!("---- {}: {}, {space}\n{}", model.package, model.test, outcome.output);
    }
    Ok(outcome)
}

fn line(model: &Model, outcome: &Outcome) -> String {
    let word = if outcome.failed == 0 { "ok" } else { "FAILED" };
    let space = space_of(&model.test).unwrap_or_default();
    let elapsed = seconds(outcome.elapsed);
    format!("{:<20} {word:<6} {elapsed:>9}  {space:<23} {}", model.package, short_name(&model.test))
}

/// The test's name without its modules and without what it explores.
fn short_name(test: &str) -> String {
    let name = test.rsplit("::").next().unwrap_or(test);
    let end = ["_in_all_orders", "_within_"].iter().filter_map(|end| name.find(end)).min();
    name[..end.unwrap_or(name.len())].replace('_', " ")
}

/// What a model explores, from the ending of its name.
fn space_of(test: &str) -> Option<String> {
    if test.ends_with("_in_all_orders") {
        return Some("full space".to_owned());
    }
    let bound = test.strip_suffix("_preemptions")?.rsplit_once("_within_")?.1;
    let number = ["one", "two", "three", "four"].iter().position(|word| *word == bound)? + 1;
    Some(format!("up to {number} preemptions"))
}

#[cfg(test)]
mod tests {
    use super::{names, short_name, space_of};

    #[test]
    fn names_say_what_is_explored() {
        assert_eq!(space_of("model::a_read_in_all_orders").as_deref(), Some("full space"));
        let bounded = "worker::model::protocol::a_wait_is_woken_within_four_preemptions";
        assert_eq!(space_of(bounded).as_deref(), Some("up to 4 preemptions"));
        assert_eq!(space_of("model::a_read"), None);
        assert_eq!(space_of("model::a_read_within_some_preemptions"), None);
        assert_eq!(short_name(bounded), "a wait is woken");
    }

    #[test]
    fn only_tests_below_the_module_are_models() {
        let list = "model::a_in_all_orders: test\nunits::b: test\nmodel::c: benchmark\n";
        assert_eq!(names(list), ["model::a_in_all_orders"]);
    }
}

//! The page of all variables, made of the registry alone.
//!
//! Knows the order and the words between the tables. Refuses to look at any environment, so the page
//! is the same everywhere.

use super::elsewhere::{OTHER_BUILDS, RENAMED, TOOLS};
use super::lint::PairRule;
use super::variable::{Group, Variable};
use crate::settings::ArtifactLayout;
use crate::{ConfigError, ConfigKey, DefaultRule, KeyKind};

const INTRODUCTION: &str = "\
<!-- Generated from the registry in neuronx-mem-config; edit the registry, not this page. -->

# Environment variables

Every variable of the environment variables reference, those that the guidelines for memory management
add, and the variables of the Neuron runtime that decide who has device memory. `neuronx-mem env`
shows this list with the values in force and with what is wrong with them.

\"Used by\" names the packages of this workspace that act on a variable. \"Recorded only\" means that it is
read, checked and shown, and that other programs do what it says. \"Page\" is where the variable is
described: the environment variables reference, the guidelines for memory management, or the
documentation of the Neuron runtime.

## How a value is read

- A variable that is not set, or set to an empty text, has its default. So has one whose text cannot be
  used, and that is reported. Nothing stops because of a bad text.
- A switch is on for `1`, `true`, `on`, `yes` and off for `0`, `false`, `off`, `no`, in any case of
  letters and with blanks around them. Stricter ones say so in the column \"Accepts\".
- A number is plain decimal digits, without a sign or a suffix.
- The items of a list have commas between them and may have blanks around them. A bad item is dropped
  and reported; the others hold.
- A path may be any bytes but NUL. Other texts are UTF-8.
- An unknown name that starts with `TORCH_NEURONX_` or `NEURON_` is reported, with the known name that it
  resembles.
- A value counts as it was when the process first read its environment. A later change is reported as
  one that counts after a restart.
";

const KEYS: &str = "\
### Keys of TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG

The text is `key=value` pairs with commas between them. Sizes are plain bytes: `1048576`, never `1MB`.
An unknown key or a bad value is reported and passed over.
";

const ARTIFACTS: &str = "\
### Files of a compilation

Below the debug directory, for rank 0. `inputs` and `outputs` are there only with
`TORCH_NEURONX_DYNAMO_TENSOR_DUMPS`.
";

const PAIRS: &str = "\
## Variables that do not go together

Reported when they meet:
";

/// Returns the text of `docs/environment.md`. Cost: one pass over the registry.
///
/// ```
/// use neuronx_mem_config::markdown;
///
/// assert!(markdown().contains("| `NEURON_NUMA_PIN` | bool | `1` |"));
/// ```
pub fn markdown() -> String {
    let mut parts = vec![INTRODUCTION.to_owned()];
    for group in Group::ALL {
        parts.push(format!("## {}\n", group.title()));
        parts.push(variable_table(group));
        match group {
            Group::Backend => parts.extend([ARTIFACTS.to_owned(), artifact_tree()]),
            Group::Allocator => parts.extend([KEYS.to_owned(), key_table()]),
            _ => {}
        }
    }
    parts.extend([PAIRS.to_owned(), pair_list(), other_names()]);
    parts.join("\n")
}

fn variable_table(group: Group) -> String {
    let mut text = String::from(
        "| Variable | Type | Default | Accepts | Used by | Page | What it does |\n|---|---|---|---|---|---|---|\n",
    );
    for variable in Variable::all().filter(|variable| variable.group() == group) {
        let cells = [
            format!("`{}`", variable.name()),
            variable.kind().name().to_owned(),
            default_cell(variable),
            variable.kind().to_string(),
            used_by(variable),
            variable.page().to_string(),
            variable.documentation().to_owned(),
        ];
        text.push_str(&table_line(&cells));
    }
    text
}

fn default_cell(variable: Variable) -> String {
    use super::default::DefaultValue::{Depends, NotStated, Plain};
    match variable.default_value() {
        Plain("") => "empty".to_owned(),
        Plain(text) => format!("`{text}`"),
        Depends { rule, .. } if rule.starts_with('/') => format!("`{rule}`"),
        Depends { rule, .. } => rule.to_owned(),
        NotStated => "not stated".to_owned(),
    }
}

fn used_by(variable: Variable) -> String {
    match variable.honoured_by() {
        [] => "recorded only".to_owned(),
        packages => code_list(packages),
    }
}

fn key_table() -> String {
    let mut text = String::from("| Key | Type | Default | What it does |\n|---|---|---|---|\n");
    for key in ConfigKey::ALL {
        let kind = match key.kind() {
            KeyKind::Bytes => "bytes",
            KeyKind::Integer => "int",
        };
        let default = match key.default_rule() {
            DefaultRule::Plain(u64::MAX) => "no limit".to_owned(),
            DefaultRule::Plain(number) => format!("`{number}`"),
            DefaultRule::Follows(other) => format!("that of `{other}`"),
        };
        let cells = [format!("`{key}`"), kind.to_owned(), default, key.documentation().to_owned()];
        text.push_str(&table_line(&cells));
    }
    text
}

fn artifact_tree() -> String {
    // The placeholders are fit to be parts of a path, so the list is never empty.
    let lines = artifact_paths().unwrap_or_default();
    format!("```text\n{}\n```\n", lines.join("\n"))
}

fn artifact_paths() -> Result<Vec<String>, ConfigError> {
    let layout = ArtifactLayout::new("{TORCH_NEURONX_DEBUG_DIR}", 0);
    let job = layout.job("{job_id}")?;
    let (model, timestamp) = ("{model}", "{ts}");
    let compilation = layout.compilation("{hash}")?;
    let paths = [
        job.fx_graph(model, timestamp)?,
        job.transformed_fx(model, timestamp)?,
        job.raw(model, timestamp)?,
        job.stablehlo(model, timestamp)?,
        job.torch_mlir_error(model, timestamp)?,
        job.inputs_dir(),
        job.outputs_dir(),
        compilation.log(),
        compilation.module(),
        compilation.neff(),
        compilation.metadata(),
        compilation.arguments(),
    ];
    // One separator on every system, so that the page is the same everywhere.
    Ok(paths.iter().map(|path| path.to_string_lossy().replace('\\', "/")).collect())
}

fn pair_list() -> String {
    PairRule::ALL.iter().map(|rule| format!("- {rule} ({})\n", rule.severity())).collect()
}

fn other_names() -> String {
    let mut text = String::from("## Other names\n\nNames of older builds, which do nothing here:\n\n");
    for (old, new) in RENAMED {
        text.push_str(&format!("- `{old}` gave way to `{new}`\n"));
    }
    text.push_str("\nNames that the runtime, the compiler or their tools read; they are not reported:\n");
    text.push_str(&format!("{}.\n", code_list(TOOLS)));
    text.push_str("\nNames that other builds of torch-neuronx read; they are not reported:\n");
    text.push_str(&format!("{}.\n", code_list(OTHER_BUILDS)));
    text
}

fn table_line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn code_list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

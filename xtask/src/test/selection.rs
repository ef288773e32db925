//! Which crates to test, from the arguments of the command.
//!
//! Knows names and flags. Refuses a name that is no member, with the list of those that are.

use super::Snapshots;
use crate::failure::Failure;
use crate::workspace::{Member, Workspace, feature_arguments};

const PREFIX: &str = "neuronx-mem-";

/// The crates asked for, and how to treat their snapshots.
#[derive(Debug)]
pub(super) struct Selection<'a> {
    members: Vec<&'a Member>,
    is_everything: bool,
    snapshots: Snapshots,
    has_python: bool,
    has_browser: bool,
    is_exhaustive: bool,
}

impl<'a> Selection<'a> {
    /// Reads `[CRATE...] [--accept] [--python] [--browser] [--exhaustive]`.
    ///
    /// An unknown flag or name is a usage error.
    pub(super) fn parse(workspace: &'a Workspace, arguments: &[String]) -> Result<Self, Failure> {
        let (flags, names): (Vec<&String>, Vec<&String>) =
            arguments.iter().partition(|argument| argument.starts_with('-'));
        let mut snapshots = Snapshots::Check;
        let (mut has_python, mut has_browser, mut is_exhaustive) = (false, false, false);
        for flag in flags {
            match flag.as_str() {
                "--accept" => snapshots = Snapshots::Accept,
                "--python" => has_python = true,
                "--browser" => has_browser = true,
                "--exhaustive" => is_exhaustive = true,
                _ => {
                    return Err(Failure::Usage(format!(
                        "`test` has no flag `{flag}`; it has --accept, --python, --browser and --exhaustive"
                    )));
                }
            }
        }
        let wanted = names.iter().map(|name| find(workspace, name)).collect::<Result<Vec<_>, _>>()?;
        // In the order of the workspace and each once, whatever the order and number of the names.
        let members = workspace
            .members()
            .iter()
            .filter(|member| names.is_empty() || wanted.iter().any(|one| one.name == member.name))
            .collect();
        Ok(Self {
            members,
            is_everything: names.is_empty(),
            snapshots,
            has_python,
            has_browser,
            is_exhaustive,
        })
    }

    /// The selected crates, lower floors first.
    pub(super) fn members(&self) -> &[&'a Member] {
        &self.members
    }

    /// What happens to a snapshot that differs.
    pub(super) fn snapshots(&self) -> Snapshots {
        self.snapshots
    }

    /// Whether Python is asked too.
    pub(super) fn has_python(&self) -> bool {
        self.has_python
    }

    /// Whether a browser is asked too.
    pub(super) fn has_browser(&self) -> bool {
        self.has_browser
    }

    /// Whether the models run instead of the tests.
    pub(super) fn is_exhaustive(&self) -> bool {
        self.is_exhaustive
    }

    /// The package and feature arguments for `cargo`.
    ///
    /// Every call of one run uses the same ones: `cargo` unites features over the packages named,
    /// so another selection would build the workspace a second time.
    pub(super) fn cargo_arguments(&self) -> Vec<String> {
        let mut arguments = if self.is_everything {
            vec!["--workspace".to_owned()]
        } else {
            self.members.iter().flat_map(|member| ["-p".to_owned(), member.name.clone()]).collect()
        };
        arguments.extend(feature_arguments(self.members.iter().copied()));
        arguments
    }
}

fn find<'a>(workspace: &'a Workspace, name: &str) -> Result<&'a Member, Failure> {
    let members = workspace.members();
    let exact = members.iter().find(|member| member.name == name);
    let short = || members.iter().find(|member| member.name.strip_prefix(PREFIX) == Some(name));
    exact.or_else(short).ok_or_else(|| {
        let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
        Failure::Usage(format!("no crate `{name}`; the crates are {}", names.join(", ")))
    })
}

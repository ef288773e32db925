//! The workspace as `cargo metadata` describes it: root, members, targets, dependencies.
//!
//! Knows only members, so it needs no network and no lock file. Feature lists come from the
//! members' own manifests: `[package.metadata.xtask] test-features = ["serde"]` names features that
//! are off by default and have to be checked all the same.

#[cfg(test)]
mod tests;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::failure::Failure;
use crate::floors::floor_of;
use crate::process;

/// The workspace of this checkout.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
    members: Vec<Member>,
}

/// One package of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    /// The package id that `cargo` uses in its messages.
    pub(crate) id: String,
    /// The package name.
    pub(crate) name: String,
    /// The package version.
    pub(crate) version: String,
    /// The package folder below the root, with `/` between its parts.
    pub(crate) folder: String,
    /// False when the manifest says `publish = false`.
    pub(crate) is_published: bool,
    /// What `cargo` builds from it.
    pub(crate) targets: Vec<Target>,
    /// Every declared dependency, also those outside the workspace.
    pub(crate) dependencies: Vec<Dependency>,
    /// Features off by default that tests, lints and documentation turn on.
    pub(crate) test_features: Vec<String>,
}

impl Member {
    /// The manifest below the root.
    pub(crate) fn manifest(&self) -> String {
        format!("{}/Cargo.toml", self.folder)
    }
}

/// One library, binary, test, example or bench of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// The name; for a library the name of the crate in code.
    pub(crate) name: String,
    /// `lib`, `bin`, `test`, ... as `cargo` says it.
    pub(crate) kinds: Vec<String>,
    /// The root source file below the workspace root, with `/` between its parts.
    pub(crate) source: String,
    /// Whether `cargo test --doc` runs its examples.
    pub(crate) has_doc_tests: bool,
}

impl Target {
    /// True for libraries of every kind and binaries: what a user of the package gets.
    pub(crate) fn is_product(&self) -> bool {
        let helpers = ["test", "bench", "example", "custom-build"];
        !self.kinds.iter().any(|kind| helpers.contains(&kind.as_str()))
    }
}

/// One line of a dependency table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// The package name, whatever the crate calls it.
    pub(crate) package: String,
    /// Which table it stands in.
    pub(crate) kind: DependencyKind,
}

/// The table of a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DependencyKind {
    /// `[dependencies]`
    Normal,
    /// `[build-dependencies]`
    Build,
    /// `[dev-dependencies]`
    Dev,
}

impl Workspace {
    /// Asks `cargo metadata`. Takes about 0.1 s.
    pub(crate) fn load() -> Result<Self, Failure> {
        // `cargo run` says where the package is; the compiled-in place is for a call without cargo.
        let package = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = package.parent().unwrap_or(&package);
        let mut command = process::cargo(root, &["metadata", "--format-version", "1", "--no-deps"]);
        command.stderr(Stdio::inherit());
        let output = command
            .output()
            .map_err(|error| Failure::Broken(format!("cannot start cargo metadata: {error}")))?;
        if !output.status.success() {
            return Err(Failure::Broken("cargo metadata failed".to_owned()));
        }
        Self::parse(&output.stdout)
    }

    /// Reads the JSON text of `cargo metadata --no-deps`.
    pub(crate) fn parse(json: &[u8]) -> Result<Self, Failure> {
        let value: Value = serde_json::from_slice(json)
            .map_err(|error| Failure::Broken(format!("cargo metadata is not JSON: {error}")))?;
        let root = PathBuf::from(text(&value, "workspace_root")?);
        let mut members = Vec::new();
        for package in list(&value, "packages") {
            members.push(member(package, &root)?);
        }
        // Lower floors first; a package without a floor comes last.
        members.sort_by_key(|member| (floor_of(&member.name).unwrap_or(u8::MAX), member.name.clone()));
        Ok(Self { root, members })
    }

    /// The folder of the workspace manifest.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// All members, lower floors first, then by name.
    pub(crate) fn members(&self) -> &[Member] {
        &self.members
    }

    /// The `--features` arguments for the whole workspace; empty when no member asks for one.
    pub(crate) fn feature_arguments(&self) -> Vec<String> {
        feature_arguments(&self.members)
    }
}

/// The `--features` arguments for some members; empty when none asks for one.
pub(crate) fn feature_arguments<'a>(members: impl IntoIterator<Item = &'a Member>) -> Vec<String> {
    let features: Vec<String> = members
        .into_iter()
        .flat_map(|member| {
            member.test_features.iter().map(move |feature| format!("{}/{feature}", member.name))
        })
        .collect();
    if features.is_empty() { Vec::new() } else { vec!["--features".to_owned(), features.join(",")] }
}

fn member(package: &Value, root: &Path) -> Result<Member, Failure> {
    let manifest = below(text(package, "manifest_path")?, root);
    let folder = manifest.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let features = &package["metadata"]["xtask"];
    Ok(Member {
        id: text(package, "id")?.to_owned(),
        name: text(package, "name")?.to_owned(),
        version: text(package, "version")?.to_owned(),
        folder: folder.to_owned(),
        is_published: package["publish"].as_array().is_none_or(|registries| !registries.is_empty()),
        targets: list(package, "targets").map(|value| target(value, root)).collect::<Result<_, _>>()?,
        dependencies: list(package, "dependencies").map(dependency).collect::<Result<_, _>>()?,
        test_features: texts(features, "test-features"),
    })
}

fn target(value: &Value, root: &Path) -> Result<Target, Failure> {
    Ok(Target {
        name: text(value, "name")?.to_owned(),
        kinds: texts(value, "kind"),
        source: below(text(value, "src_path")?, root),
        has_doc_tests: value["doctest"].as_bool().unwrap_or(false),
    })
}

fn dependency(value: &Value) -> Result<Dependency, Failure> {
    let kind = match value["kind"].as_str() {
        Some("dev") => DependencyKind::Dev,
        Some("build") => DependencyKind::Build,
        _ => DependencyKind::Normal,
    };
    Ok(Dependency { package: text(value, "name")?.to_owned(), kind })
}

/// A path as it stands below the root, with `/` between its parts on every system.
fn below(path: &str, root: &Path) -> String {
    let path = Path::new(path);
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str, Failure> {
    value[key].as_str().ok_or_else(|| Failure::Broken(format!("cargo metadata has no `{key}`")))
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

fn texts(value: &Value, key: &str) -> Vec<String> {
    list(value, key).filter_map(Value::as_str).map(str::to_owned).collect()
}

//! `cargo metadata` read from a small answer.

use super::{DependencyKind, Workspace, feature_arguments};
use crate::failure::Failure;

const METADATA: &str = r#"{
  "workspace_root": "/w",
  "packages": [
    {
      "id": "path+file:///w/xtask#0.1.0", "name": "xtask", "version": "0.1.0", "publish": [],
      "manifest_path": "/w/xtask/Cargo.toml", "metadata": null, "dependencies": [],
      "targets": [{ "name": "xtask", "kind": ["bin"], "src_path": "/w/xtask/src/main.rs", "doctest": false }]
    },
    {
      "id": "path+file:///w/crates/neuronx-mem-stats#0.1.0", "name": "neuronx-mem-stats", "version": "0.1.0",
      "publish": null, "manifest_path": "/w/crates/neuronx-mem-stats/Cargo.toml",
      "metadata": { "xtask": { "test-features": ["serde", "csv"] } },
      "dependencies": [
        { "name": "tracing", "kind": null },
        { "name": "insta", "kind": "dev" },
        { "name": "cc", "kind": "build" }
      ],
      "targets": [
        { "name": "neuronx_mem_stats", "kind": ["lib"], "src_path": "/w/crates/neuronx-mem-stats/src/lib.rs",
          "doctest": true },
        { "name": "summary", "kind": ["test"], "src_path": "/w/crates/neuronx-mem-stats/tests/summary.rs",
          "doctest": false }
      ]
    }
  ]
}"#;

#[test]
fn members_are_read_lower_floors_first() {
    let workspace = Workspace::parse(METADATA.as_bytes()).unwrap();
    let [stats, xtask] = workspace.members() else { panic!("two members") };
    assert_eq!((stats.name.as_str(), xtask.name.as_str()), ("neuronx-mem-stats", "xtask"));
    assert_eq!((stats.is_published, xtask.is_published), (true, false));
    assert_eq!(stats.manifest(), "crates/neuronx-mem-stats/Cargo.toml");
    let kinds: Vec<DependencyKind> = stats.dependencies.iter().map(|dependency| dependency.kind).collect();
    assert_eq!(kinds, [DependencyKind::Normal, DependencyKind::Dev, DependencyKind::Build]);
    let sources: Vec<(&str, bool, bool)> = stats
        .targets
        .iter()
        .map(|target| (target.source.as_str(), target.is_product(), target.has_doc_tests))
        .collect();
    assert_eq!(
        sources,
        [
            ("crates/neuronx-mem-stats/src/lib.rs", true, true),
            ("crates/neuronx-mem-stats/tests/summary.rs", false, false),
        ]
    );
}

#[test]
fn features_to_test_become_arguments() {
    let workspace = Workspace::parse(METADATA.as_bytes()).unwrap();
    assert_eq!(
        workspace.feature_arguments(),
        ["--features", "neuronx-mem-stats/serde,neuronx-mem-stats/csv"]
    );
    assert!(feature_arguments(&workspace.members()[1..]).is_empty());
}

#[test]
fn an_answer_that_is_not_metadata_is_an_error() {
    let failure = Workspace::parse(b"{}").unwrap_err();
    assert_eq!(failure, Failure::Broken("cargo metadata has no `workspace_root`".to_owned()));
}

//! The table against itself, against PyTorch, and as something to extend.

use std::collections::BTreeSet;

use super::source::Source;
use super::{Basis, OperatorClass, OperatorName, OperatorTable};

const TEXT: &str = include_str!("../../data/operators.toml");
const TORCH: &str = include_str!("../../tests/data/torch_operators.txt");

#[test]
fn the_built_in_table_covers_aten() {
    let table = OperatorTable::built_in();
    let aten = table.iter().filter(|(name, _)| !name.contains("::")).count();
    assert_eq!((aten, table.len()), (401, 422));
}

#[test]
fn no_operator_is_in_two_classes() {
    let source = Source::parse(TEXT).unwrap();
    let mut seen = BTreeSet::new();
    for name in source.class.iter().flat_map(|class| &class.operators) {
        assert!(seen.insert(name), "{name} twice");
        assert_eq!(OperatorName::fold(name).as_str(), name, "{name} is not folded");
    }
}

#[test]
fn every_class_has_operators_a_source_and_a_name_that_reads_back() {
    let source = Source::parse(TEXT).unwrap();
    let classes: Vec<OperatorClass> = source.class.iter().map(|class| class.name).collect();
    assert_eq!(classes, OperatorClass::ALL);
    for class in &source.class {
        assert!(!class.operators.is_empty() && class.basis.is_some(), "{}", class.name);
        assert!(class.source.as_ref().is_some_and(|source| source.contains(": ")), "{}", class.name);
        assert_eq!(format!("\"{}\"", class.name), serde_json::to_string(&class.name).unwrap());
    }
}

/// The list was made by PyTorch itself: operators that took or gave an `int64` tensor.
#[test]
fn every_aten_operator_was_seen_with_int64() {
    let seen: BTreeSet<&str> = TORCH.lines().filter(|line| !line.starts_with('#')).collect();
    let not_on_the_cpu = ["_copy_from", "_copy_from_and_resize", "_embedding_bag_dense_backward"];
    let unseen: Vec<&str> = OperatorTable::built_in()
        .iter()
        .filter(|(name, facts)| facts.class != OperatorClass::State && !name.contains("::"))
        .map(|(name, _)| name)
        .filter(|name| !seen.contains(name))
        .collect();
    assert_eq!(unseen, not_on_the_cpu);
}

#[test]
fn what_the_documents_name_is_not_run_in_64_bits() {
    let documented =
        ["mm", "scatter_add", "index_add", "embedding_dense_backward", "nll_loss_backward", "pow", "topk"];
    for name in documented.into_iter().chain(["_c10d_functional::all_reduce"]) {
        let facts = OperatorTable::built_in().get(name).unwrap();
        assert_eq!((facts.device64, facts.basis), (false, Basis::Documented), "{name}");
    }
}

#[test]
fn spellings_fold_to_one_operator() {
    let class = |name| OperatorTable::built_in().get(name).map(|facts| facts.class);
    for name in
        ["add", "aten::add", "aten::add_.Tensor", "aten.add.out", "aten._foreach_add_.List", " add.Tensor "]
    {
        assert_eq!(class(name), Some(OperatorClass::Elementwise), "{name}");
    }
    assert_eq!(class("aten::__ilshift__.Scalar"), Some(OperatorClass::Shift));
    assert_eq!(class("_c10d_functional.all_reduce_.default"), Some(OperatorClass::Collective));
    assert_eq!(class("aten._c10d_functional.all_reduce"), None);
    for name in ["", "_", "__", "aten::", "aten.", "::", ".", "aten::no_such_operator", "add__"] {
        assert_eq!(class(name), None, "{name}");
    }
    assert_eq!(OperatorName::fold("aten::add.Tensor").qualified(), "aten.add");
    assert_eq!(OperatorName::fold("c10d::allreduce_").qualified(), "c10d.allreduce_");
}

#[track_caller]
fn check_refused(text: &str, expected: &str) {
    let mut table = OperatorTable::built_in().clone();
    let error = table.extend(text).unwrap_err().to_string();
    assert_eq!(error, format!("operator table: {expected}"));
    assert_eq!(&table, OperatorTable::built_in(), "all or nothing");
}

#[test]
fn wrong_tables_are_refused_as_a_whole() {
    check_refused("schema = 2", "schema 2 where 1 is needed");
    check_refused("", "line 1: missing field `schema`");
    check_refused("schema = 1\n[[class]]\nname = \"sorting\"", &unknown_class());
    check_refused(
        "schema = 1\n[[class]]\nname = \"sort\"\noperators = [\"a::b\"]\n[[operator]]\nname = \"a::c\"",
        "operator `a::c` is in no class",
    );
    check_refused("schema = 1\n[results]\nbzip = 2", "operator `bzip` is in no class");
    check_refused("schema = 1\n[[class]]\nname = \"sort\"\noperators = [\"\"]", "class sort: an empty name");
    let mut empty = OperatorTable::empty();
    let error = empty.extend("schema = 1\n[[class]]\nname = \"sort\"\nvalues = \"moved\"").unwrap_err();
    assert_eq!(error.to_string(), "operator table: class sort lacks its device64");
    assert!(empty.is_empty());
}

fn unknown_class() -> String {
    let names: Vec<String> = OperatorClass::ALL.iter().map(|class| format!("`{class}`")).collect();
    format!("line 3: unknown variant `sorting`, expected one of {}", names.join(", "))
}

#[test]
fn an_extension_changes_classes_and_single_operators() {
    let mut table = OperatorTable::built_in().clone();
    let text = r#"
        schema = 1
        [[class]]
        name = "power"
        device64 = true
        operators = ["mylib::ipow"]
        [[operator]]
        name = "float_power"
        device64 = false
        refused = true
        source = "our build"
        [results]
        "mylib::ipow" = 2
    "#;
    table.extend(text).unwrap();
    let pow = table.get("aten::pow_").unwrap();
    assert!(pow.device64 && pow.source.starts_with("compiler: "));
    let own = table.get("mylib.ipow.default").unwrap();
    assert_eq!((own.class, own.device64, own.n_results), (OperatorClass::Power, true, 2));
    let single = table.get("float_power").unwrap();
    assert_eq!((single.device64, single.is_refused, single.source.as_str()), (false, true, "our build"));
    assert_eq!(table.len(), OperatorTable::built_in().len() + 1);
}

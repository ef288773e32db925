//! The generated page.

use crate::{ConfigKey, Group, Variable, markdown};

#[test]
fn the_committed_page_is_the_generated_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/environment.md");
    let committed = std::fs::read_to_string(path).unwrap().replace("\r\n", "\n");
    let generated = markdown();
    let first =
        committed.lines().zip(generated.lines()).find(|(committed, generated)| committed != generated);
    assert_eq!(
        first, None,
        "run `cargo run -p neuronx-mem-config --example environment_page > docs/environment.md`"
    );
    assert_eq!(committed.len(), generated.len());
}

#[test]
fn every_variable_key_and_group_is_on_the_page_once() {
    let page = markdown();
    for variable in Variable::all() {
        assert_eq!(page.matches(&format!("\n| `{variable}` |")).count(), 1, "{variable}");
    }
    for key in ConfigKey::ALL {
        assert_eq!(page.matches(&format!("\n| `{key}` |")).count(), 1, "{key}");
    }
    for group in Group::ALL {
        assert_eq!(page.matches(&format!("\n## {}\n", group.title())).count(), 1, "{group}");
    }
}

#[test]
fn tables_are_whole_and_lines_end_clean() {
    let page = markdown();
    for (number, line) in page.lines().enumerate() {
        assert_eq!(line, line.trim_end(), "line {}", number + 1);
        let columns = if line.starts_with("| `k") { 5 } else { 8 };
        if line.starts_with("| `") {
            assert_eq!(line.matches('|').count(), columns, "line {}: {line}", number + 1);
        }
    }
    assert!(page.ends_with(".\n") && !page.contains("\n\n\n"));
    assert!(page.contains("{TORCH_NEURONX_DEBUG_DIR}/neuronx-cc/{hash}/compiler_args.txt\n"));
}

//! The header in `include/` is what cbindgen writes from the sources. To bring it up to date:
//! `cargo xtask test capi --accept`.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::fs;
use std::path::Path;

const HEADER: &str = "include/neuronx_mem.h";

/// What cbindgen makes of the sources, without the sections that Rust wants of unsafe functions: in C
/// every function is one, and the top of the header says what pointers must be.
fn generated() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let sources = ["version", "status", "text", "errors", "options", "allocator", "blocks", "streams"];
    let sources = sources.into_iter().chain(["callbacks", "memory", "readings", "analysis", "snapshots"]);
    let sources = sources.chain(["config", "tensors", "out_of_memory", "pools", "vtable"]);
    let builder = cbindgen::Builder::new().with_config(config);
    let builder = sources
        .fold(builder, |builder, name| builder.with_src(root.join("src").join(name).with_extension("rs")));
    let mut text = Vec::new();
    builder.generate().unwrap().write(&mut text);
    let text = String::from_utf8(text).unwrap();
    let mut is_safety = false;
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        is_safety = line.starts_with("//") && (is_safety || line.contains("# Safety"));
        if is_safety {
            // And the empty comment before it.
            while lines.last().is_some_and(|last| last.trim_end() == "//") {
                lines.pop();
            }
            continue;
        }
        lines.push(line.trim_end());
    }
    lines.join("\n") + "\n"
}

#[test]
fn the_header_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(HEADER);
    let generated = generated();
    if std::env::var("INSTA_UPDATE").is_ok_and(|mode| mode == "always") {
        fs::write(&path, &generated).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let first = committed.lines().zip(generated.lines()).position(|(old, new)| old != new);
    assert!(
        committed == generated,
        "{HEADER} is stale at line {}: run `cargo xtask test capi --accept`",
        first.map_or(committed.lines().count().min(generated.lines().count()), |idx| idx) + 1
    );
}

#[test]
fn every_exported_function_is_in_the_header_and_in_the_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = fs::read_to_string(root.join(HEADER)).unwrap();
    let table = fs::read_to_string(root.join("src/vtable.rs")).unwrap();
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join("src")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let exported = lines.windows(2).filter(|pair| pair[0] == "#[unsafe(no_mangle)]").map(|pair| pair[1]);
        names.extend(exported.map(|line| {
            let (_, name) = line.split_once(" fn ").unwrap();
            name.split('(').next().unwrap().to_owned()
        }));
    }
    names.sort();
    assert!(names.len() > 60, "{}", names.len());
    for name in names {
        assert!(header.contains(&format!("{name}(")), "{name} is not in the header");
        let field = format!("    {}: {name},", &name["nxm_".len()..]);
        assert!(name == "nxm_vtable" || table.contains(&field), "{name} is not in the table");
    }
}

//! The header and the libraries as a C or C++ program meets them: built by the system's compilers,
//! linked both ways, run, and watched by valgrind.
//!
//! A missing tool is said and passed over, unless `NEURONX_MEM_NATIVE_TOOLS=required`, as in CI.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]
#![allow(clippy::print_stderr, reason = "a missing tool is said")]

mod toolchain;

use std::fs;

use toolchain::{Link, Workshop, manifest, tool};

const PEDANTIC: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-pedantic"];

#[test]
fn the_header_is_c99_and_cpp17_without_a_warning() {
    let workshop = Workshop::new();
    let source = "#include \"neuronx_mem.h\"\n#include \"neuronx_mem.h\"\n\
                  int main(void) { return nxm_abi_version() == NXM_ABI_VERSION ? 0 : 1; }\n";
    for (compiler, file, standards) in
        [("cc", "header.c", ["-std=c99", "-std=c11"]), ("c++", "header.cpp", ["-std=c++17", "-std=c++20"])]
    {
        let Some(compiler) = tool(compiler) else { continue };
        let path = workshop.folder().join(file);
        fs::write(&path, source).unwrap();
        for standard in standards {
            workshop.compile(&compiler, &path, &[&[standard, "-fsyntax-only"], &PEDANTIC[..]].concat());
        }
    }
}

#[test]
fn the_c_example_runs_with_both_libraries() {
    let Some(compiler) = tool("cc") else { return };
    let workshop = Workshop::new();
    for link in [Link::Shared, Link::Static] {
        let program = workshop.build(&compiler, &manifest("examples/c/train.c"), "-std=c99", link);
        let ran = workshop.run(&program, &[]);
        insta::assert_snapshot!("train", ran);
    }
}

#[test]
fn the_cpp_example_runs_with_both_libraries() {
    let Some(compiler) = tool("c++") else { return };
    let workshop = Workshop::new();
    for link in [Link::Shared, Link::Static] {
        let program = workshop.build(&compiler, &manifest("examples/c/owner.cpp"), "-std=c++17", link);
        insta::assert_snapshot!("owner", workshop.run(&program, &[]));
    }
}

#[test]
fn valgrind_finds_no_leak_and_no_invalid_access() {
    let (Some(valgrind), Some(cc), Some(cpp)) = (tool("valgrind"), tool("cc"), tool("c++")) else { return };
    let workshop = Workshop::new();
    for (compiler, source, standard) in
        [(cc, "examples/c/train.c", "-std=c99"), (cpp, "examples/c/owner.cpp", "-std=c++17")]
    {
        let program = workshop.build(&compiler, &manifest(source), standard, Link::Shared);
        // Any kind of leak, also memory that a pointer still reaches at the end.
        let flags = [
            "--quiet",
            "--leak-check=full",
            "--show-leak-kinds=all",
            "--errors-for-leak-kinds=all",
            "--error-exitcode=9",
        ];
        let program = program.to_str().unwrap();
        workshop.run(&valgrind, &[&flags[..], &[program]].concat());
    }
}

#[test]
fn pkg_config_says_how_to_build() {
    let template = fs::read_to_string(manifest("pkgconfig/neuronx-mem.pc.in")).unwrap();
    assert!(template.contains("\nVersion: @VERSION@\n") && template.contains("-lneuronx_mem_capi"));
    let (Some(pkg_config), Some(compiler)) = (tool("pkg-config"), tool("cc")) else { return };
    let workshop = Workshop::new();
    let prefix = workshop.install(&template);
    let flags = workshop.flags(&pkg_config, &prefix);
    let source = manifest("examples/c/train.c");
    let program = workshop.build_with(&compiler, &source, &flags);
    assert!(workshop.run(&program, &[]).contains("Neuron Memory Summary"));
}

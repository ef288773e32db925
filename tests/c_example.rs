//! The C example over a libnrt: the same program as on the simulated device says the same, and
//! valgrind finds nothing. A missing tool is said and passed over, unless
//! `NEURONX_MEM_NATIVE_TOOLS=required`, as in CI.

#![allow(unsafe_code, reason = "a C library")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]
#![allow(clippy::print_stderr, reason = "a missing tool is said")]

#[path = "support/standin.rs"]
#[allow(unreachable_pub, dead_code, reason = "shared by several tests")]
mod standin;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use standin::{Standin, built_library};
use tempfile::TempDir;

fn has(tool: &str) -> bool {
    let runs = Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if runs.is_ok_and(|status| status.success()) {
        return true;
    }
    let is_required = std::env::var("NEURONX_MEM_NATIVE_TOOLS").is_ok_and(|value| value == "required");
    assert!(!is_required, "{tool} is not installed");
    eprintln!("skipped: {tool} is not installed");
    false
}

fn build(folder: &Path) -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/neuronx-mem-capi");
    let library = built_library("libneuronx_mem_capi.so");
    std::os::unix::fs::symlink(&library, folder.join("libneuronx_mem_capi.so.0")).unwrap();
    let program = folder.join("train");
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-g", "-I"]).arg(crate_folder.join("include"));
    command.arg(crate_folder.join("examples/c/train.c")).arg(&library).arg("-o").arg(&program);
    assert!(command.status().unwrap().success());
    program
}

#[track_caller]
fn run(folder: &Path, command: &mut Command) -> String {
    let output = command.env("LD_LIBRARY_PATH", folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_c_example_says_the_same_over_libnrt() {
    if !has("cc") {
        return;
    }
    let folder = TempDir::new().unwrap();
    let program = build(folder.path());
    let standin = Standin::new("");
    let simulated = run(folder.path(), &mut Command::new(&program));
    assert_eq!(run(folder.path(), Command::new(&program).arg(&standin.path)), simulated);
    // Settings come from the environment: here a device that is too small.
    let mut command = Command::new(&program);
    command.arg(&standin.path).env("NRT_STANDIN_MEMORY", "33554432");
    let output = command.env("LD_LIBRARY_PATH", folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.starts_with("weights: NXM_OUT_OF_MEMORY: "), "{said}");
    let mut command = Command::new(&program);
    command.arg(folder.path().join("libnrt.so.1"));
    let output = command.env("LD_LIBRARY_PATH", folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("allocator: NXM_LIBRARY: cannot open "), "{said}");
    if has("valgrind") {
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--leak-check=full", "--error-exitcode=9"]);
        command.arg("--errors-for-leak-kinds=definite,indirect,possible");
        assert_eq!(run(folder.path(), command.arg(&program).arg(&standin.path)), simulated);
    }
}

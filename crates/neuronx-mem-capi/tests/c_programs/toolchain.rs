//! The system's compilers, and a folder to build in. Knows where cargo puts the libraries.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Libraries that Rust's needs, for a static link.
const NATIVE: [&str; 5] = ["-lpthread", "-ldl", "-lm", "-lrt", "-lgcc_s"];

/// Which library a program gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Link {
    Shared,
    Static,
}

/// A file of this crate.
pub(crate) fn manifest(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A tool of the system. Missing, it is said and passed over, or fails where tools are required.
pub(crate) fn tool(name: &str) -> Option<PathBuf> {
    let runs = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if runs.is_ok_and(|status| status.success()) {
        return Some(name.into());
    }
    let is_required = std::env::var("NEURONX_MEM_NATIVE_TOOLS").is_ok_and(|value| value == "required");
    assert!(!is_required, "{name} is not installed");
    eprintln!("skipped: {name} is not installed");
    None
}

/// A folder with the shared library under the name that programs look for.
pub(crate) struct Workshop {
    folder: TempDir,
}

impl Workshop {
    pub(crate) fn new() -> Self {
        let workshop = Self { folder: TempDir::new().unwrap() };
        for name in ["libneuronx_mem_capi.so", "libneuronx_mem_capi.so.0"] {
            workshop.link(&library("libneuronx_mem_capi.so"), name);
        }
        workshop
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    #[track_caller]
    pub(crate) fn compile(&self, compiler: &Path, source: &Path, flags: &[&str]) {
        let mut command = Command::new(compiler);
        command.args(flags).arg("-I").arg(manifest("include")).arg(source);
        succeed(&mut command);
    }

    #[track_caller]
    pub(crate) fn build(&self, compiler: &Path, source: &Path, standard: &str, link: Link) -> PathBuf {
        let mut flags = vec![standard.to_owned(), format!("-I{}", manifest("include").display())];
        match link {
            Link::Shared => {
                flags.push(format!("-L{}", self.folder().display()));
                flags.push("-lneuronx_mem_capi".to_owned());
            }
            Link::Static => {
                flags.push(library("libneuronx_mem_capi.a").display().to_string());
                flags.extend(NATIVE.map(str::to_owned));
            }
        }
        self.build_with(compiler, source, &flags)
    }

    #[track_caller]
    pub(crate) fn build_with(&self, compiler: &Path, source: &Path, flags: &[String]) -> PathBuf {
        let program = self.folder().join(source.file_stem().unwrap_or(OsStr::new("program")));
        let mut command = Command::new(compiler);
        command.args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-g"]).arg(source).args(flags);
        succeed(command.arg("-o").arg(&program));
        program
    }

    /// Runs a program that finds the shared library; what it prints.
    #[track_caller]
    pub(crate) fn run(&self, program: &Path, arguments: &[&str]) -> String {
        succeed(Command::new(program).args(arguments).env("LD_LIBRARY_PATH", self.folder()))
    }

    /// Installs header, library and the filled template below a prefix, as a packager would.
    pub(crate) fn install(&self, template: &str) -> PathBuf {
        let prefix = self.folder().join("prefix");
        for folder in ["include", "lib/pkgconfig"] {
            fs::create_dir_all(prefix.join(folder)).unwrap();
        }
        fs::copy(manifest("include/neuronx_mem.h"), prefix.join("include/neuronx_mem.h")).unwrap();
        fs::copy(library("libneuronx_mem_capi.so"), prefix.join("lib/libneuronx_mem_capi.so")).unwrap();
        let filled = template.replace("@PREFIX@", &prefix.display().to_string());
        let filled = filled.replace("@VERSION@", env!("CARGO_PKG_VERSION"));
        fs::write(prefix.join("lib/pkgconfig/neuronx-mem.pc"), filled).unwrap();
        prefix
    }

    /// What pkg-config says.
    pub(crate) fn flags(&self, pkg_config: &Path, prefix: &Path) -> Vec<String> {
        let mut command = Command::new(pkg_config);
        command.args(["--cflags", "--libs", "neuronx-mem"]);
        let text = succeed(command.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")));
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn link(&self, target: &Path, name: &str) {
        std::os::unix::fs::symlink(target, self.folder().join(name)).unwrap();
    }
}

/// A library that cargo has built beside this test.
fn library(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().unwrap().join(name);
    assert!(path.exists(), "{} is built with the tests", path.display());
    path
}

/// Runs a command to its end; standard output. A failure shows everything that it said.
#[track_caller]
fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{text}\n{said}", output.status);
    text
}

//! `cargo xtask vendor`: fetches again what the project holds a copy of.
//!
//! Knows one package of npm, its version and its hash. Refuses anything else: a new version is a change of
//! the constants here, and of the hash in the crate's own test.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::failure::Failure;
use crate::process;
use crate::workspace::Workspace;

/// One line for the table of commands.
pub(crate) const SUMMARY: &str = "fetch the libraries again of which the project holds a copy";

/// The text of `cargo xtask vendor --help`.
pub(crate) const HELP: &str = "\
Usage: cargo xtask vendor

Fetches uPlot, the library for plots in the pages of `neuronx-mem view`, in the pinned version, compares
its hash and writes the three files that are used to crates/neuronx-mem-view/assets/vendor. Changes
nothing when they are there already.

Needs npm, its registry, and tar.
";

/// The package, with its version.
const PACKAGE: &str = "uplot@1.6.32";

/// The hash of the whole package, as the registry states it.
const INTEGRITY: &str =
    "sha512-KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw==";

/// Files of the package, and their names here.
const FILES: [(&str, &str); 3] = [
    ("package/dist/uPlot.iife.min.js", "uPlot.iife.min.js"),
    ("package/dist/uPlot.min.css", "uPlot.min.css"),
    ("package/LICENSE", "uPlot.LICENSE"),
];

/// Where the copies are, below the root.
const COPIES: &str = "crates/neuronx-mem-view/assets/vendor";

/// Runs the command.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    if let Some(argument) = arguments.first() {
        return Err(Failure::Usage(format!("`vendor` takes no argument, not `{argument}`")));
    }
    let workspace = Workspace::load()?;
    let root = workspace.root();
    let folder = root.join("target/vendor");
    let broken = |what: &str, path: &Path, error: &std::io::Error| {
        Failure::Broken(format!("cannot {what} {}: {error}", path.display()))
    };
    fs::create_dir_all(&folder).map_err(|error| broken("make", &folder, &error))?;
    let mut pack = Command::new("npm");
    pack.current_dir(&folder).args(["pack", PACKAGE, "--json", "--ignore-scripts"]);
    process::announce(&pack);
    let packed = pack.output().map_err(|error| Failure::Broken(format!("cannot start npm: {error}")))?;
    // npm has compared the file with the hash that the registry states; this compares that with ours.
    let text = String::from_utf8_lossy(&packed.stdout);
    if !packed.status.success() || !text.contains(INTEGRITY) {
        return Err(Failure::Broken(format!("{PACKAGE} could not be fetched, or is not the one known here")));
    }
    let mut unpack = Command::new("tar");
    unpack.current_dir(&folder).args(["-xzf", &format!("{}.tgz", PACKAGE.replace('@', "-"))]);
    unpack.args(FILES.map(|(path, _)| path));
    process::run(unpack)?;
    for (path, name) in FILES {
        let (from, to) = (folder.join(path), root.join(COPIES).join(name));
        fs::copy(&from, &to).map_err(|error| broken("write", &to, &error))?;
        println!("{COPIES}/{name}");
    }
    Ok(())
}

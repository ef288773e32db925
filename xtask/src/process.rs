//! Subprocesses: `cargo` at the workspace root, shown before it runs.
//!
//! Knows how to start a program, print its command line to standard error and collect its output.
//! Does not know what any output means.

use std::io::{BufRead, BufReader, PipeReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::failure::Failure;

/// What a finished program left behind.
pub(crate) struct Captured {
    /// Whether it exited with code 0.
    pub(crate) success: bool,
    /// Standard output and standard error in the order written.
    pub(crate) text: String,
    /// Wall time from start to end.
    pub(crate) elapsed: Duration,
}

/// A running program whose standard output and standard error arrive on one pipe, in order.
pub(crate) struct Merged {
    child: Child,
    lines: BufReader<PipeReader>,
    shown: String,
}

impl Merged {
    /// Starts the program.
    pub(crate) fn spawn(mut command: Command) -> Result<Self, Failure> {
        let shown = describe(&command);
        let broken = |error| Failure::Broken(format!("cannot start `{shown}`: {error}"));
        let (reader, writer) = std::io::pipe().map_err(broken)?;
        command.stdout(writer.try_clone().map_err(broken)?).stderr(writer);
        let child = command.spawn().map_err(broken)?;
        // The command holds the write ends; while it lives the pipe never reports its end.
        drop(command);
        Ok(Self { child, lines: BufReader::new(reader), shown })
    }

    /// The next line without its line end, or `None` at the end of the output.
    pub(crate) fn next_line(&mut self) -> Result<Option<String>, Failure> {
        let mut bytes = Vec::new();
        let n_bytes = self.lines.read_until(b'\n', &mut bytes).map_err(|error| self.broken(&error))?;
        if n_bytes == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&bytes);
        Ok(Some(line.trim_end_matches(['\r', '\n']).to_owned()))
    }

    /// Waits for the end of the program.
    pub(crate) fn wait(&mut self) -> Result<ExitStatus, Failure> {
        self.child.wait().map_err(|error| self.broken(&error))
    }

    fn broken(&self, error: &std::io::Error) -> Failure {
        Failure::Broken(format!("lost `{}`: {error}", self.shown))
    }
}

/// `cargo` with the given arguments, at the workspace root.
///
/// It is the `cargo` that started this program, so that a toolchain chosen with `cargo +NAME`
/// stays the one in use.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(arguments);
    command
}

/// Shows the command and runs it with its output on the screen.
pub(crate) fn run(mut command: Command) -> Result<(), Failure> {
    announce(&command);
    let status = command
        .status()
        .map_err(|error| Failure::Broken(format!("cannot start `{}`: {error}", describe(&command))))?;
    if status.success() { Ok(()) } else { Err(Failure::Reported) }
}

/// Runs the command in silence and returns all of its output.
pub(crate) fn capture(command: Command) -> Result<Captured, Failure> {
    let start = Instant::now();
    let mut merged = Merged::spawn(command)?;
    let mut text = String::new();
    while let Some(line) = merged.next_line()? {
        text.push_str(&line);
        text.push('\n');
    }
    let status = merged.wait()?;
    if !status.success() {
        // A crash prints nothing itself; without this line its output would look complete.
        text.push_str(&format!("{status}\n"));
    }
    Ok(Captured { success: status.success(), text, elapsed: start.elapsed() })
}

/// Prints the command line to standard error.
pub(crate) fn announce(command: &Command) {
    eprintln!("$ {}", describe(command));
}

/// The command line as a person would type it: changed variables, program name, arguments.
pub(crate) fn describe(command: &Command) -> String {
    let mut words = Vec::new();
    for (name, value) in command.get_envs() {
        // A removed variable is the rare case and has no short form in a shell.
        if let Some(value) = value {
            words.push(format!("{}={}", name.to_string_lossy(), quote(&value.to_string_lossy())));
        }
    }
    let program = Path::new(command.get_program());
    words.push(program.file_stem().unwrap_or(program.as_os_str()).to_string_lossy().into_owned());
    words.extend(command.get_args().map(|argument| quote(&argument.to_string_lossy())));
    words.join(" ")
}

fn quote(word: &str) -> String {
    if word.is_empty() || word.contains([' ', '"', '$']) { format!("'{word}'") } else { word.to_owned() }
}

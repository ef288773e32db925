//! Starting children and listening to all of them.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use crate::child::{DIRECTORY, MARK, ROLE};

/// Longest silence of all children together. Only a test that would fail anyway meets it.
const PATIENCE: Duration = Duration::from_secs(120);

/// This program in a role.
pub(crate) fn command(role: &str, directory: &Path) -> Command {
    with_role(Command::new(env::current_exe().unwrap()), role, directory)
}

/// This program in a role, behind words of another that runs it.
pub(crate) fn command_behind(words: &[&str], role: &str, directory: &Path) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(env::current_exe().unwrap());
    with_role(command, role, directory)
}

fn with_role(mut command: Command, role: &str, directory: &Path) -> Command {
    command.args(["--exact", "child::role", "--nocapture"]).env(ROLE, role).env(DIRECTORY, directory);
    command
}

/// Children in one role, with what they say in the order in which they say it.
pub(crate) struct Children {
    children: Vec<(Child, ChildStdin)>,
    said: Receiver<(usize, String)>,
}

impl Children {
    pub(crate) fn start(n_children: usize, role: &str, directory: &Path) -> Self {
        let (sender, said) = mpsc::channel();
        let children = (0..n_children).map(|idx| start(idx, command(role, directory), &sender));
        Self { children: children.collect(), said }
    }

    /// The next thing that any of them says.
    pub(crate) fn next(&self) -> (usize, String) {
        self.said.recv_timeout(PATIENCE).unwrap()
    }

    /// Waits for this many things; those that said `wanted`, and a count of the rest.
    pub(crate) fn who_say(&self, n_things: usize, wanted: &str) -> Vec<usize> {
        let said: Vec<_> = (0..n_things).map(|_| self.next()).collect();
        said.into_iter().filter(|(_, text)| text == wanted).map(|(idx, _)| idx).collect()
    }

    pub(crate) fn tell(&mut self, idx: usize) {
        self.children[idx].1.write_all(b"go\n").unwrap();
    }

    pub(crate) fn tell_all(&mut self) {
        (0..self.children.len()).for_each(|idx| self.tell(idx));
    }

    /// `SIGKILL`, and the end of the process.
    pub(crate) fn kill(&mut self, idx: usize) {
        self.children[idx].0.kill().unwrap();
        assert_eq!(self.children[idx].0.wait().unwrap().code(), None);
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for (child, _) in &mut self.children {
            // Those that have ended are only collected.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn start(idx: usize, mut command: Command, sender: &Sender<(usize, String)>) -> (Child, ChildStdin) {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
    let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let sender = sender.clone();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if let Some(text) = line.strip_prefix(MARK) {
                // Nobody listens any more once the test is over.
                let _ = sender.send((idx, text.to_owned()));
            }
        }
    });
    (child, stdin)
}

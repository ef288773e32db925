//! The program `neuron-numa-launch`: what it becomes, and what it says.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

use neuronx_mem_numa::{Host, NodeId, ProcessRef, SystemRoot};

use crate::machine::Machine;

/// Programs in a directory that is all of `PATH`; `neuron-ls` shows a device on a node of this machine.
struct Place {
    machine: Machine,
    node: NodeId,
}

impl Place {
    fn new() -> Self {
        let machine = Machine::bare();
        let host = Host::read(&SystemRoot::default(), ProcessRef::Own);
        let usable =
            |node: &NodeId| host.nodes[node].intersects(&host.allowed) && host.memory_nodes.contains(*node);
        let node = host.nodes.keys().copied().find(usable).unwrap_or_default();
        machine.tool(&format!(
            r#"[{{"neuron_device": 0, "numa_node": "{node}", "cpu_affinity": "{}", "nc_count": 2}}]"#,
            host.allowed
        ));
        // As the real one does: options, then the program in its place.
        machine.program("numactl", "echo \"$@\" >> \"$CALLS\"\nshift 2\nexec \"$@\"");
        machine.program("python3", "echo \"python3 $*\"\necho \"marker $NEURONX_MEM_NUMA_LAUNCHED\"");
        for tool in ["cat", "grep"] {
            // The scripts need them, and `PATH` has nothing else.
            let path = ["/bin", "/usr/bin"].map(|folder| format!("{folder}/{tool}"));
            let path = path.iter().find(|path| fs::exists(path).unwrap()).unwrap();
            std::os::unix::fs::symlink(path, machine.path("bin").join(tool)).unwrap();
        }
        Self { machine, node }
    }

    /// Rank 1, in an environment that has nothing else.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-numa-launch"));
        command.args(arguments).env_clear().env("LOCAL_RANK", "1");
        command.env("PATH", self.machine.path("bin")).env("CALLS", self.machine.path("calls"));
        command.env("PYTHON_EXEC", self.machine.path("bin/python3"));
        command.stdin(Stdio::null());
        command
    }

    fn calls(&self) -> String {
        self.machine.neutral(&fs::read_to_string(self.machine.path("calls")).unwrap_or_default())
    }

    fn remove(&self, program: &str) {
        fs::remove_file(self.machine.path("bin").join(program)).unwrap();
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Exit code, standard output, standard error.
fn outcome(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.code().unwrap(), text(&stdout), text(&stderr))
}

#[test]
fn python_runs_under_numactl_with_all_arguments() {
    let place = Place::new();
    let (code, out, err) = outcome(&mut place.command(&["./train.py", "--help", "--dry-run", "-c", "a b"]));
    let node = place.node;
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, format!("python3 ./train.py --help --dry-run -c a b\nmarker {node}\n"));
    let calls = place.calls();
    let (tried, real) = calls.split_once('\n').unwrap();
    let options = format!("--membind={node} --cpunodebind={node}");
    assert_eq!(real, format!("{options} ROOT/bin/python3 ./train.py --help --dry-run -c a b\n"));
    assert!(tried.starts_with(&options) && tried.ends_with("neuron-numa-launch --version"), "{tried}");
}

#[test]
fn a_dry_run_prints_what_would_run() {
    let place = Place::new();
    let (code, out, err) = outcome(&mut place.command(&["--dry-run", "-m", "pkg.train", "it's"]));
    assert_eq!((code, err.as_str()), (0, ""));
    let node = place.node;
    let expected = format!(
        "ROOT/bin/numactl --membind={node} --cpunodebind={node} ROOT/bin/python3 -m pkg.train 'it'\\''s'\n"
    );
    assert_eq!(place.machine.neutral(&out), expected);
    place.remove("numactl");
    let (code, out, err) = outcome(place.command(&["--dry-run", "x.py"]).env("LOCAL_RANK", "0"));
    assert_eq!((code, place.machine.neutral(&out).as_str()), (0, "ROOT/bin/python3 x.py\n"));
    assert_eq!(err, "neuron-numa-launch: warning: not pinned: numactl is not on PATH\n");
}

#[test]
fn process_exit_code_and_signal_are_those_of_python() {
    let place = Place::new();
    place.machine.program("python3", "echo $$; exit \"$2\"");
    for (with_numactl, code) in [(true, "3"), (true, "137"), (false, "3"), (false, "0")] {
        let mut command = place.command(&["x.py", code]);
        command.env("NEURON_NUMA_PIN", if with_numactl { "1" } else { "0" });
        let child = command.stdout(Stdio::piped()).spawn().unwrap();
        let id = child.id();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), text(&output.stdout)), (code.parse().ok(), format!("{id}\n")));
    }
    place.machine.program("python3", "kill -TERM $$");
    let output = place.command(&["x.py"]).output().unwrap();
    assert_eq!(output.status.signal(), Some(15));
}

#[test]
fn signals_are_as_they_were() {
    let place = Place::new();
    place.machine.program("python3", "grep SigIgn /proc/self/status");
    // SIGPIPE, which Rust ignores, is the thirteenth; numactl is left out because it is a shell here.
    let (_, out, _) = outcome(place.command(&["x.py"]).env("NEURON_NUMA_PIN", "0"));
    let ignored = u64::from_str_radix(out.trim().trim_start_matches("SigIgn:").trim(), 16).unwrap();
    assert_eq!(ignored >> 12 & 1, 0, "{out}");
}

#[test]
fn arguments_need_not_be_text() {
    let place = Place::new();
    place.machine.program("python3", "echo \"$1\"");
    let output = place.command(&[]).arg(OsStr::from_bytes(b"a\xffb")).output().unwrap();
    assert_eq!(output.stdout, b"a\xffb\n");
}

#[test]
fn the_switch_starts_plain_python_and_says_nothing() {
    let place = Place::new();
    for off in ["0", " Off "] {
        let mut command = place.command(&["x.py"]);
        command.env("NEURON_NUMA_PIN", off).env("NEURONX_MEM_NUMA_LAUNCHED", "7");
        // A marker from outside would be a lie.
        assert_eq!(outcome(&mut command), (0, "python3 x.py\nmarker \n".to_owned(), String::new()));
    }
    assert_eq!(place.calls(), "");
}

#[test]
fn what_goes_wrong_is_one_line_and_plain_python() {
    let place = Place::new();
    let check = |set: &dyn Fn(&mut Command), said: &str| {
        let mut command = place.command(&["x.py"]);
        set(&mut command);
        let (code, out, err) = outcome(&mut command);
        assert_eq!((code, out.as_str()), (0, "python3 x.py\nmarker \n"), "{said}");
        let expected = if said.is_empty() {
            String::new()
        } else {
            format!("neuron-numa-launch: warning: not pinned: {said}\n")
        };
        assert_eq!(place.machine.neutral(&err), expected);
    };
    check(&|command| _ = command.env_remove("LOCAL_RANK"), "LOCAL_RANK is not set");
    check(&|command| _ = command.env("LOCAL_RANK", "x"), "LOCAL_RANK is \"x\", which is no rank");
    check(&|command| _ = command.env("LOCAL_RANK", "2"), "local rank 2 has no logical core: there are 2");
    place.machine.program("numactl", "echo 'set_mempolicy: Operation not permitted' >&2; exit 1");
    check(&|_| {}, &format!("numactl cannot bind to NUMA node {} here", place.node));
    place.machine.program("neuron-ls", "echo 'driver is not loaded' >&2; exit 1");
    let said = "ROOT/bin/neuron-ls: ended with exit status: 1: driver is not loaded";
    check(&|command| _ = command.env("LOCAL_RANK", "0"), said);
    // All ranks have that reason, and one of them tells.
    check(&|_| {}, "");
    place.remove("numactl");
    check(&|command| _ = command.env("LOCAL_RANK", "0"), "numactl is not on PATH");
}

#[test]
fn a_program_that_cannot_be_started_has_the_exit_code_of_a_shell() {
    let place = Place::new();
    let missing = place.machine.path("missing");
    let (code, out, err) = outcome(place.command(&["x.py"]).env("PYTHON_EXEC", missing));
    assert_eq!((code, out.as_str()), (127, ""));
    let said = "neuron-numa-launch: error: PYTHON_EXEC: ROOT/missing: no such program\n";
    assert_eq!(place.machine.neutral(&err), said);
    let plain = place.machine.write("plain", "");
    let (code, ..) = outcome(place.command(&["x.py"]).env("PYTHON_EXEC", plain));
    assert_eq!(code, 126);
    // Found, executable, and still nothing that the system can start.
    let broken = place.machine.write("bin/broken", "#!/no/such/interpreter");
    fs::set_permissions(&broken, fs::Permissions::from_mode(0o755)).unwrap();
    let (code, _, err) =
        outcome(place.command(&["x.py"]).env("PYTHON_EXEC", &broken).env("NEURON_NUMA_PIN", "0"));
    assert_eq!(code, 127);
    let said = "neuron-numa-launch: error: ROOT/bin/broken: No such file or directory (os error 2)\n";
    assert_eq!(place.machine.neutral(&err), said);
}

#[test]
fn usage_help_and_version() {
    let place = Place::new();
    let (code, out, err) = outcome(&mut place.command(&[]));
    assert_eq!((code, out.as_str()), (2, ""));
    insta::assert_snapshot!(err, @"
    Usage: neuron-numa-launch [--dry-run] SCRIPT [ARGUMENT...]
           neuron-numa-launch --help
    ");
    assert_eq!(outcome(&mut place.command(&["--dry-run"])), (2, String::new(), err));
    let (code, out, err) = outcome(&mut place.command(&["--help"]));
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(out);
    let (code, out, _) = outcome(&mut place.command(&["--version"]));
    assert_eq!((code, out), (0, format!("neuron-numa-launch {}\n", env!("CARGO_PKG_VERSION"))));
}

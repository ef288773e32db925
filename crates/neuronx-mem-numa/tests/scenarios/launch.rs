//! What the launcher decides, with everything handed in.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use neuronx_mem_numa::Lnc;
use neuronx_mem_numa::launch::{Launch, LaunchInputs, PythonError, Unpinned, find_python};

use crate::machine::{Machine, output_of};

/// A trn2.48xlarge with `neuron-ls`, `numactl` and Python.
fn machine() -> Machine {
    let machine = Machine::of("trn2.48xlarge");
    machine.tool(&output_of("trn2.48xlarge"));
    machine.program("numactl", "");
    machine.program("python3", "");
    machine
}

struct Asked<'a> {
    machine: &'a Machine,
    rank: Option<&'a str>,
    lnc: Option<Lnc>,
    works: bool,
}

impl<'a> Asked<'a> {
    fn of(machine: &'a Machine, rank: &'a str) -> Self {
        Self { machine, rank: Some(rank), lnc: None, works: true }
    }

    fn decide(&self, is_enabled: bool) -> Launch {
        let (root, bin) = (self.machine.root(), self.machine.path("bin"));
        let inputs = LaunchInputs {
            root: &root,
            search_path: Some(bin.as_os_str()),
            is_enabled,
            local_rank: self.rank.map(OsStr::new),
            lnc: self.lnc,
        };
        let arguments = ["./train.py", "--name", "it's 5 o'clock", "", "--", "-m"].map(OsString::from);
        Launch::decide(&inputs, Path::new("/venv/bin/python3"), &arguments, |_, _| self.works)
    }

    #[track_caller]
    fn node(&self) -> u32 {
        let launch = self.decide(true);
        assert_eq!(launch.unpinned, None);
        launch.node.unwrap().get()
    }

    /// The reason, after a look at what starts instead.
    #[track_caller]
    fn reason(&self) -> String {
        let launch = self.decide(true);
        assert_eq!((launch.program.as_path(), launch.node), (Path::new("/venv/bin/python3"), None));
        assert_eq!(launch.arguments.len(), 6);
        let reason = launch.unpinned.unwrap();
        assert!(!reason.is_wanted());
        self.machine.neutral(&reason.to_string())
    }
}

#[test]
fn the_node_is_that_of_the_rank() {
    let machine = machine();
    let nodes: Vec<u32> = (0..64).map(|rank| Asked::of(&machine, &rank.to_string()).node()).collect();
    let expected: Vec<u32> = (0..64).map(|rank| u32::from(!(16..48).contains(&rank))).collect();
    assert_eq!(nodes, expected);
}

#[test]
fn at_lnc_1_twice_as_many_ranks_share_a_device() {
    let machine = machine();
    let node = |rank| Asked { lnc: Some(Lnc::One), ..Asked::of(&machine, rank) }.node();
    assert_eq!(["31", "32", "95", "96", "127"].map(node), [1, 0, 0, 1, 1]);
}

#[test]
fn the_command_line_can_be_pasted_into_a_shell() {
    let machine = machine();
    let line = machine.neutral(&Asked::of(&machine, "16").decide(true).command_line());
    insta::assert_snapshot!(line, @r"ROOT/bin/numactl --membind=0 --cpunodebind=0 /venv/bin/python3 ./train.py --name 'it'\''s 5 o'\''clock' '' -- -m");
    let line = Asked { rank: None, ..Asked::of(&machine, "") }.decide(true).command_line();
    insta::assert_snapshot!(line, @r"/venv/bin/python3 ./train.py --name 'it'\''s 5 o'\''clock' '' -- -m");
}

#[test]
fn numactl_is_tried_with_the_options_that_count() {
    let machine = machine();
    let (root, bin) = (machine.root(), machine.path("bin"));
    let inputs = LaunchInputs {
        root: &root,
        search_path: Some(bin.as_os_str()),
        is_enabled: true,
        local_rank: Some("3".as_ref()),
        lnc: None,
    };
    let seen = RefCell::new(Vec::new());
    let works = |program: &Path, options: &[OsString]| {
        seen.borrow_mut().push((program.to_owned(), options.to_vec()));
        true
    };
    Launch::decide(&inputs, Path::new("python"), &[], works);
    let options = ["--membind=1", "--cpunodebind=1"].map(OsString::from).to_vec();
    assert_eq!(seen.into_inner(), [(bin.join("numactl"), options)]);
}

#[test]
fn every_obstacle_has_a_reason_and_plain_python() {
    let machine = machine();
    let of = |rank: &'static str| Asked::of(&machine, rank);
    assert_eq!(Asked { rank: None, ..of("") }.reason(), "LOCAL_RANK is not set");
    assert_eq!(of("").reason(), "LOCAL_RANK is \"\", which is no rank");
    assert_eq!(of("-1").reason(), "LOCAL_RANK is \"-1\", which is no rank");
    assert_eq!(of("4294967296").reason(), "LOCAL_RANK is \"4294967296\", which is no rank");
    assert_eq!(of("one\n").reason(), "LOCAL_RANK is \"one\\n\", which is no rank");
    assert_eq!(of("64").reason(), "local rank 64 has no logical core: there are 64");
    assert_eq!(Asked { works: false, ..of("0") }.reason(), "numactl cannot bind to NUMA node 1 here");
    machine.allow("0-191", "0");
    assert_eq!(of("0").reason(), "memory of NUMA node 1 is not allowed here; allowed is that of 0");
    machine.allow("0-47", "0");
    assert_eq!(of("0").reason(), "no CPU of NUMA node 1 is allowed here; allowed are 0-47");
    machine.program("neuron-ls", "exit 1");
    assert_eq!(of("0").reason(), "ROOT/bin/neuron-ls: ended with exit status: 1");
    machine.tool("[]");
    assert_eq!(of("0").reason(), "neuron-ls lists no device");
    machine.tool("neuron-ls: no devices");
    assert_eq!(of("0").reason(), "the output of neuron-ls is no JSON: expected ident at line 1 column 2");
    std::fs::remove_file(machine.path("bin/neuron-ls")).unwrap();
    assert_eq!(of("0").reason(), "neuron-ls is neither on PATH nor in /opt/aws/neuron/bin");
    std::fs::remove_file(machine.path("bin/numactl")).unwrap();
    assert_eq!(of("0").reason(), "numactl is not on PATH");
}

#[test]
fn a_switch_that_is_off_is_no_obstacle() {
    let machine = machine();
    let launch = Asked::of(&machine, "0").decide(false);
    assert_eq!((launch.node, launch.unpinned), (None, Some(Unpinned::Disabled)));
    assert!(Unpinned::Disabled.is_wanted());
}

#[test]
fn python_is_the_one_that_is_asked_for_then_the_one_beside_then_that_on_path() {
    let machine = Machine::bare();
    let [bin, venv] = ["bin", "venv"].map(|folder| machine.path(folder));
    let search = Some(bin.as_os_str());
    let find = |exec: Option<&str>| find_python(exec.map(OsStr::new), Some(&venv), search);
    assert_eq!(find(None), Err(PythonError::Missing));
    let mut expected: Vec<PathBuf> = Vec::new();
    for name in ["python", "python3", "../venv/python", "../venv/python3"] {
        machine.program(name, "");
        expected.push(find(None).unwrap());
    }
    let [first, second] = [bin.join("python"), bin.join("python3")];
    assert_eq!(expected, [first, second, venv.join("python"), venv.join("python3")]);
    assert_eq!(find(Some("")), Ok(venv.join("python3")));
    assert_eq!(find(Some("python")), Ok(bin.join("python")));
    let path = bin.join("python").display().to_string();
    assert_eq!(find(Some(&path)), Ok(bin.join("python")));
}

#[test]
fn a_python_that_cannot_be_started_has_the_exit_code_of_a_shell() {
    let machine = Machine::bare();
    let plain = machine.write("plain", "").display().to_string();
    let missing = machine.path("missing").display().to_string();
    let error = |exec: &str| find_python(Some(exec.as_ref()), None, None).unwrap_err();
    assert_eq!((error(&plain).exit_code(), error(&missing).exit_code()), (126, 127));
    assert_eq!(machine.neutral(&error(&plain).to_string()), "PYTHON_EXEC: ROOT/plain: not executable");
    assert_eq!(machine.neutral(&error(&missing).to_string()), "PYTHON_EXEC: ROOT/missing: no such program");
    assert_eq!(error("pypy").to_string(), "PYTHON_EXEC: pypy: no such program");
    assert_eq!(PythonError::Missing.exit_code(), 127);
}

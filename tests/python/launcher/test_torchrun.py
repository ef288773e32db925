"""neuron-numa-launch under the real torchrun, with and without numactl.

Run by `cargo xtask test --python`, which sets NEURON_NUMA_LAUNCH to the launcher and makes torch
available. `neuron-ls` is a script that shows one device on a node of this machine; `numactl` is one that
records its arguments and then becomes the program, as the real one does.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

LAUNCHER = os.environ["NEURON_NUMA_LAUNCH"]

# No test waits for a time; this ends one that would wait for ever.
LIMIT = 300

NUMACTL = """#!/bin/sh
echo "$@" >> "$CALLS/numactl.$LOCAL_RANK"
shift 2
exec "$@"
"""

# Writes what it sees, then ends as it is told.
WORKER = """
import json, os, signal, sys
rank = os.environ["LOCAL_RANK"]
seen = {
    "pid": os.getpid(),
    "arguments": sys.argv[1:],
    "marker": os.environ.get("NEURONX_MEM_NUMA_LAUNCHED"),
    "executable": sys.executable,
}
path = os.path.join(os.environ["CALLS"], f"worker.{rank}")
with open(path + ".new", "w") as file:
    json.dump(seen, file)
# Whole or not there: torchrun may end this rank when the other one fails.
os.rename(path + ".new", path)
if rank == os.environ["WHO_ENDS"]:
    code = int(sys.argv[1])
    if code < 0:
        os.kill(os.getpid(), -code)
    sys.exit(code)
"""

# Rank 0 fails as soon as rank 1 is ready to be told to end; without a failing rank both wait.
HANDLER = """
import os, signal, sys
rank, calls = os.environ["LOCAL_RANK"], os.environ["CALLS"]
if rank == os.environ["WHO_ENDS"]:
    open(os.path.join(calls, "ready.1")).read()
    sys.exit(3)
def handle(number, _frame):
    with open(os.path.join(calls, f"signal.{rank}"), "w") as file:
        file.write(f"{number} {os.getpid()}")
    sys.exit(0)
signal.signal(signal.SIGTERM, handle)
with open(os.path.join(calls, f"ready.{rank}"), "w") as file:
    file.write(str(os.getpid()))
while True:
    signal.pause()
"""


def cpus_and_node():
    """What this process may run on, and a node that has memory for it."""
    status = pathlib.Path("/proc/self/status").read_text()
    cpus = re.search(r"^Cpus_allowed_list:\s*(\S+)", status, re.M).group(1)
    nodes = re.search(r"^Mems_allowed_list:\s*(\d+)", status, re.M)
    return cpus, int(nodes.group(1)) if nodes else 0


class Torchrun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "bin").mkdir()
        cpus, self.node = cpus_and_node()
        device = {"neuron_device": 0, "cpu_affinity": cpus, "numa_node": str(self.node), "nc_count": 2}
        self.program("neuron-ls", f"#!/bin/sh\necho '{json.dumps([device])}'\n")

    def program(self, name, text):
        path = self.folder / "bin" / name
        path.write_text(text)
        path.chmod(0o755)

    def start(self, script, *arguments, who_ends, **variables):
        """torchrun with two ranks."""
        path = self.folder / "script.py"
        path.write_text(script)
        command = [sys.executable, "-m", "torch.distributed.run", "--no-python", "--standalone"]
        command += ["--nproc_per_node", "2", LAUNCHER, path, *arguments]
        kept = {name: os.environ[name] for name in ("PYTHONPATH", "LANG", "HOME") if name in os.environ}
        environment = {
            **kept,
            "PATH": str(self.folder / "bin"),
            "PYTHON_EXEC": sys.executable,
            "PYTHONDONTWRITEBYTECODE": "1",
            "CALLS": str(self.folder),
            "WHO_ENDS": str(who_ends),
            "OMP_NUM_THREADS": "1",
            **variables,
        }
        output = subprocess.PIPE
        return subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT, text=True)

    def run_worker(self, code, **variables):
        """Exit code and output of torchrun; what each rank saw."""
        run = self.start(WORKER, str(code), "--lr", "0.1 x", who_ends=0, **variables)
        output, _ = run.communicate(timeout=LIMIT)
        seen = [self.folder / f"worker.{rank}" for rank in (0, 1)]
        return run.returncode, output, [json.loads(path.read_text()) for path in seen if path.exists()]

    def check_code(self, code, marker):
        returned, output, seen = self.run_worker(code)
        self.assertEqual(seen[0]["arguments"], [str(code), "--lr", "0.1 x"], output)
        self.assertEqual(seen[0]["marker"], marker)
        self.assertNotIn("not pinned", output if marker else "")
        self.assertEqual(returned, 0 if code == 0 else 1, output)
        if code == 0:
            self.assertEqual(len({worker["pid"] for worker in seen}), 2)
            return
        # torchrun knows its child by the launcher's process id: the launcher has become Python. The other
        # rank is in the report too when it was still running.
        reported = re.findall(r"exitcode\s*: (-?\d+) \(pid: (\d+)\)", output)
        self.assertIn((str(code), str(seen[0]["pid"])), reported, output)

    def check_recorded(self, rank):
        """The trial run with the launcher itself, then the real one."""
        trial, real = (self.folder / f"numactl.{rank}").read_text().splitlines()
        options = f"--membind={self.node} --cpunodebind={self.node}"
        self.assertEqual(trial, f"{options} {LAUNCHER} --version")
        self.assertTrue(real.startswith(f"{options} {sys.executable} {self.folder}/script.py "), real)


class Plain(Torchrun):
    """Without numactl: plain Python, and one line that says so."""

    def test_exit_codes_pass_through(self):
        for code in (0, 3, 137, -signal.SIGKILL):
            with self.subTest(code):
                self.check_code(code, marker=None)

    def test_one_rank_says_why(self):
        _, output, _ = self.run_worker(0)
        self.assertEqual(output.count("neuron-numa-launch: warning: not pinned: numactl is not on PATH"), 1)

    def test_switched_off_it_says_nothing(self):
        self.program("numactl", NUMACTL)
        returned, output, seen = self.run_worker(0, NEURON_NUMA_PIN="0")
        self.assertEqual(returned, 0, output)
        self.assertNotIn("neuron-numa-launch", output)
        self.assertEqual([worker["marker"] for worker in seen], [None, None])
        self.assertFalse((self.folder / "numactl.0").exists())


class UnderNumactl(Torchrun):
    """With a numactl that records its arguments."""

    def setUp(self):
        super().setUp()
        self.program("numactl", NUMACTL)

    def test_exit_codes_pass_through(self):
        for code in (0, 3, 137, -signal.SIGKILL):
            with self.subTest(code):
                for record in [*self.folder.glob("numactl.*"), *self.folder.glob("worker.*")]:
                    record.unlink()
                self.check_code(code, marker=str(self.node))
                self.check_recorded(0)

    def test_a_numactl_that_fails_is_left_out(self):
        self.program("numactl", "#!/bin/sh\nexit 1\n")
        returned, output, seen = self.run_worker(0)
        self.assertEqual(returned, 0, output)
        self.assertEqual([worker["marker"] for worker in seen], [None, None])
        self.assertIn(f"not pinned: numactl cannot bind to NUMA node {self.node} here", output)


class Signals(Torchrun):
    """SIGTERM reaches Python's own handlers, with numactl and without."""

    def each_way(self):
        for numactl in (None, NUMACTL):
            with self.subTest(numactl=bool(numactl)):
                if numactl:
                    self.program("numactl", numactl)
                yield
                for path in [*self.folder.glob("ready.*"), *self.folder.glob("signal.*")]:
                    path.unlink()

    def test_of_a_rank_when_another_fails(self):
        for _ in self.each_way():
            os.mkfifo(self.folder / "ready.1")
            run = self.start(HANDLER, who_ends=0)
            output, _ = run.communicate(timeout=LIMIT)
            self.assertEqual(run.returncode, 1, output)
            self.assertIn("exitcode  : 3", output)
            number, _ = (self.folder / "signal.1").read_text().split()
            self.assertEqual(int(number), signal.SIGTERM)

    def test_of_all_ranks_when_torchrun_is_told_to_end(self):
        for _ in self.each_way():
            ready = [self.folder / f"ready.{rank}" for rank in (0, 1)]
            for path in ready:
                os.mkfifo(path)
            run = self.start(HANDLER, who_ends="nobody")
            pids = [int(path.read_text()) for path in ready]
            run.send_signal(signal.SIGTERM)
            output, _ = run.communicate(timeout=LIMIT)
            for rank, pid in enumerate(pids):
                seen = (self.folder / f"signal.{rank}").read_text()
                self.assertEqual(seen, f"{int(signal.SIGTERM)} {pid}", output)


if __name__ == "__main__":
    unittest.main()

"""`python -m neuronx_mem run` from outside: what it prints where, and how it ends."""

import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest

TRAIN = """\
import sys
import torch
print(sys.argv[1:], __name__, torch.accelerator.memory_allocated())
layer = torch.nn.Linear(1024, 1024, device="neuron")
layer(torch.ones(8, 1024, device="neuron")).sum().backward()
print(torch.accelerator.memory_allocated() > 8 << 20)
"""

TOO_LARGE = """\
import torch
def build():
    held = []
    while True:
        held.append(torch.empty(250 << 20, dtype=torch.uint8, device="neuron"))
build()
"""


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_script(self, text, *options, arguments=()):
        script = self.folder / "train.py"
        script.write_text(text)
        call = [sys.executable, "-m", "neuronx_mem", "run", *map(str, options), str(script), *arguments]
        return subprocess.run(call, capture_output=True, text=True, check=False, env=dict(os.environ))

    def test_the_program_keeps_stdout_and_its_arguments(self):
        done = self.run_script(TRAIN, arguments=["--steps", "2", "--help"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "['--steps', '2', '--help'] __main__ 0\nTrue\n")
        self.assertIn("Neuron Memory Summary, Device 0", done.stderr)
        self.assertIn("Neuron Segment Pool Analysis, Device 0", done.stderr)

    def test_plan_mode_takes_the_same_memory(self):
        summaries = [self.run_script(TRAIN, *options).stderr for options in ([], ["--plan"])]
        first = [text.split("Segment Pool Analysis")[0] for text in summaries]
        self.assertEqual(*first)

    def test_a_snapshot_has_the_stacks_of_the_program(self):
        out = self.folder / "step.pickle"
        done = self.run_script(TRAIN, "--snapshot", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        trace = pickle.loads(out.read_bytes())["device_traces"][0]
        frames = [frame for entry in trace for frame in entry.get("frames", [])]
        self.assertTrue(any(frame["filename"].endswith("train.py") and frame["line"] == 4 for frame in frames))

    def test_out_of_memory_ends_with_a_report(self):
        done = self.run_script(TOO_LARGE, "--memory", "1GiB")
        self.assertEqual(done.returncode, 1)
        self.assertIn("OutOfMemoryError", done.stderr)
        self.assertIn("train.py", done.stderr)
        self.assertIn("build", done.stderr.split("what held it:")[1])
        self.assertNotIn("runpy", done.stderr)

    def test_exit_codes_are_the_programs(self):
        for text, code in [("raise SystemExit(3)", 3), ("raise SystemExit", 0), ("1 / 0", 1), ("exit('no')", 1)]:
            done = self.run_script(text)
            self.assertEqual(done.returncode, code, text)
        self.assertIn("no\n", done.stderr)

    def test_a_module_runs_as_well(self):
        (self.folder / "tool.py").write_text("import sys; print(__name__, sys.argv[1:])")
        call = [sys.executable, "-m", "neuronx_mem", "run", "-m", "tool", "x"]
        done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (0, "__main__ ['x']\n"), done.stderr)

    def test_wrong_options_are_one_line_and_code_2(self):
        done = self.run_script("", "--memory", "much")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        call = [sys.executable, "-m", "neuronx_mem", "run", "absent.py"]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "neuronx_mem run: error: absent.py: no such file\n")


if __name__ == "__main__":
    unittest.main()

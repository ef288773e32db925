"""`python -m neuronx_mem`: the command's verbs with their exit codes, without PyTorch."""

import subprocess
import sys
import unittest

from support import TRACES, variables

TRACE = TRACES / "int64_small.csv.zst"


def main(*arguments, **changed):
    call = [sys.executable, "-m", "neuronx_mem", *map(str, arguments)]
    return subprocess.run(call, capture_output=True, text=True, check=False, env=variables(**changed))


class Main(unittest.TestCase):
    def test_help(self):
        shown = main("--help")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertTrue(shown.stdout.startswith("Usage: python -m neuronx_mem run [OPTIONS] SCRIPT [ARGUMENTS]..."))
        self.assertIn("replay", shown.stdout)
        self.assertEqual(main().returncode, 2)

    def test_verbs_and_exit_codes(self):
        fits = main("replay", TRACE)
        self.assertEqual((fits.returncode, fits.stderr), (0, ""))
        self.assertIn("Neuron Memory Summary, Device 0", fits.stdout)
        self.assertEqual(main("replay", TRACE, "--memory", "1GiB").returncode, 1)
        bad = main("replay", "nosuch")
        self.assertEqual((bad.returncode, len(bad.stderr.splitlines())), (2, 1))
        self.assertEqual(main("nosuch").returncode, 2)

    def test_no_command(self):
        missing = main("replay", TRACE, NEURONX_MEM="/nosuch/neuronx-mem")
        self.assertEqual(
            (missing.returncode, missing.stderr),
            (127, "neuronx_mem: /nosuch/neuronx-mem: No such file or directory\n"),
        )

    def test_run_needs_pytorch(self):
        done = main("run", "script.py")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertTrue(done.stderr.startswith("neuronx_mem run: "), done.stderr)


if __name__ == "__main__":
    unittest.main()

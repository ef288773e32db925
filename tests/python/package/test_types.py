"""The package's types: `mypy --strict` finds nothing, and the stubs say what the native half has."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from support import ROOT, variables

FOLDER = ROOT / "crates/neuronx-mem-python"
TORCH = os.environ.get("NEURONX_MEM_TEST_TORCH")


def mypy(*arguments, **changed):
    call = [sys.executable, "-m", *arguments]
    env = variables(MYPY_CACHE_DIR=str(ROOT / "target/mypy"), **changed)
    return subprocess.run(call, capture_output=True, text=True, check=False, env=env, cwd=FOLDER)


class Types(unittest.TestCase):
    def test_strict(self):
        with tempfile.TemporaryDirectory() as folder:
            if TORCH:
                # Alone: what else is installed beside it is nothing to check.
                pathlib.Path(folder, "torch").symlink_to(pathlib.Path(TORCH, "torch"))
                checked = mypy("mypy", "--config-file", "pyproject.toml", MYPYPATH=folder)
            else:
                # Only where PyTorch is can its part be looked at.
                exclude = r"neuronx_mem/(torch/|_run\.py|_trace_model\.py|_autoload\.py)"
                checked = mypy("mypy", "--config-file", "pyproject.toml", "--exclude", exclude)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_a_program_sees_the_types(self):
        program = """
import neuronx_mem
number: int = neuronx_mem.memory_allocated("neuron:0")
text: str = neuronx_mem.memory_allocated()
block = neuronx_mem.Allocator().allocate(1)
block.nosuch()
"""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "program.py")
            path.write_text(program)
            checked = mypy("mypy", "--config-file", os.devnull, str(path))
        errors = [line.split(": ", 2)[2] for line in checked.stdout.splitlines() if ": error:" in line]
        self.assertEqual(
            errors,
            [
                'Incompatible types in assignment (expression has type "int", variable has type "str")  [assignment]',
                '"Block" has no attribute "nosuch"  [attr-defined]',
            ],
        )

    def test_stubs_agree_with_the_native_half(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as allowed:
            allowed.write("neuronx_mem._native.__all__\n")
            allowed.flush()
            options = ["--ignore-disjoint-bases", "--allowlist", allowed.name]
            checked = mypy("mypy.stubtest", "neuronx_mem._native", *options)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


if __name__ == "__main__":
    unittest.main()

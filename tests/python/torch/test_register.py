"""How the device gets registered, and when it must not be."""

import os
import stat
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support import run

IMPORT = "import neuronx_mem.torch, torch; print(torch.ones(2, device='neuron').sum().item())"

# A compiler that notes each call and makes the files that it is asked for out of a library that is there.
COMPILER = """#!/bin/sh
echo call >> "$NXM_LOG"
while [ $# -gt 0 ]; do
  if [ "$1" = -o ]; then cp "$NXM_BUILT" "$2"; fi
  shift
done
"""


def built():
    """The library that other tests use."""
    return run("from neuronx_mem.torch import _build; print(_build.library())").strip()


class Register(unittest.TestCase):
    """Each in a process of its own."""

    def test_nothing_happens_by_itself(self):
        text = run("import torch, neuronx_mem; print(torch._C._get_privateuse1_backend_name())")
        self.assertEqual(text, "privateuseone\n")

    def test_the_environment_registers_it(self):
        text = run("import torch; print(torch.ones(2, device='neuron').device)", NEURONX_MEM_SIMULATE="1")
        self.assertEqual(text, "neuron:0\n")
        text = run("import torch; print(torch._C._get_privateuse1_backend_name())", NEURONX_MEM_SIMULATE="0")
        self.assertEqual(text, "privateuseone\n")

    def test_what_the_environment_gets_wrong_does_not_break_torch(self):
        text = run("import torch; print(torch.ones(2).sum().item())", NEURONX_MEM_SIMULATE="1", NEURONX_MEM_MODE="x")
        self.assertEqual(text, "2.0\n")

    def test_a_second_time_is_nothing(self):
        self.assertEqual(run(IMPORT + "\nneuronx_mem.torch.register()"), "2.0\n")

    def test_another_backend_is_left_alone(self):
        script = """
        import torch
        torch.utils.rename_privateuse1_backend("other")
        try:
            import neuronx_mem.torch
        except Exception as error:
            print(type(error).__name__, "'other'" in str(error))
        """
        self.assertEqual(run(script), "BackendError True\n")

    def test_a_real_torch_neuronx_is_not_hidden(self):
        script = """
        import sys
        sys.path.insert(0, sys.argv[1])
        try:
            import neuronx_mem.torch
        except Exception as error:
            print(type(error).__name__)
        import torch_neuronx
        print(torch_neuronx.IS_REAL)
        """
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "torch_neuronx.py").write_text("IS_REAL = True\n")
            self.assertEqual(run(script, folder), "BackendError\nTrue\n")

    def test_the_alias_is_a_package_with_parts(self):
        script = """
        import neuronx_mem.torch
        import importlib.util, torch_neuronx, torch_neuronx.memory, torch_neuronx.numa
        from torch_neuronx import memory as mem
        print(importlib.util.find_spec("torch_neuronx") is not None, mem._dump_snapshot.__name__,
              torch_neuronx.numa.get_numa_status.__name__,
              torch_neuronx.get_device_properties("neuron").total_memory)
        """
        self.assertEqual(run(script), "True _dump_snapshot get_numa_status 25769803776\n")

    def test_variables(self):
        script = """
        import neuronx_mem.torch, torch
        print(torch.neuron.device_count(), torch.neuron.get_device_properties(1).total_memory >> 30,
              neuronx_mem.torch.get_mode(), neuronx_mem.torch.get_sdpa())
        """
        text = run(
            script,
            NEURONX_MEM_DEVICE="trn3",
            NEURONX_MEM_DEVICES="3",
            NEURONX_MEM_MODE="plan",
            NEURONX_MEM_SDPA="flash",
        )
        self.assertEqual(text, "3 36 plan flash\n")
        done = run("import neuronx_mem.torch", check=False, NEURONX_MEM_SDPA="efficient")
        self.assertIn("NEURONX_MEM_SDPA is 'efficient', not 'math' or 'flash'", done.stderr)

    def test_modes(self):
        script = """
        import neuronx_mem.torch as nt
        with nt.mode("plan"):
            print(nt.get_mode())
        print(nt.get_mode())
        nt.set_sdpa("flash")
        print(nt.get_sdpa(), nt.counters()["operators"])
        nt.clear_plans()
        nt.set_mode("fast")
        """
        done = run(script, check=False)
        self.assertEqual(done.stdout, "plan\ncompute\nflash 0\n")
        self.assertIn("ValueError: mode is 'fast', not 'compute' or 'plan'", done.stderr)


class Build(unittest.TestCase):
    """The cache, with a compiler that only copies."""

    def test_processes_that_start_together_compile_once(self):
        with tempfile.TemporaryDirectory() as folder:
            compiler, log = Path(folder, "c++"), Path(folder, "log")
            compiler.write_text(COMPILER)
            compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
            cache = Path(folder, "cache")
            variables = {
                "CXX": str(compiler),
                "NXM_LOG": str(log),
                "NXM_BUILT": built(),
                "NEURONX_MEM_CACHE": str(cache),
            }
            with ThreadPoolExecutor(4) as pool:
                texts = list(pool.map(lambda _: run(IMPORT, **variables), range(4)))
            self.assertEqual(texts, ["2.0\n"] * 4)
            # Two units and the library.
            self.assertEqual(log.read_text(), "call\n" * 3)
            self.assertEqual({path.suffix for path in cache.iterdir()}, {".so", ".lock"})

    def test_without_a_compiler_there_is_a_clear_error(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run(IMPORT, check=False, PATH=folder, CXX="", NEURONX_MEM_CACHE=folder)
            self.assertIn("BackendError: the backend for this version of PyTorch must be compiled once", done.stderr)
            done = run(IMPORT, check=False, CXX="false", NEURONX_MEM_CACHE=folder)
            self.assertIn("BackendError: the backend could not be compiled for PyTorch", done.stderr)
            self.assertEqual([path.suffix for path in Path(folder).iterdir()], [".lock"])

    def test_the_name_says_what_it_is_built_for(self):
        import torch

        name = os.path.basename(built())
        self.assertRegex(name, r"^neuronx-mem-torch[\w.-]+-abi[01]-\w+-[0-9a-f]{16}\.so$")
        self.assertIn(torch.__version__.replace("+", "-"), name)


if __name__ == "__main__":
    unittest.main()

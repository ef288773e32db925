"""int64 modes on the simulated device: values as the mode in force makes them, and the audit of a program."""

import os
import subprocess
import sys
import unittest

PROGRAM = """
import neuronx_mem
import neuronx_mem.torch
import torch

def tensor(*values):
    return torch.tensor(values, device="neuron")

wide = tensor((1 << 40) + 5, -1, 1 << 31)
"""

#: What is computed, and what comes out in 64 bits and on low words.
CASES = {
    "(wide + 1).tolist()": ([(1 << 40) + 6, 0, (1 << 31) + 1], [6, 0, -(1 << 31) + 1]),
    "(wide * 2).tolist()": ([(1 << 41) + 10, -2, 1 << 32], [10, -2, 0]),
    "wide.clone().add_(1).tolist()": ([(1 << 40) + 6, 0, (1 << 31) + 1], [6, 0, -(1 << 31) + 1]),
    "(wide > 0).tolist()": ([True, False, True], [True, False, False]),
    "wide.sum().item()": ((1 << 40) + 4 + (1 << 31), 4 - (1 << 31)),
    "(tensor(65536) * 65536).item()": (1 << 32, 0),
    # What is only moved keeps both words.
    "torch.cat([wide, wide])[3].item()": ((1 << 40) + 5, (1 << 40) + 5),
    "wide.flip(0)[2].item()": ((1 << 40) + 5, (1 << 40) + 5),
    "wide.gather(0, tensor((1 << 32) + 0 if PACKED else 0)).item()": ((1 << 40) + 5, (1 << 40) + 5),
    # A number that meets floats is one of them.
    "(torch.ones(1, device='neuron') * (1 << 40)).item()": (float(1 << 40), float(1 << 40)),
}


def run(program, mode="native", **variables):
    environment = os.environ | {"TORCH_NEURONX_INT64_MODE": mode, **variables}
    call = [sys.executable, "-c", PROGRAM + program]
    return subprocess.run(call, env=environment, capture_output=True, text=True, check=False)


class Values(unittest.TestCase):
    maxDiff = None

    def check(self, mode, is_packed):
        lines = "\n".join(f"print({case})" for case in CASES)
        done = run(f"PACKED = {is_packed}\n{lines}", mode)
        self.assertEqual(done.returncode, 0, done.stderr)
        values = [repr(case[is_packed]) for case in CASES.values()]
        self.assertEqual(dict(zip(CASES, done.stdout.splitlines())), dict(zip(CASES, values)))

    def test_native_computes_in_64_bits(self):
        self.check("native", False)

    def test_cpu_fallback_computes_in_64_bits(self):
        self.check("cpu_fallback", False)

    def test_packed_computes_on_low_words(self):
        self.check("packed", True)

    def test_what_native_has_no_64_bits_for_is_packed(self):
        done = run("print(torch.pow(wide, 1).tolist(), (wide + 1)[0].item())")
        self.assertEqual(done.stdout, f"[5, -1, {-(1 << 31)}] {(1 << 40) + 6}\n", done.stderr)

    def test_cpu_bounce_casts_what_is_moved_too(self):
        done = run("print(torch.cat([wide, wide]).tolist()[:3])", "cpu_bounce")
        self.assertEqual(done.stdout, f"[5, -1, {-(1 << 31)}]\n", done.stderr)


class Check(unittest.TestCase):
    CHECKED = {"mode": "packed", "TORCH_NEURONX_PACKED_INT64_CHECK_OVERFLOW": "1"}

    def check_refused(self, program, message):
        done = run(program, **self.CHECKED)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.splitlines()[-1], f"RuntimeError: {message}")

    def test_operands_and_results_are_judged(self):
        why = "is outside the range of int32 (1 such value), and the packed view computes with the low 32 bits"
        self.check_refused("tensor(1, 1 << 31) + 1", f"aten::add: operand 0, element 1: 2147483648 {why}")
        self.check_refused("tensor(1 << 16) * (1 << 16)", f"aten::mul: result, element 0: 4294967296 {why}")

    def test_what_fits_and_what_is_only_moved_passes(self):
        done = run("print((tensor(5) + 1).item(), torch.cat([wide, wide])[0].item())", **self.CHECKED)
        self.assertEqual(done.stdout, f"6 {(1 << 40) + 5}\n", done.stderr)


class Audit(unittest.TestCase):
    def test_the_program_is_audited_as_it_ran(self):
        done = run(
            "torch.ones(2, 2, device='neuron') @ torch.ones(2, 2, device='neuron')\n"
            "[(wide + 1) for _ in range(3)]\n"
            "torch.pow(wide, 2)\n"
            "rows = {row.operator: row for row in neuronx_mem.int64.audit().rows}\n"
            "add, power = rows['aten.add'], rows['aten.pow']\n"
            "print(add.calls, add.wide_bytes, add.route('native').path, power.route('native').path)\n"
            "print('aten.mm' in rows)\n"
            "neuronx_mem.int64.reset_audit()\n"
            "wide * 2\n"
            "print([row.operator for row in neuronx_mem.int64.audit().rows])\n"
        )
        self.assertEqual(done.stdout, "3 144 device64 device_packed\nFalse\n['aten.mul']\n", done.stderr)

    def test_without_the_device_there_is_nothing_to_audit(self):
        program = "import neuronx_mem\ntry: neuronx_mem.int64.audit()\nexcept RuntimeError as error: print(error)"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "no operator was seen: import neuronx_mem.torch before the program runs\n")


if __name__ == "__main__":
    unittest.main()

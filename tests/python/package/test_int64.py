"""The audit of 64-bit operators, by name, by count and from a trace."""

import unittest

import neuronx_mem
from neuronx_mem import int64

from support import TRACES, output


class Audit(unittest.TestCase):
    def test_names(self):
        audit = int64.audit(["aten.cumsum", "aten.mm.default", "aten.mm"])
        self.assertEqual((audit.mode, audit.calls, audit.wide_calls), ("native", 3, 3))
        by_name = {row.operator: row for row in audit.rows}
        self.assertEqual(by_name["aten.cumsum"].route("packed").path, "device_packed")
        self.assertEqual(by_name["aten.cumsum"].route("packed").risks, ("low_word",))
        self.assertEqual(by_name["aten.mm"].route("native").path, "cpu")
        self.assertEqual(tuple(route.mode for route in audit.rows[0].routes), int64.MODES)
        self.assertEqual([totals.mode for totals in audit.totals], list(int64.MODES))
        with self.assertRaises(KeyError):
            audit.rows[0].route("fast")
        self.assertIn("aten.cumsum", audit._repr_html_())

    def test_counts(self):
        audit = int64.audit({"aten.cumsum": 7, "aten.add": 5}, mode="packed", check_overflow=True)
        self.assertEqual((audit.mode, audit.check_overflow, audit.calls), ("packed", True, 12))

    def test_trace(self):
        audit = int64.audit(TRACES / "gpt2_bf16.jsonl.gz")
        self.assertGreater(audit.wide_calls, 0)
        self.assertEqual(audit.rows, int64.audit((TRACES / "gpt2_bf16.jsonl.gz").read_bytes()).rows)

    def test_failures(self):
        with self.assertRaises(neuronx_mem.CommandError):
            int64.audit(["no name, at all"])
        with self.assertRaises(neuronx_mem.CommandError):
            int64.audit(["aten.mm"], mode="fast")

    def test_route(self):
        route = int64.route("aten.cumsum", "packed")
        self.assertEqual((route.path, route.risks), ("device_packed", ("low_word",)))
        with self.assertRaisesRegex(ValueError, "fast"):
            int64.route("aten.mm", "fast")
        code = "from neuronx_mem import int64; print(int64.route('aten.mm').path)"
        self.assertEqual(output(code), "cpu\n")
        self.assertEqual(output(code, TORCH_NEURONX_INT64_MODE="packed"), "device_packed\n")
        code = "from neuronx_mem import int64; print(int64.route('aten.cumsum').path)"
        self.assertEqual(output(code, TORCH_NEURONX_INT64_MODE="cpu_fallback"), "cpu\n")


if __name__ == "__main__":
    unittest.main()

"""Replays and what else works on recorded programs: the same answers as the command's, as values."""

import dataclasses
import json
import subprocess
import tempfile
import unittest

import neuronx_mem
from neuronx_mem import _command

from support import TRACES, variables

TRACE = TRACES / "int64_small.csv.zst"


def told(*arguments):
    """What the command prints."""
    call = [_command.command(), *map(str, arguments), "--json"]
    return json.loads(subprocess.run(call, capture_output=True, check=False, env=variables()).stdout)


class Replay(unittest.TestCase):
    def test_numbers(self):
        replay, answer = neuronx_mem.replay(TRACE), told("replay", TRACE)
        self.assertEqual(
            (replay.events, replay.reserved_peak_bytes, replay.allocated_peak_bytes, replay.config_hash),
            (answer["events"], answer["reserved_peak"], answer["allocated_peak"], answer["config_hash"]),
        )
        self.assertEqual(replay.active_peak_bytes, 2_051_401_512)
        self.assertEqual(replay.analysis.largest_free_bytes, answer["analysis"]["largest_free"])
        self.assertTrue(replay.fits)
        self.assertIsNone(replay.oom)
        self.assertGreater(replay.elapsed_s, 0)

    def test_bytes_are_as_good_as_a_path(self):
        by_path, by_bytes = neuronx_mem.replay(str(TRACE)), neuronx_mem.replay(TRACE.read_bytes())
        same = {"input": "", "elapsed_s": 0.0}
        self.assertEqual(dataclasses.replace(by_path, **same), dataclasses.replace(by_bytes, **same))

    def test_out_of_memory_is_an_answer(self):
        replay = neuronx_mem.replay(TRACE, memory="1GiB", config="kRoundupPower2Divisions=8")
        self.assertFalse(replay.fits)
        self.assertEqual(replay.oom.total_bytes, 1 << 30)
        self.assertGreater(replay.oom.requested_bytes, 0)
        self.assertIn("Out of memory", replay._repr_html_())

    def test_snapshot_and_names_like_options(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/s.json"
            neuronx_mem.replay(TRACE, snapshot=path, until=100)
            self.assertEqual(neuronx_mem.explain(path).input, path)
        with self.assertRaisesRegex(neuronx_mem.CommandError, "--json"):
            neuronx_mem.replay("--json")

    def test_failures(self):
        with self.assertRaises(neuronx_mem.CommandError) as caught:
            neuronx_mem.replay("nosuch.csv")
        self.assertEqual(
            (str(caught.exception), caught.exception.exit_code),
            ("nosuch.csv: cannot be opened: No such file or directory (os error 2)", 2),
        )
        with self.assertRaises(neuronx_mem.CommandError):
            neuronx_mem.replay(TRACE, config="kNo=1")
        with self.assertRaises(neuronx_mem.CommandError):
            neuronx_mem.replay(b"no trace at all")

    def test_notebook_table_escapes(self):
        replay = dataclasses.replace(neuronx_mem.replay(TRACE), input="<script>&")
        self.assertIn("&lt;script&gt;&amp;", replay._repr_html_())
        self.assertNotIn("<script>", replay._repr_html_())


class Compare(unittest.TestCase):
    def test_rows(self):
        compared = neuronx_mem.compare(TRACE, ["", "kRoundupPower2Divisions=8"])
        answer = told("compare", TRACE, "--config", "default", "--config", "kRoundupPower2Divisions=8")
        self.assertEqual(len(compared), 2)
        self.assertEqual([row.config for row in compared], ["", "kRoundupPower2Divisions=8"])
        self.assertEqual(
            [row.reserved_peak_bytes for row in compared], [row["reserved_peak"] for row in answer["rows"]]
        )
        self.assertEqual(compared.best, compared[answer["best"]])
        self.assertIn("(defaults)", compared._repr_html_())

    def test_none_fits(self):
        compared = neuronx_mem.compare(TRACE, ["default"], memory="256MiB")
        self.assertIsNone(compared.best)

    def test_what_is_refused(self):
        for configs in ([], "kRoundupPower2Divisions=8"):
            with self.assertRaises(ValueError):
                neuronx_mem.compare(TRACE, configs)


class Explain(unittest.TestCase):
    def test_explain(self):
        explanation = neuronx_mem.explain(TRACE, need="1GiB", memory="3GiB")
        answer = told("explain", TRACE, "--need", "1GiB", "--memory", "3GiB")
        self.assertEqual(explanation.reserved_bytes, answer["reserved"])
        self.assertEqual(len(explanation.segments), len(answer["segments"]))
        self.assertEqual(explanation.request.need_bytes, 1 << 30)
        self.assertEqual(explanation.request.release_bytes, answer["release_bytes"])
        self.assertEqual(
            [block.address for block in explanation.request.release],
            [block["address"] for block in answer["release"]],
        )
        self.assertIn("Segments", explanation._repr_html_())
        self.assertIsNone(neuronx_mem.explain(TRACE, at="peak").request)

    def test_explain_a_snapshot_of_python(self):
        allocator = neuronx_mem.Allocator()
        allocator.record_memory_history()
        block = allocator.allocate(1 << 20)
        explanation = neuronx_mem.explain(allocator.snapshot())
        frame = explanation.segments[0].blocks[0].stack[0]
        self.assertEqual(frame.name, "test_explain_a_snapshot_of_python")
        self.assertEqual(str(frame), f"{frame.name} ({__file__}:{frame.line})")
        block.free()

    def test_diff(self):
        other = TRACES / "gpt2_bf16.csv.zst"
        difference = neuronx_mem.diff(TRACE, other)
        self.assertEqual(difference.peak_change_bytes, difference.b.peak_bytes - difference.a.peak_bytes)
        self.assertEqual(sum(group.peak_change_bytes for group in difference.groups), difference.peak_change_bytes)
        self.assertTrue(neuronx_mem.diff(TRACE, TRACE.read_bytes()).is_same)
        self.assertIn("at the peak", difference._repr_html_())
        with self.assertRaises(ValueError):
            neuronx_mem.diff(b"", b"")

    def test_leaks(self):
        lines, tensor = [], 0
        for _ in range(20):
            tensor += 1
            lines += [f"a,{tensor},1048576,0", "s"]
        found = neuronx_mem.leaks("\n".join([*lines, ""]).encode())
        self.assertTrue(found.is_conclusive)
        self.assertEqual(found.leaks[0].bytes_per_step, 1048576.0)
        self.assertIn("1.00 MiB a step", found._repr_html_())
        self.assertEqual(neuronx_mem.leaks(TRACE).leaks, ())


class Command(unittest.TestCase):
    def test_it_is_the_one_of_this_environment(self):
        import sysconfig

        self.assertEqual(_command.command(), f"{sysconfig.get_path('scripts')}/neuronx-mem")
        launcher = f"{sysconfig.get_path('scripts')}/neuron-numa-launch"
        self.assertEqual(subprocess.run([launcher], capture_output=True, check=False).returncode, 2)


if __name__ == "__main__":
    unittest.main()

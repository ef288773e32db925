"""Python reads what neuronx-mem writes: pickle.load, and PyTorch's memory visualizer.

Run by `cargo xtask test --python`, which sets NEURONX_MEM to the command and makes
torch.cuda._memory_viz available. The working folder is the root of the workspace.
"""

import base64
import collections
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["NEURONX_MEM"]
SAMPLES = sorted(pathlib.Path("tests/data/snapshots").glob("*.pickle"))
TRACES = pathlib.Path("tests/data/traces")


def neuronx_mem(*arguments, code=0):
    """Runs the command; returns its standard output."""
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, check=False)
    assert done.returncode == code, (arguments, done.returncode, done.stderr.decode())
    assert not done.stderr or code == 1, (arguments, done.stderr.decode())
    return done.stdout


def memory_viz(*arguments):
    """Runs PyTorch's visualizer; returns its standard output."""
    command = [sys.executable, "-W", "error", "-m", "torch.cuda._memory_viz", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, (arguments, done.stderr.decode())
    assert not done.stderr, (arguments, done.stderr.decode())
    return done.stdout.decode()


def load(path):
    with open(path, "rb") as file:
        return pickle.load(file)


def as_lists(value):
    """Tuples as lists, as JSON has them, and dicts with the order of their keys."""
    if isinstance(value, (list, tuple)):
        return [as_lists(item) for item in value]
    if isinstance(value, dict):
        return [(key, as_lists(item)) for key, item in value.items()]
    return (type(value), value)


def active(snapshot, device):
    """Requested bytes of the blocks in use on a device, by address."""
    segments = (segment for segment in snapshot["segments"] if segment["device"] == device)
    blocks = (block for segment in segments for block in segment["blocks"])
    return {block["address"]: block["requested_size"] for block in blocks if block["state"] != "inactive"}


def live(entries):
    """Requested bytes of the blocks that a complete history leaves, by address."""
    blocks = {}
    for entry in entries:
        if entry["action"] == "alloc":
            assert entry["addr"] not in blocks
            blocks[entry["addr"]] = entry["size"]
        elif entry["action"] == "free_completed":
            assert blocks.pop(entry["addr"]) == entry["size"]
    return blocks


def plotted(page):
    """The snapshot inside a page of the visualizer."""
    (files,) = re.findall(r"const local_files = (.*)", page)
    (file,) = json.loads(files)
    return pickle.loads(base64.b64decode(file["base64"]))


class Interop(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def convert(self, source, name):
        target = self.folder / name
        neuronx_mem("convert", source, "-o", target)
        return target

    def check_sums(self, snapshot):
        """The sums of the PyTorch snapshot schema, section 3."""
        for segment in snapshot["segments"]:
            blocks = segment["blocks"]
            allocated = [block for block in blocks if block["state"] == "active_allocated"]
            pending = [block for block in blocks if block["state"] == "active_pending_free"]
            total = sum(block["size"] for block in blocks)
            self.assertEqual(segment["total_size"], total)
            self.assertEqual(segment["allocated_size"], sum(block["size"] for block in allocated))
            self.assertEqual(segment["active_size"], sum(block["size"] for block in allocated + pending))
            requested = sum(block["requested_size"] for block in allocated + pending)
            self.assertEqual(segment["requested_size"], requested)
            address = segment["address"]
            for block in blocks:
                self.assertEqual(block["address"], address)
                address += block["size"]

    def check_visualizer(self, path):
        """All four views; returns the text of the two that print."""
        snapshot = load(path)
        texts = [memory_viz("trace", path), memory_viz("stats", path)]
        for view in ("trace_plot", "segment_plot"):
            page = self.folder / "page.html"
            self.assertEqual(memory_viz(view, path, "-o", page), "")
            self.assertEqual(plotted(page.read_text()), snapshot)
        return texts


class Samples(Interop):
    """Genuine snapshots, through our reader and both writers."""

    def test_there_are_seven(self):
        self.assertEqual(len(SAMPLES), 7)

    def test_pickle_to_pickle_is_the_same_structure(self):
        for sample in SAMPLES:
            with self.subTest(sample.stem):
                original, ours = load(sample), load(self.convert(sample, "ours.pickle"))
                self.assertEqual(ours, original)
                self.assertEqual(as_lists(ours), as_lists(original))

    def test_json_is_the_same_structure(self):
        for sample in SAMPLES:
            with self.subTest(sample.stem):
                text = self.convert(sample, "ours.json").read_text()
                self.assertEqual(as_lists(json.loads(text)), as_lists(load(sample)))

    def test_json_to_pickle_is_the_same_structure(self):
        for sample in SAMPLES:
            with self.subTest(sample.stem):
                ours = load(self.convert(self.convert(sample, "ours.json"), "ours.pickle"))
                self.assertEqual(as_lists(ours), as_lists(load(sample)))

    def test_shared_frames_stay_shared(self):
        def n_frames(snapshot):
            entries = (entry for trace in snapshot["device_traces"] for entry in trace)
            return len({id(frame) for entry in entries for frame in entry.get("frames", ())})

        for sample in SAMPLES:
            with self.subTest(sample.stem):
                ours = load(self.convert(sample, "ours.pickle"))
                self.assertLessEqual(n_frames(ours), n_frames(load(sample)))

    def test_the_visualizer_shows_the_same(self):
        for sample in SAMPLES:
            with self.subTest(sample.stem):
                ours = self.convert(self.convert(sample, "ours.json"), "ours.pickle")
                self.assertEqual(self.check_visualizer(ours), self.check_visualizer(sample))

    def test_a_trace_has_the_events_of_the_history(self):
        for sample in SAMPLES:
            with self.subTest(sample.stem):
                ids, expected = {}, []
                for entry in load(sample)["device_traces"][0]:
                    if entry["action"] == "alloc":
                        ids[entry["addr"]] = 1 + sum(kind == "a" for kind, *_ in expected)
                        expected.append(("a", ids[entry["addr"]], entry["size"]))
                    elif entry["action"] == "free_completed":
                        expected.append(("f", ids[entry["addr"]]))
                text = self.convert(sample, "ours.csv").read_text()
                rows = (line.split(",") for line in text.splitlines() if line[0] in "af")
                ours = [(row[0], *map(int, row[1:3])) for row in rows]
                self.assertEqual(ours, expected)

    def test_a_timeline_counts_what_the_history_tells(self):
        for sample in SAMPLES:
            with self.subTest(sample.stem):
                snapshot = load(sample)
                counters = collections.defaultdict(list)
                for event in json.loads(self.convert(sample, "ours.perfetto.json").read_text())["traceEvents"]:
                    if event["ph"] == "C":
                        counters[event["name"]].append(event["args"]["bytes"])
                allocated, expected = 0, []
                for entry in snapshot["device_traces"][0]:
                    sign = {"alloc": 1, "free_completed": -1}.get(entry["action"], 0)
                    if sign:
                        allocated += sign * entry["size"]
                        expected.append(allocated)
                self.assertEqual(counters["allocated"], expected)
                reserved = sum(segment["total_size"] for segment in snapshot["segments"])
                self.assertEqual(counters["reserved"][-1], reserved)


class Recorded(Interop):
    """Snapshots of our own allocator."""

    def check_recorded(self, path):
        snapshot = load(path)
        keys = ["segments", "device_traces", "allocator_settings", "external_annotations"]
        keys += ["host_segments", "host_traces"]
        self.assertEqual([key for key in snapshot if key in keys], keys)
        self.check_sums(snapshot)
        self.assertEqual(live(snapshot["device_traces"][0]), active(snapshot, 0))
        return snapshot, self.check_visualizer(path)

    def test_a_replay_leaves_a_sound_snapshot(self):
        target = self.folder / "gpt2.pickle"
        neuronx_mem("replay", TRACES / "gpt2_bf16.csv.zst", "--snapshot", target)
        snapshot, (trace, stats) = self.check_recorded(target)
        actions = collections.Counter(entry["action"] for entry in snapshot["device_traces"][0])
        self.assertEqual(actions["alloc"], actions["free_completed"])
        self.assertEqual(actions["segment_alloc"], 97)
        self.assertTrue(trace.startswith("Device 0 ----------------\n"))
        reserved = sum(segment["total_size"] for segment in snapshot["segments"])
        self.assertEqual(reserved, 10_617_880_576)
        self.assertIn("9.9GiB", stats)

    def test_a_replay_that_stops_in_between_has_live_blocks(self):
        target = self.folder / "gpt2.pickle"
        neuronx_mem("replay", TRACES / "gpt2_bf16.csv.zst", "--until", 3000, "--snapshot", target)
        snapshot, _ = self.check_recorded(target)
        self.assertGreater(len(active(snapshot, 0)), 100)

    def test_frees_in_flight_are_pending(self):
        target = self.folder / "gpt2.pickle"
        trace = TRACES / "gpt2_bf16.csv.zst"
        neuronx_mem("replay", trace, "--until", 3000, "--in-flight", 20, "--snapshot", target)
        snapshot, _ = self.check_recorded(target)
        states = collections.Counter(
            block["state"] for segment in snapshot["segments"] for block in segment["blocks"]
        )
        self.assertGreater(states["active_pending_free"], 0)

    def test_out_of_memory_is_in_the_snapshot(self):
        target = self.folder / "oom.pickle"
        trace = TRACES / "gpt2_bf16.csv.zst"
        neuronx_mem("replay", trace, "--memory", "8GiB", "--snapshot", target, code=1)
        snapshot, (text, _) = self.check_recorded(target)
        last = snapshot["device_traces"][0][-1]
        self.assertEqual((last["action"], last["size"]), ("oom", 1_646_821_376))
        self.assertNotIn("addr", last)
        ends = "raise OutOfMemoryError # 1.5GiB requested, 1.2GiB free in CUDA\n"
        self.assertTrue(text.partition("TOTAL MEM")[0].endswith(ends), text[-200:])

    def test_a_converted_trace_is_a_sound_snapshot(self):
        for name in ("resnet50", "fsdp_llama1b"):
            with self.subTest(name):
                self.check_recorded(self.convert(TRACES / f"{name}.csv.zst", "ours.pickle"))

    def test_json_is_the_same_as_the_pickle(self):
        trace = TRACES / "resnet50.csv.zst"
        text = self.convert(trace, "ours.json").read_text()
        ours = load(self.convert(trace, "ours.pickle"))
        self.assertEqual(as_lists(json.loads(text)), as_lists(ours))


if __name__ == "__main__":
    unittest.main()

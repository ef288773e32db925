"""The memory history with stacks of Python: which frames, from which threads, in which files."""

import ctypes
import json
import pathlib
import pickle
import tempfile
import threading
import unittest

import neuronx_mem
from neuronx_mem import _native, memory

neuronx_mem.configure("trn2", devices=2, memory="4GiB")  # as in test_memory: a world is made once

WORLD = _native.world()


def first_line(function):
    return function.__code__.co_firstlineno


def innermost(bytes):
    return WORLD.allocate(bytes)


def outer(bytes):
    return innermost(bytes)


def frames(entry):
    return [(frame["name"], pathlib.Path(frame["filename"]).name, frame["line"]) for frame in entry["frames"]]


class History(unittest.TestCase):
    def setUp(self):
        neuronx_mem.empty_cache()
        self.addCleanup(memory._record_memory_history, enabled=None)

    def record(self, stacks="python", **options):
        memory._record_memory_history(stacks=stacks, **options)

    def events(self, device=0):
        return memory._snapshot()["device_traces"][device]

    def test_frames_of_events_and_blocks(self):
        self.record()
        block = outer(1 << 20)
        (segment,) = memory._snapshot()["segments"]
        expected = [
            ("innermost", "test_history.py", first_line(innermost) + 1),
            ("outer", "test_history.py", first_line(outer) + 1),
            ("test_frames_of_events_and_blocks", "test_history.py", first_line(type(self).test_frames_of_events_and_blocks) + 2),
        ]
        live = [held for held in segment["blocks"] if held["state"] == "active_allocated"]
        self.assertEqual(frames(live[0])[:3], expected)
        self.assertEqual([event["action"] for event in self.events()], ["segment_alloc", "alloc", "snapshot"])
        self.assertEqual(frames(self.events()[1])[:3], expected)
        block.free()
        freed = [event for event in self.events() if event["action"] == "free_requested"]
        self.assertEqual(frames(freed[0])[0][0], "test_frames_of_events_and_blocks")

    def test_a_stack_is_stored_once(self):
        self.record()
        innermost(1)
        before = _native.n_captured_stacks()
        for _ in range(100):
            outer(1)  # allocated and freed on this line
        # An instruction may have more than one position: the interpreter rewrites it once it is warm.
        self.assertLess(_native.n_captured_stacks() - before, 10)

    def test_enabled_and_context(self):
        for enabled in (None, False):
            self.record(enabled=enabled)
            innermost(1)
            self.assertEqual(self.events(), [])
        for enabled in ("all", True):
            self.record(enabled=enabled, clear_history=True)
            innermost(1)
            self.assertIn("alloc", [event["action"] for event in self.events()])
        self.record(context="alloc", clear_history=True)
        innermost(1)
        with_frames = {event["action"] for event in self.events() if event.get("frames")}
        self.assertEqual(with_frames & {"alloc", "free_requested"}, {"alloc"})
        self.record(context=None, clear_history=True)
        innermost(1)
        self.assertEqual([event["frames"] for event in self.events() if event.get("frames")], [])
        self.record(enabled="state", clear_history=True)
        held = outer(1)
        snapshot = memory._snapshot()
        self.assertEqual(snapshot["device_traces"][0], [])
        blocks = [block for segment in snapshot["segments"] for block in segment["blocks"]]
        named = [frames(block)[0][0] for block in blocks if block["state"] == "active_allocated"]
        self.assertEqual(named, ["innermost"])
        del held

    def test_entries_actions_devices_and_metadata(self):
        self.record(max_entries=3)
        for _ in range(5):
            innermost(1)
        self.assertEqual(len(self.events()), 3)
        memory._record_memory_history(enabled=None)
        self.record(device=1, skip_actions=["free_requested", "free_completed"])
        memory.set_memory_metadata("step 7", device="neuron:1")
        WORLD.allocate(1).free()
        WORLD.allocate(1, device=1).free()
        self.assertEqual(self.events(0), [])
        shown = [(event["action"], event["user_metadata"]) for event in self.events(1)]
        self.assertEqual(shown[:2], [("segment_alloc", "step 7"), ("alloc", "step 7")])

    def test_what_is_refused(self):
        for options in ({"enabled": "some"}, {"context": "never"}, {"stacks": "rust"}, {"skip_actions": ["eat"]}):
            with self.assertRaises(ValueError, msg=options):
                self.record(**{"stacks": "python", **options})
        for options in (
            {"compile_context": True},
            {"global_record_annotations": True},
            {"record_pinned_host_memory": True},
            {"record_cuda": False},
        ):
            with self.assertRaises(NotImplementedError, msg=options):
                self.record(**options)
        with self.assertRaises(NotImplementedError):
            memory._snapshot(augment_with_fx_traces=True)
        with self.assertRaises(ValueError):
            memory._snapshot(device="cuda")

    def test_files(self):
        self.record()
        held = outer(1 << 20)
        with tempfile.TemporaryDirectory() as folder:
            pickled, text = pathlib.Path(folder, "s.pickle"), pathlib.Path(folder, "s.json")
            memory._dump_snapshot(str(pickled))
            memory._dump_snapshot(text)
            with open(pickled, "rb") as file:
                loaded = pickle.load(file)
            written = json.loads(text.read_text())
            self.assertEqual(sorted(path.name for path in pathlib.Path(folder).iterdir()), ["s.json", "s.pickle"])
        self.assertEqual(len(loaded["device_traces"]), 2)
        self.assertEqual(frames(loaded["device_traces"][0][1])[0][0], "innermost")
        self.assertEqual(frames(written["device_traces"][0][1])[0][0], "innermost")
        self.assertEqual(memory.memory_snapshot()[0]["blocks"][0]["state"], "active_allocated")
        self.assertEqual(memory.memory_snapshot((9, 9)), [])
        with self.assertRaises(OSError):
            memory._dump_snapshot("/nonexistent/folder/s.pickle")
        del held

    def test_native_frames_are_on_top(self):
        self.record(stacks="all")
        held = outer(1)
        event = next(event for event in self.events() if event["action"] == "alloc")
        names = [name for name, _, _ in frames(event)]
        self.assertIn("innermost", names)
        interpreted = names.index("innermost")
        self.assertEqual([frame["line"] for frame in event["frames"][:interpreted]], [0] * interpreted)
        self.assertFalse(any("Eval" in name for name in names[:interpreted]), names)
        del held

    def test_calls_of_the_c_abi_have_stacks_too(self):
        """As PyTorch's backend calls, without the interpreter lock: ctypes lets go of it."""
        self.record()
        allocate, free = c_functions()
        device = ctypes.c_void_p(_native.device_handles()[0])
        block = (ctypes.c_uint64 * 8)()
        self.assertEqual(allocate(device, 4096, 0, block), 0)
        event = next(event for event in self.events() if event["action"] == "alloc")
        self.assertEqual(frames(event)[0][0], "test_calls_of_the_c_abi_have_stacks_too")
        self.assertEqual(free(device, block), 0)


def c_functions():
    """allocate and free of the table: the places follow from the header's order of fields."""
    names = _native.shim_header().split("typedef struct nxm_vtable_v1 {")[1].split("} nxm_vtable_v1;")[0]
    fields = [line for line in names.splitlines() if "(*" in line]
    order = [field.split("(*")[1].split(")")[0] for field in fields]
    table = ctypes.cast(_native.shim_table() + 16, ctypes.POINTER(ctypes.c_void_p))
    kinds = {
        "allocate": ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_void_p),
        "free": ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p),
    }
    return [kinds[name](table[order.index(name)]) for name in ("allocate", "free")]


class Threads(unittest.TestCase):
    def test_recording_threads_and_snapshots_do_not_wait_for_each_other(self):
        memory._record_memory_history(stacks="python", max_entries=1000)
        self.addCleanup(memory._record_memory_history, enabled=None)
        allocate, free = c_functions()
        device = ctypes.c_void_p(_native.device_handles()[0])
        failures = []

        def use():
            block = (ctypes.c_uint64 * 8)()
            for number in range(1500):
                held = WORLD.allocate(1 + number % 5000)
                if allocate(device, 1 + number % 70_000, 0, block) or free(device, block):
                    failures.append(number)
                del held

        threads = [threading.Thread(target=use) for _ in range(4)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            memory._snapshot()
            memory._record_memory_history(stacks="python", max_entries=1000)
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(memory.memory_allocated(), 0)


if __name__ == "__main__":
    unittest.main()

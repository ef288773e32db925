"""The memory API: devices as people name them, statistics, caps, analysis."""

import types
import unittest

import neuronx_mem
from neuronx_mem import _native, memory

neuronx_mem.configure("trn2", devices=2, memory="4GiB")

GIB = 1 << 30


def device_like(kind, index):
    return types.SimpleNamespace(type=kind, index=index)


class Devices(unittest.TestCase):
    def test_the_forms_of_a_device(self):
        held = _native.world().allocate(1 << 20, device=1)
        for device in (1, "neuron:1", device_like("neuron", 1), device_like("privateuseone", 1)):
            self.assertEqual(memory.memory_allocated(device), 1 << 20, device)
            self.assertEqual(memory.memory_allocated(device=device), 1 << 20, device)
        for device in (None, 0, "neuron", "neuron:0", device_like("neuron", None)):
            self.assertEqual(memory.memory_allocated(device), 0, device)
        del held

    def test_what_is_no_device(self):
        for device, error in (
            (2, IndexError),
            (-1, ValueError),
            (True, TypeError),
            ("cuda", ValueError),
            ("neuron:", ValueError),
            ("neuron:x", ValueError),
            (device_like("cpu", 0), ValueError),
            (1.0, TypeError),
        ):
            with self.assertRaises(error, msg=repr(device)):
                memory.memory_stats(device)


class Statistics(unittest.TestCase):
    def setUp(self):
        neuronx_mem.empty_cache()
        memory.reset_peak_memory_stats()
        memory.reset_accumulated_memory_stats()

    def test_stats_agree_with_the_functions(self):
        a, b = _native.world().allocate(1000), _native.world().allocate(3 << 20)
        del a
        stats = memory.memory_stats()
        self.assertEqual(stats["allocated_bytes.all.current"], memory.memory_allocated())
        self.assertEqual(stats["allocated_bytes.all.peak"], memory.max_memory_allocated())
        self.assertEqual(stats["reserved_bytes.all.current"], memory.memory_reserved())
        self.assertEqual(stats["reserved_bytes.all.peak"], memory.max_memory_reserved())
        self.assertEqual(stats["requested_bytes.all.current"], 3 << 20)
        self.assertEqual(stats["allocated_bytes.small_pool.freed"], 1024)
        self.assertEqual(memory.memory_stats_as_nested_dict()["allocated_bytes"]["large_pool"]["current"], 3 << 20)
        self.assertEqual(list(stats), sorted(stats))
        self.assertTrue(all(type(value) is int for value in stats.values()))
        del b

    def test_stats_have_the_keys_of_pytorch(self):
        families = ("allocation", "segment", "active", "inactive_split", "allocated_bytes", "reserved_bytes")
        families += ("active_bytes", "inactive_split_bytes", "requested_bytes")
        wanted = {
            f"{family}.{pool}.{metric}"
            for family in families
            for pool in ("all", "small_pool", "large_pool")
            for metric in ("current", "peak", "allocated", "freed")
        }
        wanted |= {"num_alloc_retries", "num_ooms", "max_split_size", "num_device_alloc", "num_device_free"}
        wanted |= {"num_sync_all_streams", "oversize_allocations.current", "oversize_segments.peak"}
        self.assertEqual(wanted - memory.memory_stats().keys(), set())

    def test_resets(self):
        _native.world().allocate(5 << 20).free()
        self.assertEqual(memory.max_memory_allocated(), 5 << 20)
        memory.reset_peak_memory_stats()
        self.assertEqual(memory.max_memory_allocated(), 0)
        self.assertEqual(memory.memory_stats()["allocated_bytes.all.allocated"], 5 << 20)
        memory.reset_accumulated_memory_stats()
        self.assertEqual(memory.memory_stats()["allocated_bytes.all.allocated"], 0)

    def test_empty_cache_and_info(self):
        free, total = memory.mem_get_info()
        self.assertEqual((free, total), (4 * GIB, 4 * GIB))
        _native.world().allocate(100 << 20).free()
        self.assertEqual(memory.mem_get_info()[0], free - memory.memory_reserved())
        self.assertGreaterEqual(memory.memory_reserved(), 100 << 20)
        self.assertIsNone(neuronx_mem.empty_cache())
        self.assertEqual(memory.memory_reserved(), 0)

    def test_analysis(self):
        held = _native.world().allocate(3_000_000)
        analysis = memory.segment_pool_analysis()
        self.assertEqual(analysis.total_bytes, 4 * GIB)
        self.assertEqual(analysis.active_bytes, 3_000_000)
        self.assertEqual(
            analysis.internal_fragmentation_bytes, analysis.allocated_bytes - analysis.active_bytes
        )
        self.assertEqual(analysis.n_segments, 1)
        lost = analysis.internal_fragmentation_bytes + analysis.external_fragmentation_bytes
        self.assertEqual(analysis.fragmentation_index, lost / analysis.free_bytes)
        self.assertIn("Fragmentation Index", memory.segment_pool_analysis_summary())
        self.assertIn("<td>internal fragmentation</td>", analysis._repr_html_())
        with self.assertRaises(AttributeError):
            analysis.holes = 3
        del held


class Caps(unittest.TestCase):
    def setUp(self):
        neuronx_mem.empty_cache()
        memory.reset_accumulated_memory_stats()

    def tearDown(self):
        memory.set_per_process_memory_fraction(1.0)

    def test_fraction(self):
        self.assertEqual(memory.get_per_process_memory_fraction(), 1.0)
        memory.set_per_process_memory_fraction(0.3)
        self.assertEqual(memory.get_per_process_memory_fraction(), 0.3)
        self.assertEqual(memory.get_per_process_memory_fraction(1), 1.0)
        # Somebody else caps the device: what was set here does not hold any more.
        _native.world().device(0).set_memory_fraction(0.5)
        self.assertEqual(memory.get_per_process_memory_fraction(), 0.5)
        for fraction, error in ((1, TypeError), (1.5, ValueError), (-0.1, ValueError), (float("nan"), ValueError)):
            with self.assertRaises(error):
                memory.set_per_process_memory_fraction(fraction)

    def test_out_of_memory(self):
        memory.set_per_process_memory_fraction(0.25)
        with self.assertRaises(neuronx_mem.OutOfMemoryError) as caught:
            _native.world().allocate(2 * GIB)
        error = caught.exception
        self.assertIsInstance(error, MemoryError)
        self.assertIsInstance(error, RuntimeError)
        self.assertEqual((error.device, error.requested_bytes, error.total_bytes), (0, 2 * GIB, GIB))
        self.assertEqual(error.steps, (("wait_for_other_streams", 0), ("release_segments", 0)))
        self.assertTrue(str(error).startswith("Neuron out of memory: tried to allocate 2.00 GiB on device 0"))
        self.assertTrue(error.report.startswith(str(error)))
        self.assertIn("raise the memory cap", error.report)
        self.assertEqual(memory.memory_stats()["num_ooms"], 1)

    def test_too_large_for_any_device(self):
        with self.assertRaises(OverflowError):
            _native.world().allocate((1 << 64) - 1)
        with self.assertRaises(OverflowError):
            _native.world().allocate(-1)


if __name__ == "__main__":
    unittest.main()

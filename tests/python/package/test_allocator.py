"""An allocator of Python's own: streams, blocks, settings, and the error of a missing libnrt."""

import gc
import pickle
import threading
import unittest

from neuronx_mem import Allocator, Block, OutOfMemoryError


class Blocks(unittest.TestCase):
    def setUp(self):
        self.allocator = Allocator(memory="1GiB")
        self.device = self.allocator.device(0)

    def test_sizes(self):
        block = self.allocator.allocate(1000)
        self.assertEqual((block.requested_bytes, block.block_bytes, len(block), block.device), (1000, 1024, 1000, 0))
        self.assertEqual(block.address % 64, 0)
        self.assertEqual(repr(block), f"<neuronx_mem Block {block.address:#x}: 1000 bytes>")
        nothing = self.allocator.allocate(0)
        self.assertEqual((nothing.address, nothing.block_bytes, len(nothing)), (0, 0, 0))

    def test_freed_by_hand_by_with_and_by_nobody(self):
        block = self.allocator.allocate(1)
        block.free()
        block.free()
        self.assertTrue(block.is_freed)
        with self.allocator.allocate(1) as inside:
            self.assertIsInstance(inside, Block)
            self.assertEqual(self.device.memory_allocated(), 256)
        self.assertTrue(inside.is_freed)
        self.allocator.allocate(1)
        gc.collect()
        self.assertEqual(self.device.memory_allocated(), 0)
        with self.assertRaisesRegex(RuntimeError, "the block was freed"):
            block.record_stream(self.device.default_stream())

    def test_an_exception_frees(self):
        with self.assertRaises(ZeroDivisionError), self.allocator.allocate(1):
            1 // 0
        self.assertEqual(self.device.memory_allocated(), 0)

    def test_frees_wait_for_their_stream(self):
        stream = self.device.new_stream()
        block = self.allocator.allocate(1 << 20, stream)
        ticket = stream.submit()
        self.assertFalse(stream.is_idle())
        block.free()
        self.assertEqual(stream.pending(), (1, 1 << 20))
        self.assertEqual(self.device.memory_allocated(), 1 << 20)
        stream.complete(ticket)
        self.assertEqual((stream.pending(), self.device.memory_allocated()), ((0, 0), 0))
        with self.assertRaises(ValueError):
            stream.complete(99)

    def test_frees_wait_for_recorded_streams(self):
        stream, other = self.device.default_stream(), self.device.new_stream()
        block = self.allocator.allocate(1 << 20, stream)
        block.record_stream(other)
        other.submit()
        block.free()
        self.assertEqual(other.pending(), (1, 1 << 20))
        self.allocator.synchronize()
        self.assertEqual(self.device.memory_allocated(), 0)

    def test_streams_of_another_allocator(self):
        block = self.allocator.allocate(1)
        foreign = Allocator().device(0).new_stream()
        with self.assertRaises(ValueError):
            block.record_stream(foreign)

    def test_out_of_memory_does_not_lose_anything(self):
        held = []
        with self.assertRaises(OutOfMemoryError) as caught:
            while True:
                held.append(self.allocator.allocate(100 << 20))
        self.assertEqual(len(held), 10)
        self.assertEqual(caught.exception.allocated_bytes, 1000 << 20)
        held.clear()
        self.assertEqual(self.allocator.empty_cache(), (10, 1000 << 20))
        self.allocator.allocate(1 << 30).free()

    def test_four_threads(self):
        def use():
            for number in range(10_000):
                self.allocator.allocate(number % 3000 + 1).free()

        threads = [threading.Thread(target=use) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stats = self.device.memory_stats()
        self.assertEqual(stats["allocation.all.allocated"], 40_000)
        self.assertEqual(stats["allocation.all.freed"], 40_000)
        self.assertEqual(self.device.memory_allocated(), 0)

    def test_history(self):
        self.allocator.record_memory_history()
        block = self.allocator.allocate(1)
        snapshot = pickle.loads(self.allocator.snapshot())
        event = snapshot["device_traces"][0][-1]
        self.assertEqual((event["action"], event["frames"][0]["name"]), ("alloc", "test_history"))
        self.assertTrue(self.allocator.snapshot(json=True).startswith(b"{"))
        self.allocator.record_memory_history(None)
        self.assertEqual(pickle.loads(self.allocator.snapshot())["device_traces"][0], [])
        block.free()


class Settings(unittest.TestCase):
    def test_what_it_is_made_of(self):
        allocator = Allocator("trn1", devices=3, config="kRoundupPower2Divisions=8")
        self.assertEqual((allocator.n_devices, allocator.config), (3, "kRoundupPower2Divisions=8"))
        self.assertEqual(len(allocator.config_hash), 16)
        self.assertEqual(repr(allocator), "<neuronx_mem Allocator: 3 x trn1>")
        self.assertEqual(allocator.device(2).index, 2)
        with self.assertRaises(IndexError):
            allocator.device(3)
        with self.assertRaises(IndexError):
            allocator.allocate(1, device=3)

    def test_switches(self):
        allocator = Allocator(streams=False, oom_recovery=False, memory="64MiB")
        self.assertEqual(allocator.device(0).new_stream().id, 0)
        with self.assertRaises(OutOfMemoryError) as caught:
            allocator.allocate(65 << 20)
        self.assertEqual([step for step, _ in caught.exception.steps if step == "release_segments"], [])

    def test_what_is_refused(self):
        for options in ({"device": "tpu"}, {"lnc": 4}, {"devices": 0}, {"memory": "x"}, {"config": "kNo=1"}):
            with self.assertRaises(ValueError, msg=options):
                Allocator(**options)
        with self.assertRaises(TypeError):
            Allocator("trn2", 2)

    def test_a_libnrt_that_is_not_there(self):
        with self.assertRaisesRegex(RuntimeError, "nosuch"):
            Allocator(libnrt="/nosuch/libnrt.so.1")
        self.assertEqual(Allocator(libnrt=False).device(0).facts()[0], "trn2")


if __name__ == "__main__":
    unittest.main()

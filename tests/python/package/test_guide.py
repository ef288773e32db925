"""The numbers of the memory profiling guide, and its table to the character, without PyTorch."""

import unittest

from support import output

SUMMARY = """\
===========================================================================
  Neuron Memory Summary, Device 0
===========================================================================
  Allocations: 2  |  Frees: 0
  OOMs: 0  |  Alloc Retries: 0
===========================================================================
  Metric              | Current    | Peak       | Allocated  | Freed
---------------------------------------------------------------------------
  Allocated Memory   |     12 MiB |     12 MiB |     12 MiB |        0 B
  Reserved Memory    |     64 MiB |     64 MiB |     64 MiB |        0 B
  Active Memory      |     12 MiB |     12 MiB |     12 MiB |        0 B
===========================================================================
"""


class Guide(unittest.TestCase):
    def test_example_through_an_allocator(self):
        printed = output(
            """
            import neuronx_mem

            allocator = neuronx_mem.Allocator()
            device = allocator.device(0)
            a, b = allocator.allocate(4 << 20), allocator.allocate(8 << 20)
            allocator.synchronize()
            print(device.memory_allocated(), device.memory_reserved())
            print(device.memory_summary())
            device.reset_peak_memory_stats()
            c = allocator.allocate(64 << 20)
            allocator.synchronize()
            print(device.max_memory_allocated())
            """
        )
        self.assertEqual(printed, "12582912 67108864\n" + SUMMARY + "79691776\n")

    def test_example_through_the_module(self):
        printed = output(
            """
            import neuronx_mem
            from neuronx_mem import _native, memory

            world = _native.world()
            a, b = world.allocate(4 << 20), world.allocate(8 << 20)
            neuronx_mem.synchronize()
            print(neuronx_mem.memory_allocated(), neuronx_mem.memory_reserved())
            print(neuronx_mem.memory_summary())
            neuronx_mem.reset_peak_memory_stats()
            c = world.allocate(64 << 20)
            print(neuronx_mem.max_memory_allocated(), memory.max_memory_reserved("neuron:0"))
            """
        )
        self.assertEqual(printed, "12582912 67108864\n" + SUMMARY + "79691776 134217728\n")


if __name__ == "__main__":
    unittest.main()

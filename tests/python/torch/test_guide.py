"""The memory profiling guide's examples, word for word, on the simulated device."""

import unittest

from support import run

# Step 2 of the guide, with its comments.
STATISTICS = """
import torch
import torch_neuronx

# Part 1: allocate two tensors, then read allocated and reserved memory.
a = torch.randn(1024, 1024, dtype=torch.float32, device="neuron")   # 4 MiB
b = torch.randn(2048, 2048, dtype=torch.bfloat16, device="neuron")  # 8 MiB
torch.neuron.synchronize()

print(torch_neuronx.memory_allocated())   # 12582912  (12 MiB)
print(torch_neuronx.memory_reserved())    # 67108864  (64 MiB)
{between}
# Part 2: reset the peak, allocate a third tensor, then read the peak.
torch_neuronx.reset_peak_memory_stats()
c = torch.randn(4096, 4096, dtype=torch.float32, device="neuron")   # 64 MiB
torch.neuron.synchronize()
print(torch_neuronx.max_memory_allocated())  # 79691776  (76 MiB)
"""

# What `memory_summary()` prints after part 1.
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

# Step 4, option B, around a small model.
SNAPSHOT = """
import sys
import torch
import torch_neuronx
from torch_neuronx import memory as mem

mem._record_memory_history()
model = torch.nn.Linear(64, 64).to("neuron")
model(torch.ones(8, 64, device="neuron")).sum().backward()
torch.neuron.synchronize()
mem._dump_snapshot(sys.argv[1])
mem._record_memory_history(enabled=False)
"""


class Guide(unittest.TestCase):
    """In a process that only the environment tells of the simulated device."""

    def test_statistics(self):
        for mode in ("compute", "plan"):
            with self.subTest(mode):
                text = run(STATISTICS.format(between=""), NEURONX_MEM_SIMULATE="1", NEURONX_MEM_MODE=mode)
                self.assertEqual(text, "12582912\n67108864\n79691776\n")

    def test_summary(self):
        script = STATISTICS.format(between="print(torch_neuronx.memory_summary())\n")
        text = run(script, NEURONX_MEM_SIMULATE="1")
        self.assertEqual(text.split("\n", 2)[2].rsplit("\n", 2)[0].rstrip("\n") + "\n", SUMMARY)

    def test_analysis(self):
        script = STATISTICS.format(between="") + (
            "from torch_neuronx import memory as mem\nprint(mem.segment_pool_analysis_summary())\n"
        )
        text = run(script, NEURONX_MEM_SIMULATE="1")
        self.assertIn("ragmentation", text)

    def test_snapshot(self):
        import pickle
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/snapshot.pickle"
            run(SNAPSHOT, path, NEURONX_MEM_SIMULATE="1")
            with open(path, "rb") as file:
                snapshot = pickle.load(file)
        events = snapshot["device_traces"][0]
        self.assertIn("alloc", {event["action"] for event in events})
        names = {frame["name"] for event in events for frame in event.get("frames", ())}
        self.assertIn("<module>", names)


if __name__ == "__main__":
    unittest.main()

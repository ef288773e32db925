"""`neuronx_mem.trace_model`: what it records is what the device counted."""

import gc
import pickle
import unittest

import neuronx_mem
import neuronx_mem.torch
import torch


def step():
    kept = torch.ones(1 << 20, device="neuron")
    return (kept * 2).sum()


class TraceModel(unittest.TestCase):
    def setUp(self):
        # What other tests of this process have left behind is part of the baseline.
        gc.collect()
        self.held = neuronx_mem.memory_allocated()

    def test_peaks_are_those_of_the_device(self):
        trace = neuronx_mem.trace_model(step, steps=3)
        # Two tensors of 4 MiB and the sum.
        self.assertEqual(trace.allocated_peak_bytes - self.held, (8 << 20) + 256)
        self.assertEqual(trace.events, 3 * 3 * 3)
        self.assertEqual(trace.replay().allocated_peak_bytes, trace.allocated_peak_bytes)

    def test_steps_are_marked(self):
        snapshot = pickle.loads(neuronx_mem.trace_model(step, steps=2, warmup=1).data)
        names = [(mark["stage"], mark["name"]) for mark in snapshot["external_annotations"]]
        stages = [(stage, f"step {number}") for number in range(2) for stage in ("START", "END")]
        self.assertEqual(names, stages)

    def test_what_is_alive_before_is_the_baseline(self):
        before = torch.ones(4 << 20, device="neuron")
        trace = neuronx_mem.trace_model(step)
        self.assertEqual(trace.allocated_peak_bytes - self.held, (24 << 20) + 256)
        self.assertEqual(trace.replay().allocated_peak_bytes, trace.allocated_peak_bytes)
        del before

    def test_an_exception_is_the_callers_and_recording_ends(self):
        def fails():
            step()
            raise KeyError("mine")

        with self.assertRaises(KeyError):
            neuronx_mem.trace_model(fails)
        self.assertEqual(neuronx_mem.trace_model(step).events, 9)
        with self.assertRaises(ValueError):
            neuronx_mem.trace_model(step, steps=0)


if __name__ == "__main__":
    unittest.main()

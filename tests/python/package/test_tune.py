"""The search for settings: the same answer here, on threads, on processes, and on a dask cluster."""

import concurrent.futures
import pathlib
import tempfile
import unittest

import distributed

import neuronx_mem
from neuronx_mem._tune import run_job


def trace(path, sizes):
    """A few steps in which tensors of changing sizes come and go."""
    lines, tensor = [], 0
    for step in range(3):
        first = tensor + 1
        for size in sizes[step:] + sizes[:step]:
            tensor += 1
            lines.append(f"a,{tensor},{size << 20},0")
        lines += [f"f,{number}" for number in range(first, tensor + 1)]
        lines.append("s")
    path.write_text("\n".join(lines) + "\n")


class Sweep(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.input = pathlib.Path(self.folder.name, "run.csv")
        trace(self.input, [3, 50, 17, 90, 5, 33])
        self.here = neuronx_mem.tune(self.input)

    def test_answer(self):
        self.assertTrue(self.here.is_complete)
        (one,) = self.here.inputs
        self.assertEqual(one.input, str(self.input))
        self.assertGreaterEqual(one.default_peak_bytes, one.tuned_peak_bytes)
        self.assertGreaterEqual(one.tuned_peak_bytes, one.live_peak_bytes)
        defaults, tuned = neuronx_mem.compare(self.input, [self.here.config])
        self.assertEqual(defaults.reserved_peak_bytes, one.default_peak_bytes)
        self.assertEqual(tuned.reserved_peak_bytes, one.tuned_peak_bytes)
        self.assertIn(self.here.robust_config or "unset", self.here._repr_html_())
        self.assertEqual(neuronx_mem.tune(self.input.read_bytes()).config, self.here.config)

    def test_threads(self):
        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            self.assertEqual(neuronx_mem.tune([self.input], executor), self.here)

    def test_processes(self):
        with concurrent.futures.ProcessPoolExecutor(2) as executor:
            self.assertEqual(neuronx_mem.tune(str(self.input), executor), self.here)

    def test_dask_cluster(self):
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as client:
                self.assertEqual(neuronx_mem.tune([self.input], client), self.here)

    def test_a_job_for_another_trace_is_refused(self):
        job = {
            "input": str(self.input),
            "fingerprint": 1,
            "machine": {"device": "trn2", "lnc": None, "memory": None},
            "trials": [],
        }
        with self.assertRaisesRegex(neuronx_mem.CommandError, "is not the trace of this job"):
            run_job(job)

    def test_failures(self):
        with self.assertRaises(ValueError):
            neuronx_mem.tune([])
        with concurrent.futures.ThreadPoolExecutor(1) as executor:
            with self.assertRaises(ValueError):
                neuronx_mem.tune(b"", executor)
            with self.assertRaisesRegex(neuronx_mem.CommandError, "nosuch"):
                neuronx_mem.tune("nosuch.csv", executor)

    def test_an_executor_that_fails_is_heard(self):
        class Broken:
            def submit(self, function, *arguments):
                raise OSError("no workers")

        with self.assertRaisesRegex(OSError, "no workers"):
            neuronx_mem.tune(self.input, Broken())


if __name__ == "__main__":
    unittest.main()

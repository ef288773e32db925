"""A sweep gives the same answer here, on a pool of threads and on a dask cluster of processes.

Run by `cargo xtask test --python`, which sets NEURONX_MEM and installs requirements.txt.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import distributed

from neuronx_mem_sweep import run_job, tune

COMMAND = str(pathlib.Path(os.environ["NEURONX_MEM"]).resolve())


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
        here = subprocess.run([COMMAND, "tune", "--json", self.input], capture_output=True, check=True)
        self.here = json.loads(here.stdout)

    def test_threads(self):
        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            self.assertEqual(tune([self.input], executor, COMMAND), self.here)

    def test_dask_cluster(self):
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as client:
                client.upload_file("tests/python/neuronx_mem_sweep.py")
                self.assertEqual(tune([self.input], client, COMMAND), self.here)

    def test_a_job_for_another_trace_is_refused(self):
        job = {
            "input": str(self.input),
            "fingerprint": 1,
            "machine": {"device": "trn2", "lnc": None, "memory": None},
            "trials": [],
        }
        with self.assertRaisesRegex(RuntimeError, "is not the trace of this job"):
            run_job(COMMAND, job)


if __name__ == "__main__":
    unittest.main()

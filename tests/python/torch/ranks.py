"""Starts ranks as processes of their own, each with a device of its own, and hands on what fails."""

import os
import pathlib
import subprocess
import sys
import tempfile

#: What a rank runs before the test's own code.
PREAMBLE = """
import os
import neuronx_mem.torch
import torch
import torch.distributed as dist

rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dist.init_process_group("neuron", init_method="file://" + os.environ["MEETING"], rank=rank, world_size=size)
"""

EPILOGUE = """
dist.destroy_process_group()
"""


def run(program, size=2, **variables):
    """Runs a program on each rank; returns what each printed. Fails with the first rank's error."""
    with tempfile.TemporaryDirectory() as folder:
        meeting = pathlib.Path(folder) / "meeting"
        ranks = []
        for rank in range(size):
            environment = os.environ | {
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "WORLD_SIZE": str(size),
                "MEETING": str(meeting),
                "NEURON_NUMA_PIN": "0",
                "OMP_NUM_THREADS": "1",
                **variables,
            }
            call = [sys.executable, "-c", PREAMBLE + program + EPILOGUE]
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
            ranks.append(subprocess.Popen(call, env=environment, **pipes))
        ended = [(*process.communicate(), process.returncode) for process in ranks]
    for rank, (_, err, code) in enumerate(ended):
        if code != 0:
            raise AssertionError(f"rank {rank} ended with {code}:\n{err}")
    return [out for out, _, _ in ended]

"""``python -m neuronx_mem run``: a PyTorch program on a simulated device.

The seam: :func:`main` takes the arguments behind ``run`` and returns the exit code. It is imported only when
asked for, and is the only part of the command line that may import ``neuronx_mem.torch``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Says that this verb is not there yet."""
    del arguments
    sys.stderr.write("neuronx_mem: run is not in this version\n")
    return 2

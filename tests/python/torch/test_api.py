"""The checks of `api_checks.py` in compute mode and in plan mode."""

import os
import unittest

os.environ.setdefault("NEURONX_MEM_DEVICES", "2")

import neuronx_mem.torch  # noqa: E402,F401
from api_checks import Checks  # noqa: E402


class Compute(Checks, unittest.TestCase):
    """With values."""

    mode = "compute"


class Plan(Checks, unittest.TestCase):
    """Without."""

    mode = "plan"


if __name__ == "__main__":
    unittest.main()

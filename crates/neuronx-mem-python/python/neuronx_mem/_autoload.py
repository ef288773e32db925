"""What PyTorch calls when it is imported (entry point ``torch.backends``).

Does nothing unless ``NEURONX_MEM_SIMULATE`` asks for it, since a registered device would come before the
GPUs of the machine; and never raises, since then ``import torch`` would fail for everybody.
"""

from __future__ import annotations

import os
import warnings


def autoload() -> None:
    """Registers the simulated device if the environment asks for it."""
    if os.environ.get("NEURONX_MEM_SIMULATE", "0").lower() in ("", "0", "false", "off", "no"):
        return
    try:
        import neuronx_mem.torch  # noqa: F401
    except Exception as error:
        warnings.warn(f"NEURONX_MEM_SIMULATE is set, but there is no simulated device: {error}", stacklevel=2)

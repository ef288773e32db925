"""PyTorch's ``device="neuron"`` on any machine: importing this registers the simulated device.

After ``import neuronx_mem.torch``, tensors live on ``"neuron"``, ``torch.neuron`` and
``torch.accelerator`` answer for it, and ``import torch_neuronx`` gives this package's functions under
the documented names, unless the real one is installed.

Two modes. *Compute* runs every operator on the CPU, on the device's memory where it lies, with the
numbers that the CPU gives. *Plan* computes nothing: operators only take and give back memory, so that a
model of any size runs in moments, and all values read are zero.

What is simulated is set before the import, by :func:`neuronx_mem.configure` or by the variables
``NEURONX_MEM_DEVICE``, ``_LNC``, ``_DEVICES``, ``_MEMORY``, ``_MODE`` and ``_SDPA``.
"""

from neuronx_mem.torch._modes import (
    clear_plans,
    counters,
    get_mode,
    get_sdpa,
    mode,
    set_mode,
    set_sdpa,
)
from neuronx_mem.torch._register import register
from neuronx_mem.torch._errors import BackendError

register()

__all__ = [
    "BackendError",
    "clear_plans",
    "counters",
    "get_mode",
    "get_sdpa",
    "mode",
    "register",
    "set_mode",
    "set_sdpa",
]

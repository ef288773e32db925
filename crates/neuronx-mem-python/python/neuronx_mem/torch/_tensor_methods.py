"""What PyTorch's tensors do not know of a backend of its kind by themselves: DLPack's name for it."""

from __future__ import annotations

import functools
from typing import Any

import torch

#: DLPack's number for devices outside its list (``kDLExtDev``).
EXTERNAL_DEVICE = 12


def install() -> None:
    """Lets tensors of the device say to DLPack where they are."""
    original = torch.Tensor.__dlpack_device__

    @functools.wraps(original)
    def __dlpack_device__(self: torch.Tensor) -> Any:
        if self.device.type == "neuron":
            return (EXTERNAL_DEVICE, self.device.index or 0)
        return original(self)

    torch.Tensor.__dlpack_device__ = __dlpack_device__  # type: ignore[method-assign]

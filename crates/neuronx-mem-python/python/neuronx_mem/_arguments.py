"""Devices as people name them: ``None``, ``0``, ``"neuron:1"``, ``torch.device("neuron", 1)``.

Knows no device; imports nothing of PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Union, runtime_checkable

from neuronx_mem import _native


@runtime_checkable
class HasIndex(Protocol):
    """A ``torch.device``, or anything like it."""

    @property
    def index(self) -> int | None:
        """The ordinal; ``None`` for the current device."""


Device = Union[int, str, HasIndex, None]
"""What every function takes as ``device``; ``None`` is the current device."""

_NAMES = ("neuron", "privateuseone")


def _first() -> int:
    return 0


_current: Callable[[], int] = _first


def set_current_device_source(source: Callable[[], int]) -> None:
    """Says who knows the current device: PyTorch's backend, once it is there."""
    global _current
    _current = source


def device_index(device: Device = None) -> int:
    """The ordinal that ``device`` names; whether there is such a device is not asked.

    Raises ``ValueError`` for another kind of device or a negative ordinal, ``TypeError`` for anything else.
    """
    if device is None:
        return _current()
    if isinstance(device, bool):
        raise TypeError("device is a bool, not an int, a str or a torch.device")
    if isinstance(device, int):
        index = device
    elif isinstance(device, str):
        index = _index_of_name(device)
    elif isinstance(device, HasIndex):
        kind = getattr(device, "type", None)
        if isinstance(kind, str) and kind not in _NAMES:
            raise ValueError(f"expected a neuron device, not {device}")
        index = _current() if device.index is None else device.index
    else:
        raise TypeError(f"device is {device!r}, not an int, a str or a torch.device")
    if index < 0:
        raise ValueError(f"device {index} is negative")
    return index


def _index_of_name(name: str) -> int:
    kind, colon, number = name.partition(":")
    if kind not in _NAMES or (colon and not number.isdecimal()):
        raise ValueError(f'expected "neuron" or "neuron:N", not {name!r}')
    return int(number) if colon else _current()


def device_of(device: Device = None) -> _native.Device:
    """The device of this process's world.

    Raises ``IndexError`` when there is no such device.
    """
    return _native.world().device(device_index(device))

"""The backend's functions, by name. Knows their types; loads nothing by itself."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Callable

from neuronx_mem import _native
from neuronx_mem.torch._errors import BackendError

#: What the sources beside this file say of themselves.
VERSION = 1

_library: ctypes.CDLL | None = None

_Take = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p)


def load(path: Path) -> None:
    """Loads the library, which makes its operators known to PyTorch. Once a process."""
    import torch

    global _library
    getattr(torch.ops, "load_library")(str(path))
    loaded = ctypes.CDLL(str(path))
    if loaded.nxm_shim_version() != VERSION:
        raise BackendError(f"{path} is version {loaded.nxm_shim_version()}, not {VERSION}: delete it")
    _library = loaded


def get() -> ctypes.CDLL:
    """The library that is loaded."""
    if _library is None:
        raise BackendError("the neuron device is not registered: import neuronx_mem.torch first")
    return _library


def is_loaded() -> bool:
    """Whether there is one."""
    return _library is not None


def start(mode: int, attention: int) -> None:
    """Puts the backend on the simulated devices."""
    get().nxm_shim_use_int64_hooks(ctypes.c_void_p(_native.int64_hooks()))
    devices = _native.device_handles()
    table = ctypes.c_void_p(_native.shim_table())
    allocator = ctypes.c_void_p(_native.allocator_handle())
    pointers = (ctypes.c_void_p * len(devices))(*devices)
    status = get().nxm_shim_start(table, allocator, pointers, len(devices), mode, attention)
    if status == 1:
        raise BackendError("the backend was started before")
    if status == 2:
        raise BackendError(f"there are {len(devices)} devices, and PyTorch can number 127")


def observed() -> str:
    """The calls of operators with 64-bit integers, one a line; see ``observer.h``."""
    texts: list[str] = []

    def take(text: bytes, _data: object) -> None:
        texts.append(text.decode())

    call: Callable[..., object] = _Take(take)
    get().nxm_shim_observed(call, None)
    return texts[0]


def reset_observed() -> None:
    """Forgets them."""
    get().nxm_shim_observe_int64(1)

"""``import torch_neuronx`` where there is none: this package under its names.

Only in ``sys.modules``, and only while nothing else has the name, so that a real one is never hidden.
"""

from __future__ import annotations

import importlib.machinery
import sys
from types import ModuleType

import neuronx_mem



def install_aliases() -> None:
    """Makes the alias known; the caller has seen that there is no real one."""
    if "torch_neuronx" in sys.modules:
        return
    top = _module("torch_neuronx", neuronx_mem, is_package=True)
    sys.modules["torch_neuronx"] = top
    for part in ("memory", "numa", "int64"):
        source = getattr(neuronx_mem, part, None)
        if isinstance(source, ModuleType):
            alias = _module(f"torch_neuronx.{part}", source)
            setattr(top, part, alias)
            sys.modules[alias.__name__] = alias


def _module(name: str, source: ModuleType, is_package: bool = False) -> ModuleType:
    alias = ModuleType(name, source.__doc__)
    alias.__spec__ = importlib.machinery.ModuleSpec(name, None, origin="neuronx_mem", is_package=is_package)
    if is_package:
        alias.__path__ = []
    for key in dir(source):
        if not key.startswith("__"):
            setattr(alias, key, getattr(source, key))
    setattr(alias, "__version__", getattr(neuronx_mem, "__version__", "0"))
    setattr(alias, "__simulated__", True)
    return alias

"""Registers the device, once a process, and never over another backend."""

from __future__ import annotations

import importlib.util
import sys
import threading

import torch

from neuronx_mem import _arguments, numa
from neuronx_mem.torch import _build, _device_module, _library, _modes, _tensor_methods
from neuronx_mem.torch._aliases import install_aliases
from neuronx_mem.torch._errors import BackendError

NAME = "neuron"

_lock = threading.Lock()


def register() -> None:
    """Makes ``device="neuron"`` known to PyTorch; does nothing the second time.

    Raises :class:`BackendError` if the process has another backend of the same kind, if the real
    ``torch_neuronx`` is installed, or if the backend has to be compiled and cannot be.
    """
    with _lock:
        if _library.is_loaded():
            return
        _check_that_it_may()
        mode = _modes.from_environment("NEURONX_MEM_MODE", _modes.MODES)
        attention = _modes.from_environment("NEURONX_MEM_SDPA", _modes.SDPA)
        _library.load(_build.library())
        _library.start(mode, attention)
        torch.utils.rename_privateuse1_backend(NAME)
        module = _device_module.make()
        torch._register_device_module(NAME, module)
        sys.modules["torch.neuron"] = module
        torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
        _tensor_methods.install()
        # A seed that was set before there was a device holds for it too, as for any other.
        module.manual_seed_all(torch.initial_seed())
        _arguments.set_current_device_source(module.current_device)
        _register_process_group()
        install_aliases()


def _register_process_group() -> None:
    """Makes ``torch.distributed.init_process_group("neuron")`` known, where PyTorch has distributed."""
    if not torch.distributed.is_available():
        return
    from neuronx_mem.torch import distributed

    def alias(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device.type != NAME:
            return tensor
        on_cpu: torch.Tensor = torch.ops.neuronx_mem.alias_on_cpu(tensor)
        return on_cpu

    distributed.register(alias, lambda: _modes.get_mode() == "compute", numa.pin_for_process_group)


def _check_that_it_may() -> None:
    other = torch._C._get_privateuse1_backend_name()
    if other != "privateuseone":
        raise BackendError(
            f"this process already has the backend {other!r}, and PyTorch takes one of its kind: "
            "import neuronx_mem.torch in a process without it"
        )
    if is_real_one_installed():
        raise BackendError(
            "the real torch_neuronx is installed here, and the simulated device would take its place: "
            "use another environment"
        )


def is_real_one_installed() -> bool:
    """Whether there is a ``torch_neuronx`` that is not this package's alias."""
    module = sys.modules.get("torch_neuronx")
    if module is not None:
        return not getattr(module, "__simulated__", False)
    try:
        return importlib.util.find_spec("torch_neuronx") is not None
    except (ImportError, ValueError):
        return False

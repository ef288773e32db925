"""The module ``torch.neuron``: what PyTorch asks a device's module for, and what programs do.

Knows devices, streams and random numbers. Memory is asked of :mod:`neuronx_mem`.
"""

from __future__ import annotations

import importlib.machinery
from types import ModuleType
from typing import Any, Optional, Union

import torch

import neuronx_mem

Device = Optional[Union[int, str, torch.device]]


def index_of(device: Device) -> int:
    """The ordinal of a device; of the current one for ``None`` and for a device without one."""
    if device is None:
        return current_device()
    if isinstance(device, int):
        return device if device >= 0 else current_device()
    found = torch.device(device)
    if found.type != "neuron":
        raise ValueError(f"expected a neuron device, but got {found}")
    return current_device() if found.index is None else found.index


def device_count() -> int:
    """How many simulated devices there are."""
    return neuronx_mem.device_count()


def is_available() -> bool:
    """Always: the device is simulated."""
    return device_count() > 0


def is_initialized() -> bool:
    """Always: there is nothing to start."""
    return True


def is_simulated() -> bool:
    """True, which tells the simulated device from a real one."""
    return True


def init() -> None:
    """Does nothing."""


def _lazy_init() -> None:
    """Does nothing."""


def _is_in_bad_fork() -> bool:
    """False: a child process goes on with its own copy of the devices."""
    return False


def current_device() -> int:
    """The ordinal of the device that this thread works on."""
    return int(torch._C._accelerator_getDeviceIndex())


def set_device(device: Device) -> None:
    """Works on this device from now on, in this thread."""
    torch._C._accelerator_setDeviceIndex(index_of(device))


def get_device_name(device: Device = None) -> str:
    """The chip's name, which says that it is simulated."""
    return str(get_device_properties(device).name)


def get_device_properties(device: Device = None) -> Any:
    """The device's properties, with ``total_memory`` in bytes."""
    properties = getattr(neuronx_mem, "get_device_properties")
    return properties(index_of(device))


def synchronize(device: Device = None) -> None:
    """Waits for all work of a device; read statistics after it."""
    torch.accelerator.synchronize(index_of(device))


class device:
    """Works on a device for as long as it lasts; ``None`` changes nothing."""

    def __init__(self, device: Device) -> None:
        self.idx = -1 if device is None else index_of(device)
        self.before = -1

    def __enter__(self) -> None:
        self.before = torch._C._accelerator_maybeExchangeDevice(self.idx) if self.idx >= 0 else -1

    def __exit__(self, *_: object) -> None:
        if self.before >= 0:
            torch._C._accelerator_maybeExchangeDevice(self.before)


class device_of(device):
    """Works on the device of a tensor for as long as it lasts."""

    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__(tensor.device if tensor.device.type == "neuron" else None)


class Stream(torch.Stream):
    """A stream of a device. Work on it is done when its call returns."""

    def __new__(cls, device: Device = None, priority: int = 0, **options: Any) -> "Stream":
        if options:
            return super().__new__(cls, **options)
        where = torch.device("neuron", index_of(device))
        return super().__new__(cls, device=where, priority=priority)


Event = torch.Event


def current_stream(device: Device = None) -> torch.Stream:
    """The stream that this thread works on."""
    return torch.accelerator.current_stream(index_of(device))


def default_stream(device: Device = None) -> torch.Stream:
    """The stream that every device has."""
    return torch.Stream(stream_id=0, device_index=index_of(device), device_type=torch._C._get_privateuse1_backend_type())


def set_stream(stream: torch.Stream) -> None:
    """Works on this stream from now on, in this thread."""
    torch.accelerator.set_stream(stream)


class stream:
    """Works on a stream for as long as it lasts; ``None`` changes nothing."""

    def __init__(self, stream: Optional[torch.Stream]) -> None:
        self.stream = stream
        self.before: Optional[torch.Stream] = None

    def __enter__(self) -> Optional[torch.Stream]:
        if self.stream is not None:
            self.before = torch.accelerator.current_stream()
            torch.accelerator.set_stream(self.stream)
        return self.stream

    def __exit__(self, *_: object) -> None:
        if self.before is not None:
            torch.accelerator.set_stream(self.before)


def default_generator(device: Device = None) -> torch.Generator:
    """The generator that operators on a device use when they are given none."""
    made: torch.Generator = torch.ops.neuronx_mem.default_generator(index_of(device))
    return made


def manual_seed(seed: int) -> None:
    """Seeds the current device: it draws the numbers that the CPU draws from this seed."""
    default_generator().manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Seeds all devices; ``torch.manual_seed()`` does this too."""
    for index in range(device_count()):
        default_generator(index).manual_seed(seed)


def seed() -> int:
    """Seeds the current device with a random number, and returns it."""
    return default_generator().seed()


def initial_seed() -> int:
    """The seed of the current device."""
    return default_generator().initial_seed()


def get_rng_state(device: Device = "neuron") -> torch.Tensor:
    """The state of a device's generator."""
    return default_generator(device).get_state()


def get_rng_state_all() -> list[torch.Tensor]:
    """The states of all devices' generators."""
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state(state: torch.Tensor, device: Device = "neuron") -> None:
    """Sets the state of a device's generator."""
    default_generator(device).set_state(state)


def set_rng_state_all(states: list[torch.Tensor]) -> None:
    """Sets the states of all devices' generators."""
    for index, state in enumerate(states):
        set_rng_state(state, index)


def get_amp_supported_dtype() -> list[torch.dtype]:
    """The types that ``torch.autocast("neuron")`` casts to."""
    return [torch.bfloat16, torch.float16]


def is_bf16_supported() -> bool:
    """Yes."""
    return True


def _get_device(device: Device) -> torch.device:
    return torch.device("neuron", index_of(device))


_NOT_OFFERED = {"annotations", "importlib", "ModuleType", "Any", "Optional", "Union", "torch", "neuronx_mem", "make"}


def make() -> ModuleType:
    """The module, with the functions above and those of memory."""
    module = ModuleType("torch.neuron", __doc__)
    module.__spec__ = importlib.machinery.ModuleSpec("torch.neuron", None, origin="neuronx_mem")
    for name, value in globals().items():
        if not name.startswith("__") and name not in _NOT_OFFERED:
            setattr(module, name, value)
    for name in dir(neuronx_mem):
        value = getattr(neuronx_mem, name)
        if "memory" in name and callable(value) or name in ("mem_get_info", "empty_cache"):
            setattr(module, name, value)
    memory = getattr(neuronx_mem, "memory", None)
    if memory is not None:
        setattr(module, "memory", memory)
    return module

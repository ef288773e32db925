"""NUMA placement of this process: is it beside its device, and if not, put it there.

Follows the guidelines for memory management ("Pin host memory to the local NUMA node"). Reads ``neuron-ls``,
``/sys``, ``/proc`` and the variables ``NEURON_NUMA_PIN`` and ``LOCAL_RANK`` at each call; asks no PyTorch.
"""

from __future__ import annotations

import functools
import os
import warnings
from typing import Any

from neuronx_mem import _native
from neuronx_mem._native import Pinned

__all__ = ["Pinned", "get_numa_details", "get_numa_status", "pin", "pin_for_process_group", "topology"]


def get_numa_status() -> dict[str, Any]:
    """Whether pinning is on and this process pinned, its CPUs, and what is known of the devices.

    ``{'numa_pin_enabled': …, 'numa_pinned': …, 'current_affinity': [cpu, …], 'topology_available': …,
    'num_devices': …}``: these five keys.
    """
    status: dict[str, Any] = _native.numa_status()
    del status["details"]
    return status


def get_numa_details(rank: int | None = None) -> dict[str, Any]:
    """The same and more: why it is not pinned, where the rank belongs, threads and bytes elsewhere.

    ``rank`` is the local rank, that of ``LOCAL_RANK`` when missing.
    """
    status: dict[str, Any] = _native.numa_status(rank)
    status.update(status.pop("details"))
    return status


def topology() -> list[dict[str, Any]]:
    """The devices that ``neuron-ls`` names, a dict each.

    Raises ``RuntimeError`` when nothing says which there are.
    """
    return _native.numa_topology()


def pin(rank: int | None = None, mode: str = "node") -> Pinned:
    """Binds all threads of this process to the CPUs beside the device of its rank.

    ``mode`` is ``node``, ``socket``, ``exclusive`` or ``core-complex``, as for ``torchrun
    --numa-binding``. Threads with an affinity of their own keep it. The result tells what was bound, and
    ``undo()`` takes it back. Raises ``ValueError`` for another mode or without a rank, ``RuntimeError`` when
    there is no place for the rank or the system refuses.
    """
    if rank is None:
        text = os.environ.get("LOCAL_RANK", "")
        if not text.isdecimal():
            raise ValueError("no rank: give one, or set LOCAL_RANK")
        rank = int(text)
    return _native.numa_pin(rank, mode)


def pin_for_process_group() -> Pinned | None:
    """Pins as the guidelines have it when a process makes its first process group ``"neuron"``.

    Does nothing with ``NEURON_NUMA_PIN=0``, where ``neuron-numa-launch`` or the caller has pinned already,
    and where nothing says which devices there are. Never raises: what keeps a process from being pinned is
    a warning, and the process goes on.
    """
    status = get_numa_details()
    is_done = status["numa_pinned"] or status["launched_node"] is not None
    if is_done or not status["numa_pin_enabled"] or not status["topology_available"]:
        return None
    try:
        return pin()
    except (ValueError, RuntimeError) as error:
        warnings.warn(f"this process is not pinned to a NUMA node: {error}", stacklevel=2)
        return None


@functools.lru_cache(maxsize=1)
def _pci_by_core() -> dict[int, tuple[int, int, int]]:
    try:
        devices = topology()
    except RuntimeError:
        return {}
    addresses = {}
    for device in devices:
        if device["pci"] is None:
            continue
        domain, bus, slot = device["pci"].split(".")[0].split(":")
        for core in device["core_ids"]:
            addresses[core] = (int(domain, 16), int(bus, 16), int(slot, 16))
    return addresses


def pci_address(core: int) -> tuple[int, int, int] | None:
    """Domain, bus and device of the PCI address of a logical core; ``None`` where nobody knows it."""
    return _pci_by_core().get(core)

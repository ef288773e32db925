"""Memory statistics, analysis and history of the devices, with the names that the guides document.

``device`` is ``None`` (the current one), an ordinal, ``"neuron:1"`` or a ``torch.device``. Sizes are bytes.
Statistics show what the device has completed: call ``torch.neuron.synchronize()`` (or
:func:`neuronx_mem.synchronize`) before a reading. Follows the memory profiling guide; where that is
silent, ``torch.cuda.memory``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from neuronx_mem import _native
from neuronx_mem._arguments import Device, device_index, device_of
from neuronx_mem._html import table

__all__ = [
    "DeviceProperties",
    "SegmentPoolAnalysis",
    "empty_cache",
    "get_device_properties",
    "get_per_process_memory_fraction",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "segment_pool_analysis",
    "segment_pool_analysis_summary",
    "set_memory_metadata",
    "set_per_process_memory_fraction",
    "synchronize",
]


def memory_allocated(device: Device = None) -> int:
    """Block bytes that live tensors hold. One atomic load."""
    return device_of(device).memory_allocated()


def max_memory_allocated(device: Device = None) -> int:
    """Most of them at once since the last :func:`reset_peak_memory_stats`."""
    return device_of(device).max_memory_allocated()


def memory_reserved(device: Device = None) -> int:
    """Bytes of the segments held from the runtime."""
    return device_of(device).memory_reserved()


def max_memory_reserved(device: Device = None) -> int:
    """Most of them at once since the last :func:`reset_peak_memory_stats`."""
    return device_of(device).max_memory_reserved()


def memory_stats(device: Device = None) -> dict[str, int]:
    """All statistics of one moment as a flat dict with sorted keys, such as ``allocated_bytes.all.peak``.

    A superset of the keys of ``torch.accelerator.memory_stats()``. Takes no lock.
    """
    return device_of(device).memory_stats()


def memory_stats_as_nested_dict(device: Device = None) -> dict[str, Any]:
    """The same, with a dict a level: ``stats["allocated_bytes"]["all"]["peak"]``."""
    nested: dict[str, Any] = {}
    for key, value in memory_stats(device).items():
        *path, last = key.split(".")
        place = nested
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    return nested


def memory_summary(device: Device = None, abbreviated: bool = False) -> str:
    """The table of the memory profiling guide. ``abbreviated`` changes nothing: it is short."""
    del abbreviated
    return device_of(device).memory_summary()


def reset_peak_memory_stats(device: Device = None) -> None:
    """Sets every peak to its current value, typically once a step."""
    device_of(device).reset_peak_memory_stats()


def reset_accumulated_memory_stats(device: Device = None) -> None:
    """Zeroes the counters and every ``allocated`` and ``freed``."""
    device_of(device).reset_accumulated_memory_stats()


def synchronize(device: Device = None) -> None:
    """Waits for all work of the device, after which every queued deallocation has run."""
    device_of(device).synchronize()


def empty_cache() -> None:
    """Waits for all devices, then gives every fully free segment back to the runtime."""
    _native.world().empty_cache()


def mem_get_info(device: Device = None) -> tuple[int, int]:
    """Free and total bytes of the device, all users counted, as the runtime sees them."""
    return device_of(device).mem_get_info()


_fractions: dict[int, tuple[float, int | None]] = {}


def set_per_process_memory_fraction(fraction: float, device: Device = None) -> None:
    """Caps what is reserved at a part of the device's memory; beyond it a request is out of memory.

    Raises ``TypeError`` unless ``fraction`` is a ``float``, ``ValueError`` outside 0 to 1.
    """
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    chosen = device_of(device)
    chosen.set_memory_fraction(fraction)
    _fractions[chosen.index] = (fraction, chosen.memory_cap())


def get_per_process_memory_fraction(device: Device = None) -> float:
    """The part of the device's memory that this process may reserve; 1.0 unless capped."""
    chosen = device_of(device)
    cap = chosen.memory_cap()
    fraction, cap_then = _fractions.get(chosen.index, (1.0, None))
    if cap == cap_then:
        return fraction
    # Somebody else has set another cap meanwhile.
    return 1.0 if cap is None else cap / chosen.mem_get_info()[1]


@dataclass(frozen=True)
class DeviceProperties:
    """What a device is."""

    name: str
    """``trn1``, ``inf2``, ``trn2``, ``trn3``; ``libnrt`` for a real one."""
    total_memory: int
    """Bytes of the device: at LNC 1 on trn2 and trn3 the whole stack, which two cores share."""
    core_memory: int | None
    """Bytes that one logical core may use; ``None`` where the runtime decides."""
    lnc: int | None
    """Physical cores a logical core; ``None`` where the runtime decides."""
    is_simulated: bool
    """Whether no hardware is behind it."""
    pci_domain_id: int | None = field(default=None, kw_only=True)
    """PCI address, where ``neuron-ls`` knows it."""
    pci_bus_id: int | None = field(default=None, kw_only=True)
    """PCI address, where ``neuron-ls`` knows it."""
    pci_device_id: int | None = field(default=None, kw_only=True)
    """PCI address, where ``neuron-ls`` knows it."""


def get_device_properties(device: Device = None) -> DeviceProperties:
    """Name, memory and kind of a device."""
    from neuronx_mem import numa

    chosen = device_of(device)
    name, lnc, core_bytes, is_simulated = chosen.facts()
    domain, bus, slot = numa.pci_address(chosen.index) or (None, None, None)
    return DeviceProperties(
        name,
        chosen.mem_get_info()[1],
        core_bytes,
        lnc,
        is_simulated,
        pci_domain_id=domain,
        pci_bus_id=bus,
        pci_device_id=slot,
    )


@dataclass(frozen=True)
class SegmentPoolAnalysis:
    """How fragmented a device's memory is (memory profiling guide, step 3)."""

    device: int
    """Ordinal of the device."""
    total_bytes: int
    """Device memory, or the cap in force."""
    reserved_bytes: int
    """Held from the runtime."""
    allocated_bytes: int
    """Block sizes of live tensors."""
    active_bytes: int
    """What live tensors asked for."""
    pending_bytes: int
    """Part of ``allocated_bytes`` whose deallocation is queued."""
    cached_free_bytes: int
    """Free inside held segments."""
    free_bytes: int
    """``total - allocated``."""
    largest_free_bytes: int
    """The largest free block, or gap of the device outside all segments."""
    internal_fragmentation_bytes: int
    """``allocated - active``."""
    external_fragmentation_bytes: int
    """Free bytes in neither a cached block nor the largest free region."""
    fragmentation_index: float
    """``(internal + external) / free``, 0 to 1; lower is better."""
    memory_density: float
    """``reserved / address span`` of the segments; higher is better."""
    n_segments: int
    """Segments held."""
    free_segments: int
    """Those with nothing in them."""
    free_segment_bytes: int
    """Their bytes: what :func:`empty_cache` would give back now."""
    holes: int
    """Free blocks that share their segment with live ones."""
    hole_bytes: int
    """Their bytes."""

    def _repr_html_(self) -> str:
        return table(f"Segment-pool analysis, device {self.device}", self)


def segment_pool_analysis(device: Device = None) -> SegmentPoolAnalysis:
    """The analysis of this moment. O(blocks)."""
    return SegmentPoolAnalysis(**device_of(device).segment_pool_analysis())


def segment_pool_analysis_summary(device: Device = None) -> str:
    """The analysis as a text report."""
    return device_of(device).segment_pool_analysis_summary()


def set_memory_metadata(text: str, device: Device = None) -> None:
    """Attaches a text to all events of the history from now on."""
    _native.set_memory_metadata(device_of(device), text)


def _record_memory_history(
    enabled: str | bool | None = "all",
    context: str | None = "all",
    stacks: str = "all",
    max_entries: int = sys.maxsize,
    device: Device = None,
    clear_history: bool = False,
    compile_context: bool = False,
    global_record_annotations: bool = False,
    skip_actions: Sequence[str] | None = None,
    record_pinned_host_memory: bool = False,
    record_cuda: bool = True,
) -> None:
    """Records the memory history, or stops and forgets it.

    ``enabled`` is ``None`` or ``False`` (off), ``"state"`` (stacks of live blocks only) or ``"all"`` or
    ``True`` (events too). ``context`` says which events carry a stack: ``None``, ``"state"``, ``"alloc"``
    or ``"all"``. ``stacks`` is ``"python"`` (some hundred nanoseconds an event) or ``"all"``, which puts
    the native frames on top (microseconds); the last call decides for all devices. Of more than
    ``max_entries`` events the oldest go.
    ``device`` is ``None`` for all devices. ``skip_actions`` are names of actions that are not recorded.

    Raises ``ValueError`` for any other value, ``NotImplementedError`` for what the history of these
    devices does not have: compile contexts, annotations, pinned host memory, or no device events at all.
    """
    for name, wanted in (
        ("compile_context", compile_context),
        ("global_record_annotations", global_record_annotations),
        ("record_pinned_host_memory", record_pinned_host_memory),
        ("record_cuda=False", not record_cuda),
    ):
        if wanted:
            raise NotImplementedError(f"_record_memory_history: {name} is not supported")
    if isinstance(enabled, bool):
        enabled = "all" if enabled else None
    world = _native.world()
    indices = range(world.n_devices) if device is None else (device_index(device),)
    most = max(0, min(max_entries, sys.maxsize))
    skipped = list(skip_actions or ())
    for index in indices:
        chosen = world.device(index)
        _native.record_memory_history(chosen, enabled, context, stacks, most, clear_history, skipped)


def _snapshot(device: Device = None, augment_with_fx_traces: bool = False) -> dict[str, Any]:
    """Segments, blocks and recorded events of all devices, in the schema of PyTorch's snapshots.

    ``device`` is looked at for the sake of its name only, as PyTorch does.
    """
    import pickle

    device_index(device)
    _no_fx_traces(augment_with_fx_traces)
    snapshot: dict[str, Any] = pickle.loads(_native.world().snapshot())
    return snapshot


def memory_snapshot(mempool_id: tuple[int, int] | None = None, include_traces: bool = True) -> list[dict[str, Any]]:
    """The segments of :func:`_snapshot`, those of one private pool if it is named."""
    del include_traces  # They are beside the segments, not in them.
    segments: list[dict[str, Any]] = _snapshot()["segments"]
    if mempool_id is None:
        return segments
    return [segment for segment in segments if tuple(segment["segment_pool_id"]) == tuple(mempool_id)]


def _dump_snapshot(
    filename: str | os.PathLike[str] = "dump_snapshot.pickle", augment_with_fx_traces: bool = False
) -> None:
    """Writes a snapshot of all devices: JSON for a name in ``.json``, a pickle otherwise.

    The file opens in the PyTorch memory visualizer. A temporary file is renamed: a failure leaves no half
    file. Raises ``OSError``.
    """
    _no_fx_traces(augment_with_fx_traces)
    _native.world().dump_snapshot(os.fspath(filename))


def _no_fx_traces(wanted: bool) -> None:
    if wanted:
        raise NotImplementedError("augment_with_fx_traces is not supported")

"""Records what any callable does with device memory: :func:`trace_model`.

Knows how to switch the history on around calls and how a snapshot marks steps; computes nothing
about memory itself: replay, compare and tune do, from the file that comes out.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuronx_mem import memory
from neuronx_mem._arguments import Device, device_index
from neuronx_mem._html import table

if TYPE_CHECKING:
    from neuronx_mem._replay import Comparison, Replay


@dataclass(frozen=True)
class Trace:
    """What a callable did with the memory of one device: a snapshot with its whole history.

    ``data`` is the snapshot as PyTorch pickles it, so the memory visualizer opens it as well.
    """

    #: The snapshot, pickled.
    data: bytes
    #: Allocations and frees in it.
    events: int
    #: Most bytes that blocks held at once while recording.
    allocated_peak_bytes: int
    #: Most bytes that segments held at once while recording.
    reserved_peak_bytes: int
    #: What the callable returned, a call each; kept alive with the trace only if asked for.
    results: tuple[Any, ...] = ()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the snapshot, whole or not at all; returns where it is."""
        path = Path(path)
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            partial.write_bytes(self.data)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
        return path

    def replay(self, **options: Any) -> Replay:
        """Runs the trace again, with other settings: see :func:`neuronx_mem.replay`."""
        from neuronx_mem import replay

        return replay(self.data, **options)

    def compare(self, configs: Sequence[str], **options: Any) -> Comparison:
        """Runs it under several settings: see :func:`neuronx_mem.compare`."""
        from neuronx_mem import compare

        return compare(self.data, configs, **options)

    def _repr_html_(self) -> str:
        return table("Recorded calls", self, skip=("data",))


def trace_model(
    step: Callable[..., Any],
    *args: Any,
    steps: int = 1,
    warmup: int = 0,
    device: Device = None,
    max_entries: int = 10_000_000,
    keep_results: bool = False,
    **kwargs: Any,
) -> Trace:
    """Calls ``step(*args, **kwargs)`` and records every allocation and free of it.

    ``warmup`` calls come first and leave no trace but what they keep: blocks that live when
    recording begins are the baseline of a replay. Then come ``steps`` calls, each marked as a step
    of its own. Works with any callable that uses ``device="neuron"``, best in plan mode, where a
    step of a large model takes milliseconds. A recording that is under way is replaced and off
    afterwards; peaks of the device are reset.

    Raises ``ValueError`` for no steps, and whatever the callable raises.
    """
    if steps < 1:
        raise ValueError(f"steps is {steps}, not at least 1")
    for _ in range(warmup):
        step(*args, **kwargs)
    results = []
    memory.reset_peak_memory_stats(device)
    memory._record_memory_history(
        max_entries=max_entries, stacks="python", clear_history=True, device=device
    )
    try:
        for number in range(steps):
            memory.set_memory_metadata(f"step {number}", device=device)
            result = step(*args, **kwargs)
            if keep_results:
                results.append(result)
            del result
        snapshot = memory._snapshot()
        peaks = memory.max_memory_allocated(device), memory.max_memory_reserved(device)
    finally:
        memory.set_memory_metadata("", device=device)
        memory._record_memory_history(None, device=device)
    index = device_index(device)
    events = _mark_steps(snapshot, index, steps)
    return Trace(pickle.dumps(snapshot, protocol=4), events, *peaks, tuple(results))


def _mark_steps(snapshot: dict[str, Any], device: int, steps: int) -> int:
    """Makes a range of each step of a device, from its first event to its last; counts all events."""
    trace = snapshot["device_traces"][device]
    times: dict[str, list[int]] = {}
    for entry in trace:
        times.setdefault(entry.get("user_metadata", ""), []).append(entry["time_us"])
    ranges = snapshot.setdefault("external_annotations", [])
    for name in (f"step {number}" for number in range(steps)):
        if name in times:
            for stage, time_us in (("START", times[name][0]), ("END", times[name][-1])):
                ranges.append({"stage": stage, "name": name, "device": device, "time_us": time_us})
    return len(trace)

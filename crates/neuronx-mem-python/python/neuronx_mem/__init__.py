"""What a PyTorch program does with the memory of a Trainium device, without one.

>>> import neuronx_mem
>>> neuronx_mem.configure(device="trn2", memory="24GiB")
>>> neuronx_mem.memory_allocated()
0

One simulated world a process, which :func:`configure` describes before anything else happens, and which
the variables ``NEURONX_MEM_DEVICE``, ``_LNC``, ``_DEVICES`` and ``_MEMORY`` describe otherwise. Its devices
are those of PyTorch once ``import neuronx_mem.torch`` has registered them; an :class:`Allocator` is
another one, for programs without PyTorch.

:mod:`neuronx_mem.memory` has the statistics, :mod:`neuronx_mem.numa` the placement of the process,
:mod:`neuronx_mem.int64` the audit of 64-bit operators. :func:`replay`, :func:`compare`, :func:`tune`,
:func:`explain`, :func:`diff` and :func:`leaks` work on recorded programs; :func:`trace_model` records one.
Nothing here imports PyTorch.
"""

from __future__ import annotations

import atexit as _atexit

from neuronx_mem import _native, int64, memory, numa
from neuronx_mem._diff import Diff, diff
from neuronx_mem._errors import CommandError, OutOfMemoryError
from neuronx_mem._explain import Explanation, explain
from neuronx_mem._leaks import Leaks, leaks
from neuronx_mem._native import Allocator, Block, Device, Stream, configure, device_count
from neuronx_mem._replay import Comparison, Replay, compare, replay
from neuronx_mem._trace_model import Trace, trace_model
from neuronx_mem._tune import Tuning, tune
from neuronx_mem._version import __version__
from neuronx_mem.memory import (
    DeviceProperties,
    SegmentPoolAnalysis,
    empty_cache,
    get_device_properties,
    get_per_process_memory_fraction,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_stats_as_nested_dict,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
    segment_pool_analysis,
    segment_pool_analysis_summary,
    set_per_process_memory_fraction,
    synchronize,
)

# From here on a free on some thread must not wait for an interpreter that is going away.
_atexit.register(_native.stop_capturing)

__all__ = [
    "Allocator",
    "Block",
    "CommandError",
    "Comparison",
    "Device",
    "DeviceProperties",
    "Diff",
    "Explanation",
    "Leaks",
    "OutOfMemoryError",
    "Replay",
    "SegmentPoolAnalysis",
    "Stream",
    "Trace",
    "Tuning",
    "__version__",
    "compare",
    "configure",
    "device_count",
    "diff",
    "empty_cache",
    "explain",
    "get_device_properties",
    "get_per_process_memory_fraction",
    "int64",
    "leaks",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory",
    "memory_allocated",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "numa",
    "replay",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "segment_pool_analysis",
    "segment_pool_analysis_summary",
    "set_per_process_memory_fraction",
    "synchronize",
    "trace_model",
    "tune",
]

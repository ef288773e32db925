"""Types of the native half: one simulated world a process, allocators, and answers about them."""

import os
from types import TracebackType
from typing import Any, final

VERSION: str

def configure(
    device: str | None = None,
    lnc: int | None = None,
    devices: int | None = None,
    memory: int | str | None = None,
    config: str | None = None,
) -> None:
    """Says what is simulated, before anything is.

    ``device`` is ``trn1``, ``inf2``, ``trn2`` or ``trn3``; ``lnc`` 1 or 2; ``memory`` a number of bytes or
    ``"24GiB"``, that of the chip unless set; ``config`` allocator keys in the form of
    ``TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG``, which holds otherwise. What is missing comes from
    ``NEURONX_MEM_DEVICE``, ``_LNC``, ``_DEVICES`` and ``_MEMORY``, then from the defaults: one trn2 core.

    Raises ``ValueError`` for what no device is like, ``RuntimeError`` when the world was started with other
    settings. The same settings again change nothing.
    """

def is_started() -> bool: ...
def world() -> Allocator: ...
def device_count() -> int:
    """How many devices the world has."""

def shim_table() -> int: ...
def device_handles() -> list[int]: ...
def allocator_handle() -> int: ...
def shim_header() -> str: ...
def int64_hooks() -> int: ...
def int64_policy() -> tuple[str, bool]: ...
def record_memory_history(
    device: Device,
    enabled: str | None,
    context: str | None,
    stacks: str,
    max_entries: int,
    clear_history: bool,
    skip_actions: list[str],
) -> None: ...
def set_memory_metadata(device: Device, text: str) -> None: ...
def stop_capturing() -> None: ...
def n_captured_stacks() -> int: ...
def numa_status(rank: int | None = None) -> dict[str, Any]: ...
def numa_topology() -> list[dict[str, Any]]: ...
def numa_pin(rank: int, mode: str) -> Pinned: ...
def int64_route(operator: str, mode: str | None = None) -> tuple[str, str, list[str]]: ...

@final
class Pinned:
    """What a pin did."""

    @property
    def node(self) -> int:
        """The NUMA node."""
    @property
    def cpus(self) -> list[int]:
        """The CPUs that the threads are bound to; none once it is undone."""
    @property
    def threads(self) -> int:
        """How many threads were bound."""
    def undo(self) -> int:
        """Gives the threads back the affinity of before; returns how many. Nothing the second time."""

@final
class Allocator:
    """A caching allocator over simulated devices, or over libnrt.

    ``device`` is ``trn1``, ``inf2``, ``trn2`` or ``trn3``, ``lnc`` 1 or 2, ``memory`` bytes or ``"24GiB"``.
    ``libnrt`` is ``True`` or the path of the library: then device, lnc, devices and memory are the
    machine's. ``config`` holds allocator keys; what is missing of keys, ``oom_recovery`` and ``streams``
    comes from the environment. Raises ``ValueError`` for what makes no sense, ``RuntimeError`` when libnrt
    does not start.
    """

    def __new__(
        cls,
        device: str = "trn2",
        *,
        lnc: int | None = None,
        devices: int = 1,
        memory: int | str | None = None,
        config: str | None = None,
        libnrt: bool | str | os.PathLike[str] | None = None,
        oom_recovery: bool | None = None,
        streams: bool | None = None,
    ) -> Allocator: ...
    @property
    def n_devices(self) -> int:
        """How many devices it has."""
    @property
    def config(self) -> str:
        """The allocator keys in force, as the environment variable would say them; empty for the defaults."""
    @property
    def config_hash(self) -> str:
        """The hash of those keys."""
    def device(self, index: int) -> Device:
        """One of its devices. Raises ``IndexError``."""
    def allocate(self, bytes: int, stream: Stream | None = None, device: int = 0) -> Block:
        """A block, in the order of a stream; of the default stream of ``device`` without one.

        Other Python threads run meanwhile. Raises :class:`neuronx_mem.OutOfMemoryError`.
        """
    def synchronize(self) -> None:
        """Says that all work of all devices is done."""
    def empty_cache(self) -> tuple[int, int]:
        """Gives fully free segments back to the runtime; segments and bytes."""
    def record_memory_history(
        self,
        enabled: str | None = ...,
        context: str | None = ...,
        stacks: str = "python",
        max_entries: int = ...,
        clear_history: bool = False,
    ) -> None:
        """Records the history of all devices, or stops: the arguments are those of
        ``neuronx_mem.memory._record_memory_history``, ``"all"`` unless set, with Python stacks.
        """
    def snapshot(self, json: bool = False) -> bytes:
        """A snapshot of all devices: a pickle, or JSON."""
    def dump_snapshot(self, path: str | os.PathLike[str]) -> None:
        """Writes it: JSON for a name in ``.json``, a pickle otherwise. Raises ``OSError``."""

@final
class Device:
    """One device of an allocator: statistics, analysis, streams."""

    @property
    def index(self) -> int:
        """Its ordinal."""
    def memory_allocated(self) -> int:
        """Block bytes that live tensors hold."""
    def max_memory_allocated(self) -> int:
        """Most of them at once since the last reset of peaks."""
    def memory_reserved(self) -> int:
        """Bytes of the segments held from the runtime."""
    def max_memory_reserved(self) -> int:
        """Most of them at once since the last reset of peaks."""
    def memory_stats(self) -> dict[str, int]:
        """All statistics as a flat dict."""
    def memory_summary(self) -> str:
        """The table of the memory profiling guide."""
    def reset_peak_memory_stats(self) -> None:
        """Sets every peak to its current value."""
    def reset_accumulated_memory_stats(self) -> None:
        """Zeroes the counters and every ``allocated`` and ``freed``."""
    def synchronize(self) -> None:
        """Says that all work of the device is done."""
    def empty_cache(self) -> tuple[int, int]:
        """Gives fully free segments back to the runtime; segments and bytes."""
    def mem_get_info(self) -> tuple[int, int]:
        """Free and total bytes, as the runtime sees them."""
    def set_memory_fraction(self, fraction: float) -> None:
        """Caps what is reserved at a part of the device's memory. Raises ``ValueError``."""
    def memory_cap(self) -> int | None:
        """The cap in force below the device's memory, bytes."""
    def segment_pool_analysis(self) -> dict[str, Any]:
        """The analysis as a dict of plain numbers."""
    def segment_pool_analysis_summary(self) -> str:
        """The analysis as a text report."""
    def facts(self) -> tuple[str, int | None, int | None, bool]: ...
    def default_stream(self) -> Stream:
        """The stream that every device has."""
    def new_stream(self) -> Stream:
        """Another one; the default one where streams are switched off."""

@final
class Stream:
    """Where work, allocations and frees have their order. Runs no work: whoever does says so here."""

    @property
    def id(self) -> int:
        """Its number on the device, from 0."""
    @property
    def device(self) -> int:
        """Ordinal of the device."""
    def submit(self) -> int:
        """Notes that a piece of work was queued; the ticket is for :meth:`complete`."""
    def complete(self, ticket: int) -> None:
        """Notes that work up to a ticket is done. Raises ``ValueError`` for one that was not given out."""
    def synchronize(self) -> None:
        """Says that all its work is done."""
    def is_idle(self) -> bool:
        """Whether nothing that was submitted is still running."""
    def pending(self) -> tuple[int, int]:
        """Blocks whose deallocation waits for it, and their bytes."""

@final
class Block:
    """Device memory that frees itself in stream order: when nobody holds it, or at the end of ``with``."""

    @property
    def address(self) -> int:
        """First device address; 0 for a block of no bytes."""
    @property
    def requested_bytes(self) -> int:
        """Bytes asked for."""
    @property
    def block_bytes(self) -> int:
        """Bytes that count as allocated."""
    @property
    def device(self) -> int:
        """Ordinal of the device."""
    @property
    def is_freed(self) -> bool:
        """Whether it was freed."""
    def free(self) -> None:
        """Frees it; nothing when it is freed."""
    def record_stream(self, stream: Stream) -> None:
        """Says that a stream uses it too. Raises ``RuntimeError`` when it is freed."""
    def __len__(self) -> int: ...
    def __enter__(self) -> Block: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None: ...

"""Replays of recorded programs: what the allocator would have done, under one setting or several.

The work is the command's; here its answers become values. All sizes are bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from neuronx_mem import _command
from neuronx_mem._command import Input
from neuronx_mem._html import rows_table, size, table

CONFIG_VARIABLE = "TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG"


@dataclass(frozen=True)
class Fragmentation:
    """The values of the memory profiling guide, step 3, at the peak."""

    total_bytes: int
    reserved_bytes: int
    free_bytes: int
    largest_free_bytes: int
    internal_fragmentation_bytes: int
    external_fragmentation_bytes: int
    fragmentation_index: float
    memory_density: float

    @classmethod
    def _of(cls, answer: dict[str, Any]) -> Fragmentation:
        return cls(
            answer["total"],
            answer["reserved"],
            answer["free"],
            answer["largest_free"],
            answer["internal_fragmentation"],
            answer["external_fragmentation"],
            answer["fragmentation_index"],
            answer["memory_density"],
        )

    def _repr_html_(self) -> str:
        return table("Fragmentation at the peak", self)


@dataclass(frozen=True)
class TraceOutOfMemory:
    """Where a recorded program runs out of memory, and the numbers of that moment."""

    message: str
    event: int
    """Number of the event, from 1."""
    line: int
    """Line of the input; 0 where it has none."""
    requested_bytes: int
    rounded_bytes: int
    segment_bytes: int
    total_bytes: int
    reserved_bytes: int
    allocated_bytes: int
    active_bytes: int
    cached_free_bytes: int
    largest_free_bytes: int
    used_by_others_bytes: int
    pending: tuple[tuple[int, int], ...]
    """Bytes whose deallocation waits, by stream."""
    steps: tuple[tuple[str, int], ...]
    """Recovery steps taken, and the bytes each gained."""

    @classmethod
    def _of(cls, answer: dict[str, Any]) -> TraceOutOfMemory:
        return cls(
            answer["message"],
            answer["event"],
            answer["line"],
            answer["requested"],
            answer["rounded"],
            answer["segment"],
            answer["device_total"],
            answer["reserved"],
            answer["allocated"],
            answer["active"],
            answer["cached_free"],
            answer["largest_free"],
            answer["used_by_others"],
            tuple((wait["stream"], wait["bytes"]) for wait in answer["pending"]),
            tuple((step["kind"], step["gained"]) for step in answer["steps"]),
        )

    def _repr_html_(self) -> str:
        return table("Out of memory", self)


@dataclass(frozen=True)
class Figures:
    """What one replay came to."""

    events: int
    config_hash: str
    device_total_bytes: int
    requested_peak_bytes: int
    allocated_peak_bytes: int
    reserved_peak_bytes: int
    active_peak_bytes: int
    allocated_bytes: int
    reserved_bytes: int
    active_bytes: int
    segments_allocated: int
    segments_released: int
    num_ooms: int
    num_alloc_retries: int
    num_device_alloc: int
    oom: TraceOutOfMemory | None
    """The first request that could not be served; ``None`` when the program fits."""

    @property
    def fits(self) -> bool:
        """Whether the program ran to its end without running out of memory."""
        return self.num_ooms == 0


def _figures(answer: dict[str, Any]) -> dict[str, Any]:
    oom = answer["oom"]
    return {
        "events": answer["events"],
        "config_hash": answer["config_hash"],
        "device_total_bytes": answer["device_total"],
        "requested_peak_bytes": answer["requested_peak"],
        "allocated_peak_bytes": answer["allocated_peak"],
        "reserved_peak_bytes": answer["reserved_peak"],
        "active_peak_bytes": answer["active_peak"],
        "allocated_bytes": answer["allocated"],
        "reserved_bytes": answer["reserved"],
        "active_bytes": answer["active"],
        "segments_allocated": answer["segments_allocated"],
        "segments_released": answer["segments_released"],
        "num_ooms": answer["num_ooms"],
        "num_alloc_retries": answer["num_alloc_retries"],
        "num_device_alloc": answer["num_device_alloc"],
        "oom": None if oom is None else TraceOutOfMemory._of(oom),
    }


@dataclass(frozen=True)
class Replay(Figures):
    """A recorded program under one configuration."""

    input: str
    analysis: Fragmentation
    elapsed_s: float

    def _repr_html_(self) -> str:
        shown = table(f"Replay of {self.input}", self, skip=("oom", "analysis", "input"))
        return shown + (self.oom._repr_html_() if self.oom else "") + self.analysis._repr_html_()


@dataclass(frozen=True)
class Row(Figures):
    """One configuration of a comparison."""

    config: str
    """Value of the variable that gives it; empty for the defaults."""


@dataclass(frozen=True)
class Comparison:
    """One program under several configurations. A sequence of its rows."""

    rows: tuple[Row, ...]
    best_index: int | None
    """The row that fits with the lowest peak of reserved bytes; ``None`` when none fits."""

    @property
    def best(self) -> Row | None:
        """That row."""
        return None if self.best_index is None else self.rows[self.best_index]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Row:
        return self.rows[index]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def _repr_html_(self) -> str:
        header = ("", "configuration", "reserved peak", "allocated peak", "OOMs", "retries")
        rows = (
            (
                "best" if index == self.best_index else "",
                row.config or "(defaults)",
                size(row.reserved_peak_bytes),
                size(row.allocated_peak_bytes),
                row.num_ooms,
                row.num_alloc_retries,
            )
            for index, row in enumerate(self.rows)
        )
        return rows_table("Comparison", header, rows)


def replay(
    source: Input,
    config: str | None = None,
    device: str = "trn2",
    memory: int | str | None = None,
    *,
    lnc: int | None = None,
    until: int | None = None,
    in_flight: int = 0,
    lenient: bool = False,
    snapshot: str | None = None,
) -> Replay:
    """Runs a recorded program through the allocator over a simulated device.

    ``source`` is a trace or a snapshot, a path or its bytes. Without ``config`` the environment's holds.
    ``until`` stops after so many events, ``in_flight`` keeps so many pieces of work outstanding on each
    stream, ``lenient`` skips wrong lines, ``snapshot`` names a file to write at the end. A program that
    does not fit is an answer: see ``oom``. Raises :class:`neuronx_mem.CommandError` for an input that
    cannot be read.
    """
    argument, stdin = _command.input_argument(source)
    answer = _command.run(
        [
            "replay",
            argument,
            "--json",
            *_command.option("--config", config),
            *_command.machine(device, lnc, memory),
            *_command.option("--until", until),
            *_command.option("--in-flight", in_flight or None),
            *_command.option("--lenient", lenient),
            *_command.option("--snapshot", snapshot),
        ],
        stdin,
    )
    analysis = Fragmentation._of(answer["analysis"])
    elapsed_s = answer["elapsed_ns"] / 1e9
    return Replay(**_figures(answer), input=answer["input"], analysis=analysis, elapsed_s=elapsed_s)


def compare(
    source: Input,
    configs: Sequence[str],
    device: str = "trn2",
    memory: int | str | None = None,
    *,
    lnc: int | None = None,
    until: int | None = None,
    in_flight: int = 0,
    lenient: bool = False,
) -> Comparison:
    """Runs one program under several configurations; ``""`` or ``"default"`` is that of the defaults.

    The defaults are always among the rows: first, unless they are named.

    The arguments are those of :func:`replay`. Raises ``ValueError`` without a configuration,
    :class:`neuronx_mem.CommandError` for an input that cannot be read.
    """
    if isinstance(configs, str) or not configs:
        raise ValueError("configs is a list of at least one configuration")
    argument, stdin = _command.input_argument(source)
    answer = _command.run(
        [
            "compare",
            argument,
            "--json",
            *(f"--config={config or 'default'}" for config in configs),
            *_command.machine(device, lnc, memory),
            *_command.option("--until", until),
            *_command.option("--in-flight", in_flight or None),
            *_command.option("--lenient", lenient),
        ],
        stdin,
    )
    rows = tuple(Row(**_figures(row), config=row["config"]) for row in answer["rows"])
    best = answer["best"]
    return Comparison(rows, best if best is not None and rows[best].fits else None)

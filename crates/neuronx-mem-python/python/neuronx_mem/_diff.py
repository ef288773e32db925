"""What two runs allocate differently: the answer of the command as a value. All sizes are bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from neuronx_mem import _command
from neuronx_mem._command import Input
from neuronx_mem._html import rows_table, size
from neuronx_mem._site import Stack, site_name, stack_of


@dataclass(frozen=True)
class DiffSide:
    """One of two runs."""

    input: str
    peak_bytes: int
    peak_event: int
    peak_phase: str
    allocations: int
    allocated_in_all_bytes: int


@dataclass(frozen=True)
class DiffRow:
    """Allocations of one size class and lifetime at a site."""

    size_from_bytes: int
    """Smallest size of the class; it reaches to the double."""
    lifetime: str
    peak_change_bytes: int
    change_bytes: int
    allocations: tuple[int, int]
    """How many in the first and in the second run."""


@dataclass(frozen=True)
class DiffGroup:
    """One site that differs."""

    stack: Stack
    phase: str | None
    """In place of a stack."""
    peak_change_bytes: int
    change_bytes: int
    rows: tuple[DiffRow, ...]


@dataclass(frozen=True)
class Diff:
    """What two runs allocate differently; the sites that make the difference of the peaks first."""

    a: DiffSide
    b: DiffSide
    peak_change_bytes: int
    is_same: bool
    groups: tuple[DiffGroup, ...]

    def _repr_html_(self) -> str:
        title = f"{self.a.input} → {self.b.input}: peak {size(self.peak_change_bytes)}"
        rows = (
            (site_name(group.stack, group.phase), size(group.peak_change_bytes), size(group.change_bytes))
            for group in self.groups[:20]
        )
        return rows_table(title, ("site", "at the peak", "in all"), rows)


def _side(answer: dict[str, Any]) -> DiffSide:
    return DiffSide(
        answer["input"],
        answer["peak"],
        answer["peak_event"],
        answer["peak_phase"],
        answer["allocations"],
        answer["allocated_in_all"],
    )


def diff(
    a: Input,
    b: Input,
    *,
    every: int | None = None,
    ignore_lines: bool = False,
    device: int | None = None,
    lenient: bool = False,
) -> Diff:
    """Says what two runs allocate differently, by call stack, size and lifetime, not by address.

    ``every`` is the number of events of a step; marks of the program otherwise. ``ignore_lines`` takes frames
    for the same wherever in their file they stand. Raises :class:`neuronx_mem.CommandError` for an input
    that cannot be read, ``ValueError`` when both are bytes.
    """
    (name_a, stdin_a), (name_b, stdin_b) = _command.input_argument(a), _command.input_argument(b)
    if stdin_a is not None and stdin_b is not None:
        raise ValueError("only one of two inputs can be bytes")
    options = [
        *_command.option("--every", every),
        *_command.option("--ignore-lines", ignore_lines),
        *_command.option("--device", device),
        *_command.option("--lenient", lenient),
    ]
    answer = _command.run(["diff", name_a, name_b, "--json", *options], stdin_b if stdin_a is None else stdin_a)
    groups = tuple(
        DiffGroup(
            stack_of(group["stack"]),
            group["phase"],
            group["peak_change"],
            group["bytes_change"],
            tuple(
                DiffRow(
                    row["size_from"],
                    row["lifetime"],
                    row["peak_change"],
                    row["bytes_change"],
                    (row["a"]["allocations"], row["b"]["allocations"]),
                )
                for row in group["rows"]
            ),
        )
        for group in answer["groups"]
    )
    return Diff(_side(answer["a"]), _side(answer["b"]), answer["peak_change"], answer["same"], groups)

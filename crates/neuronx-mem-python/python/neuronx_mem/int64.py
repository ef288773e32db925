"""64-bit tensors: where each operator runs in each mode, what crosses to the host, what can go wrong.

Follows the guidelines for memory management ("Understand 64-bit dtype memory behavior"). Works on names of
operators and on recorded programs; imports nothing of PyTorch.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

from neuronx_mem import _command, _native
from neuronx_mem._html import rows_table, size

__all__ = ["MODES", "Audit", "AuditRow", "ModeTotals", "Route", "RouteSummary", "audit", "reset_audit", "route"]

MODES = ("native", "packed", "native_strict", "cpu_bounce", "cpu_fallback")
"""The values of ``TORCH_NEURONX_INT64_MODE``, the default first."""


@dataclass(frozen=True)
class Route:
    """Where one operator on ``int64`` runs."""

    path: str
    """``device64``, ``device_packed``, ``device_int32`` or ``cpu``."""
    reason: str
    """Why there, in half a sentence."""
    risks: tuple[str, ...]
    """What can go wrong, the mildest first."""


def route(operator: str, mode: str | None = None) -> Route:
    """Where an operator such as ``aten.cumsum`` runs, in the mode of the environment unless named.

    Raises ``ValueError`` for a mode that does not exist.
    """
    path, reason, risks = _native.int64_route(operator, mode)
    return Route(path, reason, tuple(risks))


@dataclass(frozen=True)
class RouteSummary:
    """Where all calls of an operator run in one mode."""

    mode: str
    path: str
    reason: str
    to_host_bytes: int
    to_device_bytes: int
    risks: tuple[str, ...]


@dataclass(frozen=True)
class AuditRow:
    """One operator on one 64-bit type."""

    operator: str
    operator_class: str | None
    """``None`` for an operator that nobody knows."""
    dtype: str
    calls: int
    wide_bytes: int
    """Bytes of 64-bit tensors in all calls."""
    is_unsized: bool
    """No call told its shapes."""
    basis: str
    """How it is known where it runs."""
    routes: tuple[RouteSummary, ...]
    """One a mode, in the order of :data:`MODES`."""

    def route(self, mode: str) -> RouteSummary:
        """The route in a mode. Raises ``KeyError`` for one that does not exist."""
        for route_in_mode in self.routes:
            if route_in_mode.mode == mode:
                return route_in_mode
        raise KeyError(mode)


@dataclass(frozen=True)
class ModeTotals:
    """All operators together in one mode."""

    mode: str
    device64_calls: int
    packed_calls: int
    int32_calls: int
    cpu_calls: int
    to_host_bytes: int
    to_device_bytes: int
    silent_calls: int
    """Calls in which a value can change without an error."""


@dataclass(frozen=True)
class Audit:
    """How the 64-bit operators of a program run; the most expensive first."""

    input: str
    mode: str
    check_overflow: bool
    rows: tuple[AuditRow, ...]
    totals: tuple[ModeTotals, ...]
    calls: int
    wide_calls: int
    """Calls on 64-bit tensors."""

    def _repr_html_(self) -> str:
        header = ("operator", "dtype", "calls", *(f"{mode}" for mode in MODES), "bounced", "risks")
        rows = []
        for row in self.rows:
            here = row.route(self.mode)
            bounced = here.to_host_bytes + here.to_device_bytes
            paths = (row.route(mode).path for mode in MODES)
            rows.append((row.operator, row.dtype, row.calls, *paths, size(bounced), ", ".join(here.risks) or "–"))
        return rows_table(f"64-bit operators of {self.input}, mode {self.mode}", header, rows)


Operators = Union[str, "os.PathLike[str]", bytes, Sequence[str], Mapping[str, int]]
"""A trace with operators (path or bytes), names of operators, or names with their number of calls."""


def audit(operators: Operators | None = None, mode: str | None = None, check_overflow: bool = False) -> Audit:
    """How each operator on ``int64`` or ``float64`` would run in each of the five modes.

    Without ``operators``, those that this process has run on the simulated device since
    :func:`reset_audit`, with ``int64`` among their arguments or results. Otherwise it is the path or the bytes of a trace in JSON lines or of a list of operators, a list of names, or
    a dict of names with numbers of calls. ``mode`` is the one whose bytes and risks decide the order, that
    of ``TORCH_NEURONX_INT64_MODE`` unless set. Raises :class:`neuronx_mem.CommandError` for an input that
    cannot be read.
    """
    if operators is None:
        operators = _seen()
    if isinstance(operators, Mapping):
        argument, stdin = "-", "".join(f"{n_calls} {name}\n" for name, n_calls in operators.items()).encode()
    elif isinstance(operators, (str, bytes)) or hasattr(operators, "__fspath__"):
        source: Any = operators
        argument, given = _command.input_argument(source)
        stdin = given if given is not None else b""
    else:
        argument, stdin = "-", "".join(f"{name}\n" for name in operators).encode()
    options = [*_command.option("--mode", mode), *_command.option("--check-overflow", check_overflow)]
    answer = _command.run(["int64", "audit", argument, "--json", *options], stdin)
    return Audit(
        answer["input"],
        answer["policy"]["mode"],
        answer["policy"]["check_overflow"],
        tuple(_row(row) for row in answer["rows"]),
        tuple(_totals(totals) for totals in answer["totals"]),
        answer["calls"],
        answer["wide_calls"],
    )


def reset_audit() -> None:
    """Forgets the operators that the simulated device has run.

    Raises ``RuntimeError`` without ``import neuronx_mem.torch``.
    """
    _library().reset_observed()


def _seen() -> bytes:
    return str(_library().observed()).encode()


def _library() -> Any:
    library = sys.modules.get("neuronx_mem.torch._library")
    if library is None or not library.is_loaded():
        raise RuntimeError("no operator was seen: import neuronx_mem.torch before the program runs")
    return library


def _row(row: dict[str, Any]) -> AuditRow:
    routes = tuple(
        RouteSummary(
            one["mode"],
            one["path"],
            one["reason"],
            one["bounced"]["to_host_bytes"],
            one["bounced"]["to_device_bytes"],
            tuple(one["risks"]),
        )
        for one in row["routes"]
    )
    return AuditRow(
        row["operator"],
        row["class"],
        row["dtype"],
        row["calls"],
        row["wide_bytes"],
        row["is_unsized"],
        row["basis"],
        routes,
    )


def _totals(totals: dict[str, Any]) -> ModeTotals:
    return ModeTotals(
        totals["mode"],
        totals["device64_calls"],
        totals["packed_calls"],
        totals["int32_calls"],
        totals["cpu_calls"],
        totals["bounced"]["to_host_bytes"],
        totals["bounced"]["to_device_bytes"],
        totals["silent_calls"],
    )

"""Results as small HTML tables for notebooks. Knows dataclasses; every text in them is escaped."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size(n_bytes: float) -> str:
    """``1.50 GiB``; whole bytes below a KiB."""
    value, unit = abs(float(n_bytes)), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value /= 1024
        unit += 1
    sign = "-" if n_bytes < 0 else ""
    return f"{sign}{value:.0f} B" if unit == 0 else f"{sign}{value:.2f} {_UNITS[unit]}"


def table(title: str, record: DataclassInstance, skip: Sequence[str] = ()) -> str:
    """The plain fields of a dataclass, one a row; bytes with their unit."""
    rows = [
        (field.name.removesuffix("_bytes").replace("_", " "), _cell(field.name, getattr(record, field.name)))
        for field in dataclasses.fields(record)
        if field.name not in skip and not isinstance(getattr(record, field.name), (tuple, dict))
    ]
    return rows_table(title, (), rows)


def rows_table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of texts with a caption."""
    head = "".join(f"<th>{html.escape(str(cell))}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    top = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f"<table><caption>{html.escape(title)}</caption>{top}<tbody>{body}</tbody></table>"


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "–"
    if name.endswith("_bytes") and isinstance(value, (int, float)):
        return f"{size(value)} ({value:,})" if isinstance(value, int) else size(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)

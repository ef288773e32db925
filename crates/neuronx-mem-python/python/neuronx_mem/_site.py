"""Where an allocation comes from: a call stack, innermost frame first, or a phase of the program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Frame:
    """One frame of a call stack."""

    name: str
    filename: str
    line: int

    def __str__(self) -> str:
        return f"{self.name} ({self.filename}:{self.line})"


Stack = tuple[Frame, ...]


def stack_of(frames: list[dict[str, Any]]) -> Stack:
    """The stack in an answer of the command."""
    return tuple(Frame(frame["name"], frame["filename"], frame["line"]) for frame in frames)


def site_name(stack: Stack, phase: str | None) -> str:
    """What a table says of a site: its innermost frame, else its phase."""
    return str(stack[0]) if stack else phase or "–"

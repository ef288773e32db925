"""What grows step after step: the answer of the command as a value. All sizes are bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from neuronx_mem import _command
from neuronx_mem._command import Input
from neuronx_mem._html import rows_table, size
from neuronx_mem._site import Stack, site_name, stack_of


@dataclass(frozen=True)
class Leak:
    """A site whose memory grows step after step."""

    stack: Stack
    phase: str | None
    """In place of a stack, with stream and size class."""
    stream: int | None
    bytes_per_step: float
    chance: float
    """How often chance makes a rise as clear as this."""
    first_bytes: int
    last_bytes: int
    first_step: int
    steps: int
    kept: int
    """Blocks kept."""
    kept_bytes: int
    usual_bytes: int
    """Size of most of them."""


@dataclass(frozen=True)
class Leaks:
    """Sites that pile up memory."""

    input: str
    steps: int
    steps_by: str
    """What was taken for a step."""
    is_conclusive: bool
    """Whether there are enough steps to tell."""
    leaks: tuple[Leak, ...]
    total_bytes_per_step: float

    def _repr_html_(self) -> str:
        title = f"{self.input}: {self.steps} steps {self.steps_by}"
        if not self.is_conclusive:
            title += ", too few to tell"
        rows = (
            (site_name(leak.stack, leak.phase), f"{size(leak.bytes_per_step)} a step", leak.kept, size(leak.kept_bytes))
            for leak in self.leaks
        )
        return rows_table(title, ("site", "grows by", "blocks kept", "bytes kept"), rows)


def leaks(
    source: Input,
    *,
    every: int | None = None,
    warm_up: int | None = None,
    max_chance: float | None = None,
    device: int | None = None,
    lenient: bool = False,
) -> Leaks:
    """Finds call stacks that pile up memory step after step.

    ``warm_up`` steps at the beginning do not count (1 unless set). A rise counts only when chance makes one
    as clear less often than ``max_chance`` (0.01 unless set). Raises :class:`neuronx_mem.CommandError` for
    an input that cannot be read.
    """
    argument, stdin = _command.input_argument(source)
    options = [
        *_command.option("--every", every),
        *_command.option("--warm-up", warm_up),
        *_command.option("--max-chance", max_chance),
        *_command.option("--device", device),
        *_command.option("--lenient", lenient),
    ]
    answer = _command.run(["leaks", argument, "--json", *options], stdin)
    found = tuple(
        Leak(
            stack_of(leak["stack"]),
            leak["phase"],
            leak["stream"],
            leak["bytes_per_step"],
            leak["chance"],
            leak["first"],
            leak["last"],
            leak["first_step"],
            leak["steps"],
            leak["kept"],
            leak["kept_bytes"],
            leak["usual_size"],
        )
        for leak in answer["leaks"]
    )
    return Leaks(
        answer["input"],
        answer["steps"],
        answer["steps_by"],
        answer["conclusive"],
        found,
        answer["total"]["bytes_per_step"],
    )

"""Why memory is held, what two runs do differently, what grows: the answers of the command as values.

All sizes are bytes. A stack is a tuple of frames, innermost first; without stacks a site is a phase of the
program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from neuronx_mem import _command
from neuronx_mem._command import Input
from neuronx_mem._html import rows_table, size, table


@dataclass(frozen=True)
class Frame:
    """One frame of a call stack."""

    name: str
    filename: str
    line: int

    def __str__(self) -> str:
        return f"{self.name} ({self.filename}:{self.line})"


Stack = tuple[Frame, ...]


def _stack(frames: list[dict[str, Any]]) -> Stack:
    return tuple(Frame(frame["name"], frame["filename"], frame["line"]) for frame in frames)


def _site(stack: Stack, phase: str | None) -> str:
    return str(stack[0]) if stack else phase or "–"


@dataclass(frozen=True)
class HeldBlock:
    """A live or pending block."""

    address: int
    bytes: int
    requested_bytes: int
    state: str
    age_events: int | None
    """Events since it was allocated; ``None`` when it is older than the history."""
    age_us: int | None
    stream: int
    phase: str
    stack: Stack


@dataclass(frozen=True)
class HeldSegment:
    """A segment, and the blocks that hold it."""

    address: int
    bytes: int
    pool: str
    stream: int | None
    live_bytes: int
    free_bytes: int
    blocks: tuple[HeldBlock, ...]


@dataclass(frozen=True)
class Request:
    """Whether a request could be served, and by what."""

    need_bytes: int
    block_bytes: int
    segment_bytes: int
    pool: str
    stream: int
    largest_free_bytes: int
    now: bool
    after_waiting: bool
    after_empty_cache: bool
    after_waiting_and_empty_cache: bool
    empty_cache_bytes: int
    configs: tuple[tuple[str, bool, int], ...]
    """Other settings tried: configuration, whether it serves, reserved bytes."""
    release: tuple[HeldBlock, ...] | None
    """The smallest set of blocks to give up; ``None`` when nothing would help."""
    release_bytes: int | None
    release_bound: int | None
    """No set is smaller than this."""


@dataclass(frozen=True)
class Explanation:
    """What holds memory at one moment of a run."""

    input: str
    event: int
    """Events up to the moment."""
    events: int
    is_out_of_memory: bool
    device_total_bytes: int | None
    """``None`` when nobody said how large the device is."""
    reserved_bytes: int
    allocated_bytes: int
    pending_bytes: int
    cached_free_bytes: int
    releasable_bytes: int
    """What ``empty_cache`` would give back."""
    segments: tuple[HeldSegment, ...]
    request: Request | None
    """The answer for ``need``."""

    def _repr_html_(self) -> str:
        header = ("segment", "size", "pool", "live", "free", "held by")
        rows = (
            (
                f"{segment.address:#x}",
                size(segment.bytes),
                segment.pool,
                size(segment.live_bytes),
                size(segment.free_bytes),
                ", ".join(dict.fromkeys(_site(block.stack, block.phase) for block in segment.blocks)) or "–",
            )
            for segment in self.segments[:20]
        )
        shown = table(f"{self.input} at event {self.event}", self, skip=("input", "event"))
        request = table("Request", self.request) if self.request else ""
        return shown + request + rows_table("Segments", header, rows)


def _block(answer: dict[str, Any]) -> HeldBlock:
    return HeldBlock(
        answer["address"],
        answer["size"],
        answer["requested"],
        answer["state"],
        answer["age_events"],
        answer["age_us"],
        answer["stream"],
        answer["phase"],
        _stack(answer["stack"]),
    )


def _request(answer: dict[str, Any]) -> Request | None:
    ask = answer["request"]
    if ask is None:
        return None
    release = answer["release"]
    return Request(
        answer["need"],
        ask["block"],
        ask["segment"],
        ask["pool"],
        ask["stream"],
        ask["largest_free"],
        ask["now"],
        ask["after_waiting"],
        ask["after_empty_cache"],
        ask["after_waiting_and_empty_cache"],
        ask["empty_cache_bytes"],
        tuple((trial["config"], trial["serves"], trial["reserved"]) for trial in ask["configs"]),
        None if release is None else tuple(_block(block) for block in release),
        answer["release_bytes"],
        answer["release_bound"],
    )


def explain(
    source: Input,
    need: int | str | None = None,
    *,
    at: str | int | None = None,
    config: str | None = None,
    device: str | int | None = None,
    lnc: int | None = None,
    memory: int | str | None = None,
    in_flight: int = 0,
    lenient: bool = False,
) -> Explanation:
    """Says which blocks hold memory, and what would serve a request of ``need``.

    ``source`` is a trace or a snapshot, a path or its bytes. ``at`` is the moment: ``"oom"``, ``"peak"``,
    ``"end"`` or a number of events; out of memory where there is one, unless set. ``device`` is the chip
    that a trace is replayed on, or the number of a snapshot's device.
    Raises :class:`neuronx_mem.CommandError` for an input that cannot be read.
    """
    argument, stdin = _command.input_argument(source)
    options = [
        *_command.option("--need", need),
        *_command.option("--at", at),
        *_command.option("--config", config),
        *_command.option("--device", device),
        *_command.option("--lnc", lnc),
        *_command.option("--memory", memory),
        *_command.option("--in-flight", in_flight or None),
        *_command.option("--lenient", lenient),
    ]
    answer = _command.run(["explain", argument, "--json", *options], stdin)
    segments = tuple(
        HeldSegment(
            segment["address"],
            segment["size"],
            segment["pool"],
            segment["stream"],
            segment["live_bytes"],
            segment["free_bytes"],
            tuple(_block(block) for block in segment["blocks"]),
        )
        for segment in answer["segments"]
    )
    return Explanation(
        answer["input"],
        answer["event"],
        answer["events"],
        answer["oom"],
        answer["device_total"],
        answer["reserved"],
        answer["allocated"],
        answer["pending"],
        answer["cached_free"],
        answer["releasable"],
        segments,
        _request(answer),
    )


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
            (_site(group.stack, group.phase), size(group.peak_change_bytes), size(group.change_bytes))
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
            _stack(group["stack"]),
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
            (_site(leak.stack, leak.phase), f"{size(leak.bytes_per_step)} a step", leak.kept, size(leak.kept_bytes))
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
            _stack(leak["stack"]),
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

"""Why memory is held, and what would serve a request: the answer of the command as a value.

All sizes are bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from neuronx_mem import _command
from neuronx_mem._command import Input
from neuronx_mem._html import rows_table, size, table
from neuronx_mem._site import Stack, site_name, stack_of


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
                ", ".join(dict.fromkeys(site_name(block.stack, block.phase) for block in segment.blocks)) or "–",
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
        stack_of(answer["stack"]),
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

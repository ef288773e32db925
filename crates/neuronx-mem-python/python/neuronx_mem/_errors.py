"""What can go wrong, as exceptions.

Knows no causes: the native half and the commands raise these.
"""

from __future__ import annotations

from collections.abc import Sequence


class OutOfMemoryError(MemoryError, RuntimeError):
    """A device has no memory for a request, also after recovery.

    All sizes are bytes, as things stood after the last try. ``str()`` is one line; :attr:`report` says in
    many what was tried, what is in the way and what would help.
    """

    device: int
    """Ordinal of the device."""
    requested_bytes: int
    """Asked for."""
    rounded_bytes: int
    """Block size by the rounding rule."""
    segment_bytes: int
    """Segment that the runtime was asked for."""
    total_bytes: int
    """Device memory, or the cap in force."""
    reserved_bytes: int
    """Held from the runtime."""
    allocated_bytes: int
    """Block sizes of live tensors."""
    active_bytes: int
    """What live tensors asked for."""
    cached_free_bytes: int
    """Free inside held segments."""
    largest_free_bytes: int
    """Largest free block of the request's pool."""
    used_by_others_bytes: int
    """In use on the device by others."""
    pending: tuple[tuple[int, int], ...]
    """Bytes whose deallocation waits, by stream."""
    steps: tuple[tuple[str, int], ...]
    """Recovery steps taken, and the bytes each gained."""
    report: str
    """The report."""

    def __init__(
        self,
        message: str,
        *,
        device: int = 0,
        requested_bytes: int = 0,
        rounded_bytes: int = 0,
        segment_bytes: int = 0,
        total_bytes: int = 0,
        reserved_bytes: int = 0,
        allocated_bytes: int = 0,
        active_bytes: int = 0,
        cached_free_bytes: int = 0,
        largest_free_bytes: int = 0,
        used_by_others_bytes: int = 0,
        pending: Sequence[tuple[int, int]] = (),
        steps: Sequence[tuple[str, int]] = (),
        report: str = "",
    ) -> None:
        super().__init__(message)
        self.device = device
        self.requested_bytes = requested_bytes
        self.rounded_bytes = rounded_bytes
        self.segment_bytes = segment_bytes
        self.total_bytes = total_bytes
        self.reserved_bytes = reserved_bytes
        self.allocated_bytes = allocated_bytes
        self.active_bytes = active_bytes
        self.cached_free_bytes = cached_free_bytes
        self.largest_free_bytes = largest_free_bytes
        self.used_by_others_bytes = used_by_others_bytes
        self.pending = tuple(pending)
        self.steps = tuple(steps)
        self.report = report


class CommandError(RuntimeError):
    """The ``neuronx-mem`` command refused its input or could not be run.

    The text is the command's own line, which names the file, the place and the reason.
    """

    exit_code: int
    """Exit code of the command; 127 when there is no such command."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code

"""How operators run, and which attention is modelled."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

from neuronx_mem.torch import _library

MODES = ("compute", "plan")
SDPA = ("math", "flash")


def from_environment(name: str, choices: tuple[str, ...]) -> int:
    """The number of what a variable says; 0 where it is not set. ``ValueError`` for anything else."""
    return _number(os.environ.get(name) or choices[0], choices, name)


def _number(value: str, choices: tuple[str, ...], what: str) -> int:
    if value not in choices:
        raise ValueError(f"{what} is {value!r}, not {' or '.join(map(repr, choices))}")
    return choices.index(value)


def get_mode() -> str:
    """``"compute"`` or ``"plan"``."""
    return MODES[_library.get().nxm_shim_mode()]


def set_mode(mode: str) -> None:
    """Runs operators from now on in this mode, in all threads.

    Tensors that plan mode made have no values: in compute mode they read as whatever their memory holds.
    """
    _library.get().nxm_shim_set_mode(_number(mode, MODES, "mode"))


@contextmanager
def mode(name: str) -> Iterator[None]:
    """Runs operators in this mode for as long as it lasts, in all threads."""
    before = get_mode()
    set_mode(name)
    try:
        yield
    finally:
        set_mode(before)


def get_sdpa() -> str:
    """``"math"`` or ``"flash"``."""
    return SDPA[_library.get().nxm_shim_attention()]


def set_sdpa(choice: str) -> None:
    """Says which ``scaled_dot_product_attention`` is modelled.

    ``"math"`` keeps the scores, sequence times sequence for each head, for the backward pass; ``"flash"``
    keeps a row of sums instead. Peak memory depends on it more than on anything else.
    """
    _library.get().nxm_shim_set_attention(_number(choice, SDPA, "sdpa"))


def counters() -> dict[str, int]:
    """What the backend has done: ``operators`` that went through the fallback; in plan mode ``plan_hits``,
    whose shapes were known, ``plan_misses``, whose shapes had to be found, and ``plan_on_cpu``, which only
    the CPU could run; and the ``plans`` that are remembered."""
    values = (ctypes.c_int64 * 5)()
    _library.get().nxm_shim_counters(values)
    return dict(zip(("operators", "plan_hits", "plan_misses", "plan_on_cpu", "plans"), values))


def clear_plans() -> None:
    """Forgets the shapes that plan mode has found."""
    _library.get().nxm_shim_clear_plans()

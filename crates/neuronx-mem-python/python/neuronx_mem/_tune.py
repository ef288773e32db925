"""The search for allocator settings, here or spread over workers.

The command decides what to try and what follows from it. Spread out, each round comes as jobs that are
pure functions of their text: workers need this package and the inputs under the same paths.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from neuronx_mem import _command
from neuronx_mem._command import Input
from neuronx_mem._errors import CommandError
from neuronx_mem._html import rows_table, size
from neuronx_mem._replay import CONFIG_VARIABLE


class FutureLike(Protocol):
    """What an executor returns."""

    def result(self) -> Any:
        """Waits for the result."""


class ExecutorLike(Protocol):
    """A ``concurrent.futures.Executor``, a dask client, or anything that submits."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any:
        """Runs ``fn(*args)`` somewhere, and returns a :class:`FutureLike`."""


@dataclass(frozen=True)
class TunedInput:
    """What the settings found do for one input. Peaks are reserved bytes."""

    input: str
    live_peak_bytes: int
    """Live tensors at their most: no setting gets below it."""
    default_peak_bytes: int
    default_num_ooms: int
    tuned_peak_bytes: int
    tuned_num_ooms: int
    robust_peak_bytes: int
    robust_num_ooms: int


@dataclass(frozen=True)
class HeldOut:
    """Settings found on the rest, tried on a part that was held out."""

    input: str
    steps: tuple[int, int] | None
    """First step and the one behind the last; ``None`` for the whole input."""
    config: str
    change_percent: float | None
    """Peak of reserved bytes against the defaults; negative is better, ``None`` out of memory."""


@dataclass(frozen=True)
class Tuning:
    """Settings found, and what they are worth."""

    config: str
    """Best on exactly these inputs; empty for the defaults."""
    robust_config: str
    """Also good on larger and smaller runs: the one to use."""
    explanation: str
    """What the robust settings do, in words."""
    inputs: tuple[TunedInput, ...]
    cross_validation: tuple[HeldOut, ...]
    evaluated: int
    """How many settings were tried."""
    is_complete: bool
    """Whether the search ended by itself, and so gives the same again."""
    seed: int
    max_segment_bytes: int

    @property
    def export_line(self) -> str:
        """The line for a shell; empty when the defaults are best."""
        return f"export {CONFIG_VARIABLE}={self.robust_config}" if self.robust_config else ""

    def _repr_html_(self) -> str:
        header = ("input", "peak live", "default", "best", "robust")
        rows = (
            (
                one.input,
                size(one.live_peak_bytes),
                _peak(one.default_peak_bytes, one.default_num_ooms),
                _peak(one.tuned_peak_bytes, one.tuned_num_ooms),
                _peak(one.robust_peak_bytes, one.robust_num_ooms),
            )
            for one in self.inputs
        )
        title = self.export_line or f"leave {CONFIG_VARIABLE} unset"
        return rows_table(f"{title} – {self.explanation}", header, rows)


def _peak(n_bytes: int, n_ooms: int) -> str:
    return "out of memory" if n_ooms else size(n_bytes)


def _tuning(answer: dict[str, Any]) -> Tuning:
    inputs = tuple(
        TunedInput(
            one["input"],
            one["live_peak"],
            one["default_reserved_peak"],
            one["default_num_ooms"],
            one["tuned_reserved_peak"],
            one["num_ooms"],
            one["robust_reserved_peak"],
            one["robust_num_ooms"],
        )
        for one in answer["inputs"]
    )
    held_out = tuple(
        HeldOut(
            part["input"],
            None if part["steps"] is None else (part["steps"][0], part["steps"][1]),
            part["env"],
            part["change_percent"],
        )
        for part in answer["cross_validation"] or ()
    )
    return Tuning(
        answer["env"],
        answer["robust_env"],
        answer["explanation"],
        inputs,
        held_out,
        answer["evaluated"],
        answer["complete"],
        answer["seed"],
        answer["max_segment"],
    )


def run_job(job: dict[str, Any]) -> dict[str, Any]:
    """Runs one job of a search on this machine; what :func:`tune` gives to its executor.

    Raises :class:`neuronx_mem.CommandError`, also when the input here is not the one of the job.
    """
    done = subprocess.run(
        [_command.command(), "tune", "--job"], input=json.dumps(job).encode(), capture_output=True, check=False
    )
    if done.returncode != 0:
        raise CommandError(_command.complaint(done.stderr), done.returncode)
    return _command.read(done.stdout)


def tune(
    inputs: Input | Sequence[Input],
    executor: ExecutorLike | None = None,
    *,
    device: str = "trn2",
    lnc: int | None = None,
    memory: int | str | None = None,
    max_segment: int | str | None = None,
    budget_s: int = 60,
    jobs: int | None = None,
    seed: int = 0,
    validate: bool = True,
    lenient: bool = False,
) -> Tuning:
    """Searches the allocator keys for recorded programs.

    Without an executor the search runs on ``jobs`` threads of this machine (one a core unless set), beside
    Python's own. With one, rounds of jobs are submitted to it: a thread or process pool, or a cluster whose
    workers have this package and the inputs. Both give the same answer when the search ends by itself
    within ``budget_s`` seconds. ``validate`` tries what was found on parts that were held out.

    Raises ``ValueError`` without an input or for bytes with an executor,
    :class:`neuronx_mem.CommandError` for an input that cannot be read.
    """
    sources = [inputs] if isinstance(inputs, (str, bytes)) or hasattr(inputs, "__fspath__") else list(inputs)
    if not sources:
        raise ValueError("inputs is empty")
    named = [_command.input_argument(source) for source in sources]
    stdins = [stdin for _, stdin in named if stdin is not None]
    if len(stdins) > 1 or (stdins and executor is not None):
        raise ValueError("only one input can be bytes, and none with an executor")
    options = [
        *_command.machine(device, lnc, memory),
        *_command.option("--max-segment", max_segment),
        *_command.option("--budget-s", budget_s),
        *_command.option("--jobs", jobs),
        *_command.option("--seed", seed),
        *_command.option("--no-validation", not validate),
        *_command.option("--lenient", lenient),
    ]
    names = [name for name, _ in named]
    if executor is None:
        return _tuning(_command.run(["tune", "--json", *options, *names], stdins[0] if stdins else None))
    return _tuning(_driven([_command.command(), "tune", "--drive", *options, *names], executor))


def _driven(call: list[str], executor: ExecutorLike) -> dict[str, Any]:
    """Gives each round to the executor, in the order of the jobs, until the answer comes."""
    with subprocess.Popen(
        call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as driver:
        assert driver.stdin is not None and driver.stdout is not None and driver.stderr is not None
        try:
            for line in driver.stdout:
                answer = _command.read(line)
                if "jobs" not in answer:
                    return answer
                futures = [executor.submit(run_job, job) for job in answer["jobs"]]
                results = [future.result() for future in futures]
                driver.stdin.write(json.dumps({"results": results}) + "\n")
                driver.stdin.flush()
            complaint = driver.stderr.read()
        except BaseException:
            driver.kill()
            raise
    raise CommandError(_command.complaint(complaint), driver.returncode)

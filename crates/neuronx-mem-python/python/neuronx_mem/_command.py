"""The ``neuronx-mem`` command that comes with the package: where it is, and how its answers come back.

Knows exit codes and JSON; what the answers mean is for the callers. Other Python threads run meanwhile.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Union

from neuronx_mem._errors import CommandError

Input = Union[str, "os.PathLike[str]", bytes]
"""A trace or a snapshot: a path, or its bytes."""

NAME = "neuronx-mem"

VARIABLE = "NEURONX_MEM"
"""Path of another command to use, for development."""

SCHEMA = 1
"""The version of the keys that this package reads."""


def _candidates() -> Iterator[Path]:
    """Where the wheel's scripts may be, the most certain first."""
    # Here and not above: these take longer to import than all of the package.
    import importlib.metadata
    import shutil
    import sysconfig

    try:
        files = importlib.metadata.files(NAME) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    yield from (Path(str(file.locate())) for file in files if file.name == NAME)
    for scheme in (None, f"{os.name}_user"):
        scripts = sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        yield Path(scripts, NAME)
    yield Path(sys.executable).with_name(NAME)
    found = shutil.which(NAME)
    if found:
        yield Path(found)


@functools.lru_cache(maxsize=1)
def _found() -> str | None:
    return next((str(path.resolve()) for path in _candidates() if os.access(path, os.X_OK)), None)


def command() -> str:
    """The path of the command.

    Raises :class:`CommandError` when there is none: the package was installed without its programs.
    """
    path = os.environ.get(VARIABLE) or _found()
    if path is None:
        raise CommandError(f"the command {NAME} is not installed with this package", 127)
    return path


def run(arguments: Sequence[str], stdin: bytes | None = None, path: str | None = None) -> dict[str, Any]:
    """Runs a verb that prints one JSON object, and returns that.

    An answer "no" (exit code 1) is an answer. Raises :class:`CommandError` for anything else.
    """
    program = path or command()
    try:
        done = subprocess.run(
            [program, *arguments],
            input=stdin if stdin is not None else b"",
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise CommandError(f"{program}: {error.strerror or error}", 127) from error
    if done.returncode not in (0, 1) or not done.stdout:
        raise CommandError(complaint(done.stderr), done.returncode)
    return read(done.stdout)


def read(text: bytes | str) -> dict[str, Any]:
    """One JSON object of the command.

    Raises :class:`CommandError` for keys of another version.
    """
    answer: dict[str, Any] = json.loads(text)
    if answer.get("schema", SCHEMA) != SCHEMA:
        raise CommandError(f"the command speaks schema {answer['schema']}, this package {SCHEMA}", 2)
    return answer


def complaint(stderr: bytes | str) -> str:
    """The line that says what is wrong, without the command's name before it."""
    text = stderr.decode(errors="replace") if isinstance(stderr, bytes) else stderr
    lines = [line for line in text.splitlines() if line.strip()]
    line = lines[-1] if lines else "the command said nothing"
    return line.removeprefix(f"{NAME}: ").removeprefix("error: ")


def input_argument(source: Input) -> tuple[str, bytes | None]:
    """The argument for an input, and what goes to standard input."""
    if isinstance(source, (bytes, bytearray)):
        return "-", bytes(source)
    # A path that begins with a dash is no option.
    path = os.fspath(source)
    return (f"./{path}" if path.startswith("-") else path), None


def option(name: str, value: object) -> list[str]:
    """``--name value``; nothing for ``None`` and ``False``."""
    if value is None or value is False:
        return []
    return [name] if value is True else [f"{name}={value}"]


def machine(device: str | None, lnc: int | None, memory: int | str | None) -> list[str]:
    """The options of the simulated device."""
    return [*option("--device", device), *option("--lnc", lnc), *option("--memory", memory)]

"""``python -m neuronx_mem``: the verbs of the ``neuronx-mem`` command, and ``run``.

Knows two things: every verb but ``run`` is the command's, and ``run`` is in ``neuronx_mem._run``, which is
imported only for it because it needs PyTorch.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from neuronx_mem import _command
from neuronx_mem._errors import CommandError

USAGE = """\
Usage: python -m neuronx_mem run [OPTIONS] SCRIPT [ARGUMENTS]...
       python -m neuronx_mem VERB [ARGUMENTS]...

run starts a PyTorch program with device="neuron" simulated, and shows what its memory came to: see
`run --help`. It needs PyTorch: pip install neuronx-mem[torch]. All other verbs are those of the command
neuronx-mem:

"""


def main(arguments: Sequence[str]) -> int:
    """Runs a verb; returns its exit code."""
    if not arguments:
        sys.stderr.write(USAGE)
        return _forward([])
    if len(arguments) == 1 and arguments[0] in ("-h", "--help", "help"):
        sys.stdout.write(USAGE)
        return _forward(["--help"])
    if arguments[0] == "run":
        return _run(arguments[1:])
    return _forward(arguments)


def _run(arguments: Sequence[str]) -> int:
    try:
        from neuronx_mem import _run as runner
    except ModuleNotFoundError as error:
        if error.name not in ("neuronx_mem._run", "torch") and error.name is not None:
            raise
        sys.stderr.write("neuronx_mem: run needs PyTorch: pip install neuronx-mem[torch]\n")
        return 2
    code: int = runner.main(list(arguments))
    return code


def _forward(arguments: Sequence[str]) -> int:
    """Becomes the command where it can, so that signals and exit codes are its own."""
    try:
        program = _command.command()
    except CommandError as error:
        sys.stderr.write(f"neuronx_mem: {error}\n")
        return error.exit_code
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execv(program, [_command.NAME, *arguments])
    except OSError as error:
        sys.stderr.write(f"neuronx_mem: {program}: {error.strerror}\n")
        return 127


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""``python -m neuronx_mem run``: runs a program on the simulated device and says what memory it took.

Knows the command's options, how Python starts a script, and what to print at the end; refuses to
know PyTorch beyond importing ``neuronx_mem.torch``. What it prints goes to stderr: stdout is the
program's own.
"""

from __future__ import annotations

import argparse
import os
import runpy
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

USAGE = "python -m neuronx_mem run [options] (SCRIPT | -m MODULE) [arguments]"

EPILOG = """\
example:
  python -m neuronx_mem run --plan --memory 24GiB --snapshot step.pickle train.py --steps 2

What the program gets wrong is its own: its exit code is kept. A program that runs out of device
memory ends with exit code 1 and a report of what held the memory.
"""

#: Option and the variable that carries it, to processes that the program starts as well.
VARIABLES = {
    "device": "NEURONX_MEM_DEVICE",
    "lnc": "NEURONX_MEM_LNC",
    "devices": "NEURONX_MEM_DEVICES",
    "memory": "NEURONX_MEM_MEMORY",
    "sdpa": "NEURONX_MEM_SDPA",
    "config": "TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG",
}


def parser() -> argparse.ArgumentParser:
    """The options before the script; everything behind it is the script's."""
    parser = argparse.ArgumentParser(
        prog="python -m neuronx_mem run",
        usage=USAGE,
        description='Runs a PyTorch program with device="neuron" simulated on this machine.',
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    option = parser.add_argument
    option("--plan", action="store_true", help="compute nothing: shapes and memory only, no bytes of tensors")
    option("--device", metavar="CHIP", help="trn1, inf2, trn2 or trn3 [default: trn2]")
    option("--lnc", metavar="N", help="physical cores in a logical one, 1 or 2 [default: the chip's]")
    option("--devices", metavar="N", help="logical cores that the process sees [default: 1]")
    option("--memory", metavar="SIZE", help="memory of each, such as 24GiB [default: the chip's]")
    option("--sdpa", metavar="KIND", help="attention that is modelled: math or flash [default: math]")
    option("--config", metavar="K=V,...", help="keys of the segment allocator [default: the environment's]")
    option("--snapshot", metavar="OUT", help="write the memory snapshot at the end, or when memory runs out")
    option("--html", metavar="OUT", help="write the offline viewer's page of that snapshot")
    option("--entries", metavar="N", type=int, default=1_000_000, help="events kept [default: 1000000]")
    option("-m", dest="module", action="store_true", help="run a module, as `python -m`")
    option("program", metavar="SCRIPT", help="the script or module")
    option("arguments", nargs=argparse.REMAINDER, metavar="...", help="its arguments")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Runs ``run`` with these arguments; returns the exit code."""
    options = parser().parse_args(arguments)
    for name, variable in VARIABLES.items():
        value = getattr(options, name)
        if value is not None:
            os.environ[variable] = value
    if options.plan:
        os.environ["NEURONX_MEM_MODE"] = "plan"
    # For processes that the program starts: they import torch, not this module.
    os.environ["NEURONX_MEM_SIMULATE"] = "1"
    if not options.module and not Path(options.program).exists():
        print(f"neuronx_mem run: error: {options.program}: no such file", file=sys.stderr)
        return 2
    try:
        import neuronx_mem.torch  # noqa: F401
    except ImportError as error:
        print(f"neuronx_mem run: error: {error}", file=sys.stderr)
        return 2
    except (ValueError, RuntimeError) as error:
        print(f"neuronx_mem run: error: {error}", file=sys.stderr)
        return 2
    return _Run(options).run()


class _Run:
    """One run of a program, from its first line to what is said at the end."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        # While it is alive, so is what the program held when memory ran out.
        self.oom: BaseException | None = None

    def run(self) -> int:
        from neuronx_mem import memory

        memory._record_memory_history(max_entries=self.options.entries, stacks="python")
        code, globals_alive = self._program()
        try:
            self._finish()
        finally:
            # Until here, so that what the program still holds is in the snapshot.
            del globals_alive
            self.oom = None
        return code

    def _program(self) -> tuple[int, object]:
        """Runs the program as Python would; its exit code, and what keeps its variables alive."""
        options = self.options
        sys.argv = [options.program, *options.arguments]
        try:
            if options.module:
                sys.path.insert(0, os.getcwd())
                return 0, runpy.run_module(options.program, run_name="__main__", alter_sys=True)
            sys.path.insert(0, str(Path(options.program).resolve().parent))
            return 0, runpy.run_path(options.program, run_name="__main__")
        except SystemExit as error:
            return _exit_code(error), error
        except BaseException as error:
            _print_traceback(error)
            if _is_out_of_memory(error):
                self.oom = error
            return (130 if isinstance(error, KeyboardInterrupt) else 1), error

    def _finish(self) -> None:
        import neuronx_mem
        from neuronx_mem import memory

        used = [device for device in range(neuronx_mem.device_count()) if _is_used(device)]
        for device in used:
            say(memory.memory_summary(device))
            say(memory.segment_pool_analysis_summary(device))
        if not used:
            say("neuronx_mem: the program allocated no device memory")
        self._write(used)

    def _write(self, used: Sequence[int]) -> None:
        from neuronx_mem import memory

        options = self.options
        if not used or not (self.oom or options.snapshot or options.html):
            return
        with tempfile.TemporaryDirectory() as folder:
            snapshot = options.snapshot or str(Path(folder) / "snapshot.pickle")
            memory._dump_snapshot(snapshot)
            if options.snapshot:
                say(f"neuronx_mem: wrote {snapshot}")
            if self.oom is not None:
                self._explain(snapshot)
            if options.html:
                _command(["view", snapshot, "--output", options.html])
                say(f"neuronx_mem: wrote {options.html}")

    def _explain(self, snapshot: str) -> None:
        """What held the memory when it ran out, by stack, and what would help."""
        from neuronx_mem import memory

        say("neuronx_mem: out of memory; what held it:")
        for device, trace in enumerate(memory._snapshot()["device_traces"]):
            if any(entry["action"] == "oom" for entry in trace):
                total = str(memory.mem_get_info(device)[1])
                _command(["explain", snapshot, "--device", str(device), "--memory", total])


def say(text: str) -> None:
    """Prints to stderr, in order with what the program printed."""
    sys.stdout.flush()
    print(text, file=sys.stderr, flush=True)


def _command(arguments: Sequence[str]) -> None:
    from neuronx_mem._command import command

    done = subprocess.run([command(), *arguments], capture_output=True, text=True, check=False)
    for text in (done.stdout, done.stderr):
        if text.strip():
            say(text.rstrip())


def _is_used(device: int) -> bool:
    from neuronx_mem import memory

    return bool(memory.memory_stats(device).get("allocation_requests", 0))


def _is_out_of_memory(error: BaseException) -> bool:
    return type(error).__name__ == "OutOfMemoryError"


def _exit_code(error: SystemExit) -> int:
    """As the interpreter has it: a text is printed and means 1."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code
    print(error.code, file=sys.stderr)
    return 1


def _print_traceback(error: BaseException) -> None:
    """Prints what Python would, without the frames of this module and of runpy."""
    sys.stdout.flush()
    traceback.print_exception(type(error), error, _of_program(error.__traceback__))


def _of_program(trace: TracebackType | None) -> TracebackType | None:
    own: Any = {__file__, runpy.__file__, "<frozen runpy>"}
    while trace is not None and trace.tb_frame.f_code.co_filename in own:
        trace = trace.tb_next
    return trace

"""What the tests of the package share: programs in processes of their own, since a world is made once."""

import os
import pathlib
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[3]
TRACES = ROOT / "tests/data/traces"


def variables(**changed):
    """The environment without what would change a world, and with these variables."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("NEURON", "TORCH_NEURONX"))}
    return kept | changed


def run(code, *arguments, timeout=300, **changed):
    """Runs a program; returns what is left of it."""
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-W", "error", "-c", textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
        env=variables(**changed),
    )


def output(code, *arguments, **changed):
    """Runs a program that must end well and complain of nothing; returns its output."""
    done = run(code, *arguments, **changed)
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert not done.stderr, done.stderr
    return done.stdout

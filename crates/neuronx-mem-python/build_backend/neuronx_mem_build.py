"""Builds the wheel: maturin's, and the programs `neuronx-mem` and `neuron-numa-launch` in it.

A PEP 517 backend. Knows where it lies, so that `pip install .` works from this folder and from the root of
the repository. A source distribution cannot be made: the package is built from a workspace, and a checkout
has all of it.
"""

import base64
import csv
import hashlib
import io
import json
import os
import shlex
import subprocess
import zipfile
from pathlib import Path

import maturin

CRATE = Path(__file__).resolve().parent.parent

PROGRAMS = {"neuronx-mem": "neuronx-mem-cli", "neuron-numa-launch": "neuronx-mem-numa"}
"""Programs in the wheel, each with the package of the workspace that has it."""


class UnsupportedOperation(Exception):
    """What this backend does not do."""


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_editable = get_requires_for_build_wheel
get_requires_for_build_sdist = get_requires_for_build_wheel


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    os.chdir(CRATE)
    return maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _build(maturin.build_wheel, wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _build(maturin.build_editable, wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation(
        "neuronx-mem is built from a checkout of its repository: pip install ./crates/neuronx-mem-python"
    )


def _build(build, wheel_directory, config_settings, metadata_directory):
    wheel_directory = Path(wheel_directory).resolve()
    os.chdir(CRATE)
    programs = _programs(_profile(config_settings))
    name = build(str(wheel_directory), config_settings, metadata_directory)
    _add(wheel_directory / name, programs)
    return name


def _profile(config_settings):
    """The profile that maturin is told to use: `--config-settings=build-args="--profile dev"`."""
    arguments = (config_settings or {}).get("build-args", "")
    words = shlex.split(arguments) if isinstance(arguments, str) else list(arguments)
    for place, word in enumerate(words):
        if word.startswith("--profile="):
            return word.split("=", 1)[1]
        if word == "--profile" and place + 1 < len(words):
            return words[place + 1]
    return "release"


def _programs(profile):
    """Builds the programs; their paths."""
    call = ["cargo", "build", "--message-format=json-render-diagnostics", "--profile", profile]
    for name, package in PROGRAMS.items():
        call += ["--package", package, "--bin", name]
    done = subprocess.run(call, cwd=CRATE, stdout=subprocess.PIPE, check=True)
    messages = map(json.loads, done.stdout.splitlines())
    built = {
        message["target"]["name"]: Path(message["executable"])
        for message in messages
        if message["reason"] == "compiler-artifact" and message.get("executable")
    }
    return [built[name] for name in PROGRAMS]


def _add(wheel, programs):
    """Puts scripts into a wheel, by a new file that takes its place."""
    renewed = wheel.with_suffix(".renewed")
    distribution = "-".join(wheel.name.split("-")[:2])
    record = f"{distribution}.dist-info/RECORD"
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(renewed, "w", zipfile.ZIP_DEFLATED) as new:
        rows = list(csv.reader(io.StringIO(old.read(record).decode())))
        for item in old.infolist():
            if item.filename != record:
                new.writestr(item, old.read(item))
        for program in programs:
            place = f"{distribution}.data/scripts/{program.name}"
            data = program.read_bytes()
            new.writestr(_entry(place, 0o755), data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.insert(-1, [place, f"sha256={digest}", str(len(data))])
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        new.writestr(_entry(record, 0o644), text.getvalue())
    os.replace(renewed, wheel)


def _entry(name, mode):
    """An entry of a wheel, the same in every build."""
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry

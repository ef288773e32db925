"""The backend's library for the installed PyTorch: found beside the sources or in the cache, else compiled.

Knows one compiler call and a cache that many processes may fill at once. Imports torch only to ask its
version and where it lies.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

import torch

from neuronx_mem import _native
from neuronx_mem.torch._errors import BackendError

SOURCES = Path(__file__).resolve().parent.parent / "_shim"

#: Units that are compiled, at the same time. The other files are parts of the first.
UNITS = ("shim.cpp", "autocast.cpp")

FLAGS = ("-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden", "-w")


def library() -> Path:
    """The library for this PyTorch. Compiles it the first time, which takes half a minute or so.

    Raises :class:`BackendError` where that is not possible.
    """
    name = f"neuronx-mem-{tag()}.so"
    for folder in (SOURCES, cache()):
        if (folder / name).is_file():
            return folder / name
    target = cache() / name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.with_suffix(".lock")):
            if not target.is_file():
                _compile(target)
    except OSError as error:
        raise BackendError(
            f"the backend for PyTorch cannot be kept in {target.parent}: {error}; "
            "NEURONX_MEM_CACHE names another folder"
        ) from error
    return target


def tag() -> str:
    """What the library depends on, as a part of its name: PyTorch, its ABI, and the sources."""
    digest = hashlib.sha256(_native.shim_header().encode())
    for path in sorted(SOURCES.glob("*.h")) + sorted(SOURCES.glob("*.cpp")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    digest.update(" ".join(FLAGS).encode())
    abi = int(torch.compiled_with_cxx11_abi())
    version = torch.__version__.replace("+", "-")
    return f"torch{version}-abi{abi}-{os.uname().machine}-{digest.hexdigest()[:16]}"


def cache() -> Path:
    """Where libraries are kept: ``NEURONX_MEM_CACHE``, else a folder of the user's cache."""
    own = os.environ.get("NEURONX_MEM_CACHE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "neuronx-mem"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds a lock among processes: ranks that start together compile once."""
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _compile(target: Path) -> None:
    compiler = os.environ.get("CXX") or next(filter(None, map(shutil.which, ("g++", "c++", "clang++"))), None)
    if compiler is None:
        raise BackendError(
            "the backend for this version of PyTorch must be compiled once, and there is no C++ compiler: "
            "install g++ (version 11 or newer), or name one in CXX"
        )
    home = Path(torch.__file__).resolve().parent
    if not (home / "include" / "ATen").is_dir():
        raise BackendError(f"this PyTorch has no headers to compile against: {home / 'include'} does not exist")
    print(
        f"neuronx_mem: compiling the backend for PyTorch {torch.__version__} (once)",
        file=sys.stderr,
        flush=True,
    )
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        work = Path(folder)
        (work / "neuronx_mem.h").write_text(_native.shim_header())
        abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
        include = ["-isystem", str(home / "include"), "-isystem", str(home / "include/torch/csrc/api/include")]
        objects = [str(work / f"{Path(unit).stem}.o") for unit in UNITS]
        calls = [
            [compiler, *FLAGS, abi, *include, "-I", folder, "-c", str(SOURCES / unit), "-o", into]
            for unit, into in zip(UNITS, objects)
        ]
        with ThreadPoolExecutor(len(calls)) as pool:
            list(pool.map(_run, calls))
        built = work / "shim.so"
        lib = str(home / "lib")
        _run([compiler, "-shared", "-s", "-o", str(built), *objects, f"-L{lib}", "-ltorch_cpu", "-lc10"])
        os.replace(built, target)


def _run(call: list[str]) -> None:
    done = subprocess.run(call, capture_output=True, text=True)
    if done.returncode == 0:
        return
    errors = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
    raise BackendError(
        f"the backend could not be compiled for PyTorch {torch.__version__}: {(errors or ['no message'])[0]}\n"
        f"The call was: {' '.join(call)}"
    )

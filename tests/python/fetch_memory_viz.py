"""Fetches PyTorch's memory visualizer, torch/cuda/_memory_viz.py, and nothing else of torch.

The module needs only Python's standard library, but importing the package around it needs the
GPU vendor's libraries, some gigabytes. So pip downloads the smallest wheel that PyPI has (the one
for Macs; the module is the same in all of them), and the one file is taken out of it. Without an
__init__.py beside it, `python -m torch.cuda._memory_viz` runs it as a program.

Usage: python fetch_memory_viz.py FOLDER
"""

import pathlib
import subprocess
import sys
import tempfile
import zipfile

MODULE = "torch/cuda/_memory_viz.py"
VERSION = "torch/version.py"
REQUIREMENT = "torch>=2.9"


def download(folder):
    """The path of a torch wheel."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    for platform in ("macosx_11_0_arm64", "macosx_14_0_arm64"):
        command += ["--platform", platform]
    command += ["--python-version", "3.11", "--dest", folder, REQUIREMENT]
    subprocess.run(command, check=True)
    (wheel,) = pathlib.Path(folder).glob("torch-*.whl")
    return wheel


def main():
    (target,) = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        wheel = download(folder)
        with zipfile.ZipFile(wheel) as archive:
            for name in (VERSION, MODULE):
                archive.extract(name, target)
        print(f"took {MODULE} out of {wheel.name}")


if __name__ == "__main__":
    main()

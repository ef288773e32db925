"""What the tests of the PyTorch backend share.

A process has one simulated world, and numbers of memory are exact only in a fresh one: what counts bytes runs
in a process of its own.
"""

import os
import subprocess
import sys
import textwrap

FOLDER = os.path.dirname(os.path.abspath(__file__))


def run(script, *arguments, check=True, **variables):
    """Runs a script in a process of its own; its output. `variables` are added to the environment."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NEURONX_MEM_")}
    for key in ("NEURONX_MEM_CACHE",):
        if key in os.environ:
            environment[key] = os.environ[key]
    environment.update(variables)
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, [FOLDER, environment.get("PYTHONPATH")]),
    )
    call = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script), *arguments]
    done = subprocess.run(call, env=environment, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr[-6000:]}")
    return done if not check else done.stdout


def train(build, data, loss, device, steps=3, optimizer=None):
    """Trains a model on a device; its losses and its parameters, on the CPU."""
    import torch

    torch.manual_seed(0)
    model = build().to(device)
    optimize = (optimizer or torch.optim.AdamW)(model.parameters(), lr=1e-3)
    inputs = [tensor.to(device) for tensor in data]
    torch.manual_seed(1)
    losses = []
    for _ in range(steps):
        value = loss(model, *inputs)
        value.backward()
        optimize.step()
        optimize.zero_grad()
        losses.append(value.item())
    return losses, [parameter.detach().cpu() for parameter in model.parameters()]

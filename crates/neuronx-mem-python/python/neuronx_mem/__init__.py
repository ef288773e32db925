"""What a PyTorch program does with the memory of a Trainium device, without one.

Knows one simulated world a process, which :func:`configure` describes before anything else happens.
Imports nothing of PyTorch: ``import neuronx_mem.torch`` does.
"""

from neuronx_mem._native import configure, device_count

__all__ = ["configure", "device_count"]

"""Threads, forks, workers, exceptions, and the end of the process: no crash, and nothing left."""

import unittest

from support import run

THREADS = """
import threading
import neuronx_mem, neuronx_mem.torch, torch
def work(seed):
    kept = []
    for i in range(10_000):
        kept.append(torch.empty((seed * 977 + i * 131) % 5000 + 1, device="neuron"))
        if len(kept) > 50:
            del kept[:25]
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
stats = neuronx_mem.memory_stats()
print(stats["allocation.all.allocated"], stats["allocation.all.current"], stats["allocated_bytes.all.current"])
"""

STREAMS = """
import neuronx_mem, neuronx_mem.torch, torch
stream = torch.neuron.Stream()
with torch.neuron.stream(stream):
    assert torch.neuron.current_stream() == stream
    x = torch.ones(1000, device="neuron")
x.record_stream(torch.neuron.current_stream())
first, second = torch.Event("neuron", enable_timing=True), torch.Event("neuron", enable_timing=True)
first.record(stream)
second.record(stream)
stream.wait_event(first)
second.synchronize()
assert stream.query() and second.query() and first.elapsed_time(second) >= 0
del x
torch.neuron.synchronize()
print(neuronx_mem.memory_allocated())
"""

FORK = """
import os, threading
import neuronx_mem, neuronx_mem.torch, torch
torch.set_num_threads(1)
kept = torch.arange(1000, device="neuron")
stop = threading.Event()
def churn():
    while not stop.is_set():
        torch.empty(3000, device="neuron")
threads = [threading.Thread(target=churn) for _ in range(3)]
[thread.start() for thread in threads]
codes = []
for _ in range(20):
    child = os.fork()
    if child == 0:
        x = torch.ones(5, device="neuron")
        is_right = kept.sum().item() == 499500 and (x + 1).tolist() == [2.0] * 5
        del x
        os._exit(0 if is_right else 3)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
[thread.join() for thread in threads]
print(set(codes), kept.sum().item())
"""

LOADER = """
import torch
import neuronx_mem, neuronx_mem.torch
class Data(torch.utils.data.Dataset):
    def __len__(self): return 64
    def __getitem__(self, i): return torch.full((3,), float(i))
total = 0
keep = torch.ones(10, device="neuron")
for workers in (0, 2):
    for batch in torch.utils.data.DataLoader(Data(), batch_size=8, num_workers=workers, pin_memory=True):
        assert batch.is_pinned()
        total += batch.to("neuron", non_blocking=True).sum().item()
print(total)
"""

HOOKS = """
import neuronx_mem, neuronx_mem.torch, torch
def fail(gradient): raise ValueError("in a hook")
for _ in range(50):
    x = torch.ones(100, device="neuron", requires_grad=True)
    y = x * 2
    y.register_hook(fail)
    try:
        y.sum().backward()
    except ValueError as error:
        assert str(error) == "in a hook"
    else:
        raise SystemExit("no error")
class Refuse(torch.autograd.Function):
    @staticmethod
    def forward(context, x): return x.clone()
    @staticmethod
    def backward(context, gradient): raise KeyError("backward")
try:
    Refuse.apply(torch.ones(3, device="neuron", requires_grad=True)).sum().backward()
except KeyError:
    pass
del x, y
import gc; gc.collect()
print(neuronx_mem.memory_allocated())
"""

OUT_OF_MEMORY = """
import neuronx_mem, neuronx_mem.torch, torch
kept = [torch.empty(1 << 28, dtype=torch.uint8, device="neuron") for _ in range(3)]
for _ in range(3):
    try:
        torch.empty(1 << 29, dtype=torch.uint8, device="neuron")
    except torch.OutOfMemoryError as error:
        print(str(error).splitlines()[0])
print(neuronx_mem.memory_stats()["num_ooms"], neuronx_mem.memory_allocated())
del kept
torch.empty(1 << 29, dtype=torch.uint8, device="neuron")
"""

END = """
import atexit, threading
import neuronx_mem, neuronx_mem.torch, torch
class Cycle: pass
cycle = Cycle(); cycle.me = cycle
cycle.x = torch.ones(1000, device="neuron")
model = torch.nn.Linear(10, 10).to("neuron")
loss = model(torch.ones(2, 10, device="neuron")).sum()
loss.backward()
pinned = torch.ones(10).pin_memory()
stream = torch.neuron.Stream()
local = threading.local(); local.x = torch.ones(10, device="neuron")
threading.Thread(target=lambda: setattr(local, "y", torch.ones(10, device="neuron"))).start()
neuronx_mem.memory._record_memory_history()
atexit.register(lambda: torch.ones(3, device="neuron").sum().item())
print("end")
"""

HOST = """
import neuronx_mem, neuronx_mem.torch, torch
x = torch.empty(1 << 20, device="neuron")
try:
    y = torch.empty(240 << 30, dtype=torch.uint8, device="neuron")
except RuntimeError as error:
    print(type(error).__name__, "plan mode" in str(error), "NEURONX_MEM_MODE=plan" in str(error))
torch.ones(1 << 20, device="neuron")
neuronx_mem.torch.set_mode("plan")
y = torch.zeros(240 << 30, dtype=torch.uint8, device="neuron")
import resource
print(neuronx_mem.memory_allocated() >> 30, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2 << 20)
"""

GIVEN_BACK = """
import neuronx_mem, neuronx_mem.torch, torch
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
torch.ones(10, device="neuron").sum().item()
before = resident()
x = torch.ones(1 << 28, dtype=torch.uint8, device="neuron")
full = resident()
del x
neuronx_mem.empty_cache()
print(full - before > 200 << 20, resident() - before < 64 << 20, neuronx_mem.memory_reserved() <= 2 << 20)
"""

STRICT = """
import resource
resource.setrlimit(resource.RLIMIT_DATA, (12 << 30, resource.RLIM_INFINITY))
import neuronx_mem, neuronx_mem.torch, torch
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
before = resident()
for _ in range(3):
    x = torch.ones(1 << 28, dtype=torch.uint8, device="neuron")
    assert x.sum().item() == 1 << 28
    del x
    neuronx_mem.empty_cache()
neuronx_mem.torch.set_mode("plan")
kept = torch.empty(1 << 30, dtype=torch.uint8, device="neuron")
try:
    torch.empty(20 << 30, dtype=torch.uint8, device="neuron")
except RuntimeError as error:
    print(type(error).__name__, "NRT_FAIL_HOST_MEM_ALLOC" in str(error))
torch.empty(1 << 30, dtype=torch.uint8, device="neuron")
print(neuronx_mem.memory_allocated() >> 30, resident() - before < 200 << 20)
"""


class Robustness(unittest.TestCase):
    """Each in a process of its own."""

    def test_four_threads_of_ten_thousand_allocations(self):
        for mode in ("compute", "plan"):
            self.assertEqual(run(THREADS, NEURONX_MEM_MODE=mode), "40000 0 0\n")

    def test_streams_and_events(self):
        self.assertEqual(run(STREAMS), "0\n")

    def test_fork_while_other_threads_allocate(self):
        self.assertEqual(run(FORK), "{0} 499500\n")

    def test_loader_with_workers_and_pinning(self):
        self.assertEqual(run(LOADER), f"{2 * 3 * sum(range(64)):.1f}\n")

    def test_exceptions_in_hooks_leave_nothing(self):
        for mode in ("compute", "plan"):
            self.assertEqual(run(HOOKS, NEURONX_MEM_MODE=mode), "0\n")

    def test_out_of_memory_leaves_the_device_usable(self):
        lines = run(OUT_OF_MEMORY, NEURONX_MEM_MEMORY="1GiB").splitlines()
        self.assertEqual(len(set(lines[:3])), 1)
        self.assertEqual(
            lines[0],
            "Neuron out of memory: tried to allocate 512.00 MiB on device 0: total 1.00 GiB, reserved 768.00 MiB, "
            "allocated 768.00 MiB, cached free 0 bytes (largest block 0 bytes)",
        )
        self.assertEqual(lines[3], f"3 {3 << 28}")

    def test_the_end_with_live_tensors(self):
        for mode in ("compute", "plan"):
            for _ in range(3):
                self.assertEqual(run(END, NEURONX_MEM_MODE=mode), "end\n")

    def test_more_than_the_host_has_is_an_error_in_compute_mode_only(self):
        text = run(HOST, NEURONX_MEM_MEMORY="300GiB")
        self.assertEqual(text, "RuntimeError True True\n240 True\n")

    def test_a_host_that_promises_no_more_than_it_has(self):
        self.assertEqual(run(STRICT), "RuntimeError True\n1 True\n")

    def test_freed_segments_go_back_to_the_host(self):
        self.assertEqual(run(GIVEN_BACK), "True True True\n")


if __name__ == "__main__":
    unittest.main()

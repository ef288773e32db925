"""Collectives of two ranks on neuron tensors, by values reckoned by hand; DDP and FSDP2 as on the CPU."""

import unittest

import ranks

COLLECTIVES = """
mine = float(rank + 1)
on = dict(device="neuron")

def check(tensor, expected):
    assert tensor.device.type == "neuron", tensor.device
    assert tensor.cpu().tolist() == expected, (tensor.cpu().tolist(), expected)

tensor = torch.full((2,), mine, **on)
dist.all_reduce(tensor)
check(tensor, [3.0, 3.0])
tensor = torch.full((2,), mine, **on)
dist.all_reduce(tensor, op=dist.ReduceOp.AVG)
check(tensor, [1.5, 1.5])
tensor = torch.full((2,), mine, **on)
work = dist.all_reduce(tensor, op=dist.ReduceOp.MAX, async_op=True)
assert work.wait()
check(tensor, [2.0, 2.0])
tensor = torch.full((2,), mine, **on)
dist.broadcast(tensor, 1)
check(tensor, [2.0, 2.0])

rows = [torch.zeros(2, **on) for _ in range(size)]
dist.all_gather(rows, torch.full((2,), mine, **on))
for row, expected in zip(rows, [[1.0, 1.0], [2.0, 2.0]]):
    check(row, expected)
whole = torch.zeros(4, **on)
dist.all_gather_into_tensor(whole, torch.full((2,), mine, **on))
check(whole, [1.0, 1.0, 2.0, 2.0])

part = torch.zeros(2, **on)
dist.reduce_scatter_tensor(part, torch.arange(4.0, **on) * mine)
check(part, [[0.0, 3.0], [6.0, 9.0]][rank])
dist.reduce_scatter_tensor(part, torch.arange(4.0, **on) * mine, op=dist.ReduceOp.AVG)
check(part, [[0.0, 1.5], [3.0, 4.5]][rank])
dist.reduce_scatter(part, [torch.full((2,), mine, **on), torch.full((2,), 10 * mine, **on)])
check(part, [[3.0, 3.0], [30.0, 30.0]][rank])

dist.all_to_all_single(part, torch.tensor([mine, 10 * mine], **on))
check(part, [[1.0, 2.0], [10.0, 20.0]][rank])
pieces = [torch.zeros(1, **on), torch.zeros(1, **on)]
dist.all_to_all(pieces, [torch.tensor([mine], **on), torch.tensor([10 * mine], **on)])
check(torch.cat(pieces), [[1.0, 2.0], [10.0, 20.0]][rank])

rows = [torch.zeros(1, **on) for _ in range(size)] if rank == 0 else None
dist.gather(torch.tensor([mine], **on), rows)
if rank == 0:
    check(torch.cat(rows), [1.0, 2.0])
part = torch.zeros(1, **on)
dist.scatter(part, [torch.tensor([5.0], **on), torch.tensor([6.0], **on)] if rank == 0 else None)
check(part, [5.0 + rank])
part = torch.tensor([mine], **on)
dist.reduce(part, 0, op=dist.ReduceOp.AVG)
if rank == 0:
    check(part, [1.5])

if rank == 0:
    dist.send(torch.ones(3, **on), 1)
else:
    part = torch.zeros(3, **on)
    dist.recv(part, 0)
    check(part, [1.0, 1.0, 1.0])
part = torch.zeros(1, **on)
swap = [
    dist.P2POp(dist.isend, torch.tensor([mine], **on), 1 - rank),
    dist.P2POp(dist.irecv, part, 1 - rank),
]
for work in dist.batch_isend_irecv(swap):
    work.wait()
check(part, [3.0 - mine])

objects = [None] * size
dist.all_gather_object(objects, {"rank": rank})
assert objects == [{"rank": 0}, {"rank": 1}], objects
part = torch.ones(1)
dist.all_reduce(part)
assert part.tolist() == [2.0]
half = dist.new_group([0, 1])
part = torch.ones(1, **on)
dist.all_reduce(part, group=half)
check(part, [2.0])
dist.barrier()
print(dist.get_backend())
"""

MODEL = """
from torch import nn

def model():
    torch.manual_seed(7)
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4))

def batch(number):
    generator = torch.Generator().manual_seed(number)
    return torch.randn(4, 8, generator=generator)

def train(net, device, batches):
    # The mean over a batch of both ranks is the mean of their means.
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2, foreach=False)
    for inputs in batches:
        net(inputs.to(device)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

whole = model()
train(whole, "cpu", [torch.cat([batch(step), batch(100 + step)]) for step in range(3)])
own = [batch(step + 100 * rank) for step in range(3)]
"""

DDP = """
net = model().to("neuron")
train(nn.parallel.DistributedDataParallel(net), "neuron", own)
for ours, expected in zip(net.parameters(), whole.parameters()):
    torch.testing.assert_close(ours.cpu(), expected)
print(torch.accelerator.memory_allocated() > 0)
"""

FSDP = """
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

mesh = init_device_mesh("neuron", (size,))
net = model().to("neuron")
for layer in net:
    if isinstance(layer, nn.Linear):
        fully_shard(layer, mesh=mesh)
fully_shard(net, mesh=mesh)
train(net, "neuron", own)
for ours, expected in zip(net.parameters(), whole.parameters()):
    torch.testing.assert_close(ours.full_tensor().cpu(), expected)
print(ours.to_local().shape[0] * size == expected.shape[0])
"""

PLAN = """
tensor = torch.ones(1 << 20, device="neuron")
dist.all_reduce(tensor)
whole = torch.empty(2 << 20, device="neuron")
dist.all_gather_into_tensor(whole, tensor)
dist.barrier()
try:
    dist.recv(tensor)
except RuntimeError as error:
    print("plan mode" in str(error), torch.accelerator.memory_allocated())
"""


class Collectives(unittest.TestCase):
    def test_each_collective_gives_what_it_should(self):
        self.assertEqual(ranks.run(COLLECTIVES), ["neuron\n", "neuron\n"])

    def test_plan_mode_moves_no_bytes_and_still_meets(self):
        printed = ranks.run(PLAN, NEURONX_MEM_MODE="plan")
        self.assertEqual(printed, [f"True {12 << 20}\n"] * 2)


class Wrappers(unittest.TestCase):
    def test_ddp_trains_as_one_process_with_the_whole_batch(self):
        self.assertEqual(ranks.run(MODEL + DDP), ["True\n"] * 2)

    def test_fsdp2_trains_as_one_process_with_the_whole_batch(self):
        self.assertEqual(ranks.run(MODEL + FSDP), ["True\n"] * 2)


if __name__ == "__main__":
    unittest.main()

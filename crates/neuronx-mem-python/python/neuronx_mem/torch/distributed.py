"""Collectives on tensors of the simulated device: `init_process_group("neuron")`.

Knows how to hand the bytes of a neuron tensor to gloo and how torch.distributed names its
collectives; refuses to model the time or the memory that a real interconnect takes.

A tensor's bytes are host memory here, so a collective runs on aliases and copies nothing. In plan
mode there are no bytes: collectives of tensors end at once, only barriers meet. Collectives have
ended when their call returns; sends and receives end when they are waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d as c10d

#: The name of the backend and of the device whose tensors it takes.
BACKEND = "neuron"

#: Turns a tensor into one on the CPU with the same bytes; what is on the CPU stays what it is.
Alias = Callable[[torch.Tensor], torch.Tensor]


class _Transfer(dist.Work):
    """A send or receive under way, together with the tensors whose bytes it uses."""

    def __init__(self, work: dist.Work, tensors: Sequence[torch.Tensor]) -> None:
        super().__init__()
        self._work = work
        self._tensors = tensors

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        return bool(self._work.wait(timeout) if timeout else self._work.wait())

    def is_completed(self) -> bool:
        return bool(self._work.is_completed())

    def is_success(self) -> bool:
        return bool(self._work.is_success())

    def exception(self) -> Any:
        return self._work.exception()

    def source_rank(self) -> int:
        return int(self._work._source_rank())

    def result(self) -> list[torch.Tensor]:
        return list(self._tensors)

    def synchronize(self) -> None:
        self._work.synchronize()


class NeuronProcessGroup(dist.ProcessGroup):
    """A group of ranks that exchange neuron tensors, and CPU tensors, through gloo."""

    def __init__(
        self,
        store: dist.Store,
        rank: int,
        size: int,
        timeout: timedelta,
        alias: Alias,
        moves_bytes: Callable[[], bool],
    ) -> None:
        super().__init__(rank, size)
        self._gloo = dist.ProcessGroupGloo(store, rank, size, timeout)
        # Hooks of torch ask the group for a backend of its own; CPU tensors may go to gloo directly.
        gloo = dist.ProcessGroup.BackendType.GLOO
        self._register_backend(torch.device("cpu"), gloo, self._gloo)
        self._set_default_backend(gloo)
        self._alias = alias
        self._moves_bytes = moves_bytes

    # What torch.distributed asks a group about itself.

    def getBackendName(self) -> str:
        return BACKEND

    def _get_backend_name(self) -> str:
        return BACKEND

    def _get_backend(self, device: torch.device) -> Any:
        return self._gloo

    @property
    def group_name(self) -> str:
        # Some of torch asks before it has named the group.
        return str(dist.distributed_c10d._world.pg_names.get(self, ""))

    def getGroupName(self) -> str:
        return self.group_name

    @property
    def _device_types(self) -> list[torch.device]:
        return [torch.device(BACKEND), torch.device("cpu")]

    def set_timeout(self, timeout: timedelta) -> None:
        self._gloo.set_timeout(timeout)

    def shutdown(self) -> None:
        self._gloo.shutdown()

    def abort(self) -> None:
        self._gloo.abort()

    def __repr__(self) -> str:
        return f"NeuronProcessGroup(rank={self.rank()}, size={self.size()})"

    # Collectives: each under the names of torch 2.15 and of the releases before it.

    def broadcast(self, tensors: list[torch.Tensor], opts: Any = c10d.BroadcastOptions()) -> dist.Work:
        return self._run(tensors, lambda: self._gloo.broadcast(self._host(tensors), opts))

    def allreduce(self, tensors: list[torch.Tensor], opts: Any = c10d.AllreduceOptions()) -> dist.Work:
        return self._run(tensors, lambda: self._reduced(tensors, tensors, opts, self._gloo.allreduce))

    def allreduce_coalesced(
        self, tensors: list[torch.Tensor], opts: Any = c10d.AllreduceCoalescedOptions()
    ) -> dist.Work:
        def each() -> None:
            for tensor in tensors:
                self._reduced([tensor], [tensor], _all_reduce_options(opts), self._gloo.allreduce)

        return self._run(tensors, each)

    def reduce(self, tensors: list[torch.Tensor], opts: Any = c10d.ReduceOptions()) -> dist.Work:
        is_root = opts.rootRank == self.rank()
        return self._run(
            tensors, lambda: self._reduced(tensors, tensors, opts, self._gloo.reduce, is_root)
        )

    def allgather(
        self,
        outputs: list[list[torch.Tensor]],
        inputs: list[torch.Tensor],
        opts: Any = c10d.AllgatherOptions(),
    ) -> dist.Work:
        return self._run(
            outputs,
            lambda: self._gloo.allgather([self._host(row) for row in outputs], self._host(inputs), opts),
        )

    def allgather_coalesced(
        self,
        outputs: list[list[torch.Tensor]],
        inputs: list[torch.Tensor],
        opts: Any = c10d.AllgatherOptions(),
    ) -> dist.Work:
        def each() -> None:
            for index, tensor in enumerate(inputs):
                row = [rank[index] for rank in outputs]
                self._gloo.allgather([self._host(row)], self._host([tensor]), opts).wait()

        return self._run(outputs, each)

    def all_gather_single(
        self, output: torch.Tensor, input: torch.Tensor, opts: Any = c10d.AllgatherOptions()
    ) -> dist.Work:
        return self._run([output], lambda: self._gathered(output, input, opts))

    def all_gather_single_coalesced(
        self,
        outputs: list[torch.Tensor],
        inputs: list[torch.Tensor],
        opts: Any = c10d.AllgatherOptions(),
    ) -> dist.Work:
        def each() -> None:
            for output, tensor in zip(outputs, inputs, strict=True):
                self._gathered(output, tensor, opts).wait()

        return self._run(outputs, each)

    def reduce_scatter(
        self,
        outputs: list[torch.Tensor],
        inputs: list[list[torch.Tensor]],
        opts: Any = c10d.ReduceScatterOptions(),
    ) -> dist.Work:
        def each() -> None:
            for output, parts in zip(outputs, inputs, strict=True):
                whole = torch.stack([part.contiguous() for part in self._host(parts)])
                self._scattered(self._alias(output), whole, opts)

        return self._run(outputs, each)

    def reduce_scatter_single(
        self, output: torch.Tensor, input: torch.Tensor, opts: Any = c10d.ReduceScatterOptions()
    ) -> dist.Work:
        return self._run([output], lambda: self._scattered(self._alias(output), self._alias(input).clone(), opts))

    def reduce_scatter_single_coalesced(
        self,
        outputs: list[torch.Tensor],
        inputs: list[torch.Tensor],
        opts: Any = c10d.ReduceScatterOptions(),
    ) -> dist.Work:
        def each() -> None:
            for output, tensor in zip(outputs, inputs, strict=True):
                self._scattered(self._alias(output), self._alias(tensor).clone(), opts)

        return self._run(outputs, each)

    def gather(
        self,
        outputs: list[list[torch.Tensor]],
        inputs: list[torch.Tensor],
        opts: Any = c10d.GatherOptions(),
    ) -> dist.Work:
        return self._run(
            outputs,
            lambda: self._gloo.gather([self._host(row) for row in outputs], self._host(inputs), opts),
        )

    def scatter(
        self,
        outputs: list[torch.Tensor],
        inputs: list[list[torch.Tensor]],
        opts: Any = c10d.ScatterOptions(),
    ) -> dist.Work:
        return self._run(
            outputs,
            lambda: self._gloo.scatter(self._host(outputs), [self._host(row) for row in inputs], opts),
        )

    def alltoall(
        self,
        outputs: list[torch.Tensor],
        inputs: list[torch.Tensor],
        opts: Any = c10d.AllToAllOptions(),
    ) -> dist.Work:
        def exchange() -> None:
            # gloo has it for one tensor cut in pieces only.
            gone = torch.cat([tensor.reshape(-1) for tensor in self._host(inputs)])
            here = torch.empty(sum(tensor.numel() for tensor in outputs), dtype=gone.dtype)
            cuts = [tensor.numel() for tensor in outputs], [tensor.numel() for tensor in inputs]
            self._gloo.alltoall_base(here, gone, *cuts, opts).wait()
            for tensor, piece in zip(self._host(outputs), here.split(cuts[0]), strict=True):
                tensor.copy_(piece.view(tensor.shape))

        return self._run(outputs, exchange)

    def all_to_all_single(
        self,
        output: torch.Tensor,
        input: torch.Tensor,
        output_split_sizes: list[int] | None,
        input_split_sizes: list[int] | None,
        opts: Any = c10d.AllToAllOptions(),
    ) -> dist.Work:
        cuts = output_split_sizes or [], input_split_sizes or []
        return self._run(
            [output],
            lambda: self._gloo.alltoall_base(self._alias(output), self._alias(input), *cuts, opts),
        )

    def barrier(self, opts: Any = c10d.BarrierOptions()) -> dist.Work:
        self._gloo.barrier(opts).wait()
        return _ended([])

    def monitored_barrier(self, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
        arguments = (timeout,) if timeout is not None else ()
        self._gloo.monitored_barrier(*arguments, wait_all_ranks=wait_all_ranks)

    _allgather_base = all_gather_single
    allgather_into_tensor_coalesced = all_gather_single_coalesced
    _reduce_scatter_base = reduce_scatter_single
    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced
    alltoall_base = all_to_all_single

    # One rank to another.

    def send(self, tensors: list[torch.Tensor], dst: int, tag: int) -> dist.Work:
        return self._transfer(tensors, lambda host: self._gloo.send(host, dst, tag))

    def recv(self, tensors: list[torch.Tensor], src: int, tag: int) -> dist.Work:
        return self._transfer(tensors, lambda host: self._gloo.recv(host, src, tag))

    def recv_anysource(self, tensors: list[torch.Tensor], tag: int) -> dist.Work:
        if not self._moves_bytes():
            raise RuntimeError(
                "plan mode moves no bytes, so a receive from any rank cannot tell which one it was from; "
                "name the rank or use compute mode"
            )
        return self._transfer(tensors, lambda host: self._gloo.recv_anysource(host, tag))

    # What they have in common.

    def _host(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        return [self._alias(tensor) for tensor in tensors]

    def _is_moved(self, tensors: Sequence[torch.Tensor]) -> bool:
        return self._moves_bytes() or all(tensor.device.type == "cpu" for tensor in tensors)

    def _run(self, outputs: Sequence[Any], collective: Callable[[], dist.Work | None]) -> dist.Work:
        tensors = list(_flat(outputs))
        if self._is_moved(tensors):
            work = collective()
            if work is not None:
                work.wait()
        return _ended(tensors)

    def _transfer(
        self, tensors: list[torch.Tensor], start: Callable[[list[torch.Tensor]], dist.Work]
    ) -> dist.Work:
        if not self._is_moved(tensors):
            return _ended(tensors)
        return _Transfer(start(self._host(tensors)), tensors)

    def _reduced(
        self,
        outputs: Sequence[torch.Tensor],
        inputs: Sequence[torch.Tensor],
        opts: Any,
        collective: Callable[[list[torch.Tensor], Any], dist.Work],
        has_result: bool = True,
    ) -> None:
        """Runs a reduction that gloo has, or the sum that it comes to."""
        finish = self._as_sum(opts, self._host(inputs))
        collective(self._host(inputs), opts).wait()
        if finish is not None and has_result:
            for tensor in self._host(outputs):
                finish(tensor)

    def _gathered(self, output: torch.Tensor, input: torch.Tensor, opts: Any) -> dist.Work:
        rows = self._alias(output).view(self.size(), -1)
        mine = self._alias(input).contiguous().view(-1)
        work: dist.Work = self._gloo.allgather([list(rows)], [mine], opts)
        return work

    def _scattered(self, output: torch.Tensor, whole: torch.Tensor, opts: Any) -> None:
        """Reduces `whole`, which is overwritten, everywhere, and keeps the part of this rank."""
        reduce = c10d.AllreduceOptions()
        reduce.reduceOp = opts.reduceOp
        finish = self._as_sum(reduce, [whole])
        self._gloo.allreduce([whole], reduce).wait()
        output.copy_(whole.reshape(self.size(), -1)[self.rank()].view(output.shape))
        if finish is not None:
            finish(output)

    def _as_sum(self, opts: Any, inputs: Sequence[torch.Tensor]) -> Callable[[torch.Tensor], Any] | None:
        """Makes a mean a sum, in place, and says what makes a mean of it again."""
        if opts.reduceOp == dist.ReduceOp.AVG:
            opts.reduceOp = dist.ReduceOp.SUM
            return lambda tensor: tensor.div_(self.size())
        if opts.reduceOp == dist.ReduceOp.PREMUL_SUM:
            factor = opts.reduceOp.__getstate__()[1]
            for tensor in inputs:
                tensor.mul_(factor)
            opts.reduceOp = dist.ReduceOp.SUM
        return None


def _all_reduce_options(opts: Any) -> Any:
    one = c10d.AllreduceOptions()
    one.reduceOp = opts.reduceOp
    return one


def _flat(tensors: Sequence[Any]) -> Iterator[torch.Tensor]:
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor):
            yield tensor
        else:
            yield from _flat(tensor)


def _ended(tensors: Sequence[torch.Tensor]) -> dist.Work:
    devices = sorted({tensor.device for tensor in tensors if tensor.device.type != "cpu"}, key=str)
    future: torch.futures.Future[Any] = torch.futures.Future(devices=devices or None)
    future.set_result(list(tensors))
    work: dist.Work = c10d._create_work_from_future(future)
    return work


def register(alias: Alias, moves_bytes: Callable[[], bool], before_first: Callable[[], object]) -> None:
    """Makes `init_process_group("neuron")` known, once a process.

    `alias` gives the CPU tensor over a neuron tensor's bytes, `moves_bytes` says whether there are
    any (compute mode), `before_first` runs when a process makes its first group: NUMA pinning.
    """
    is_first = True

    def create(store: dist.Store, rank: int, size: int, timeout: timedelta) -> NeuronProcessGroup:
        nonlocal is_first
        if is_first:
            is_first = False
            before_first()
        return NeuronProcessGroup(store, rank, size, timeout, alias, moves_bytes)

    dist.Backend.register_backend(BACKEND, create, devices=[BACKEND, "cpu"])

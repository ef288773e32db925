"""What programs do with tensors of a device, one check each. Run in both modes by `test_api.py`."""

import copy
import io
import json

import torch
import torch.nn.functional as F
from torch import nn

import neuronx_mem
import neuronx_mem.torch

DEVICE = torch.device("neuron", 0)


class Checks:
    """Checks that hold in either mode; values are looked at in compute mode only."""

    mode = "compute"

    def setUp(self):
        neuronx_mem.torch.set_mode(self.mode)
        torch.manual_seed(0)
        self.x = torch.randn(4, 8, device="neuron")

    @property
    def has_values(self):
        return self.mode == "compute"

    def same(self, mine, other):
        """Asserts that a tensor of the device is a tensor of the CPU, in plan mode by its shape."""
        self.assertEqual(mine.device, DEVICE)
        self.assertEqual((mine.shape, mine.dtype), (other.shape, other.dtype))
        if self.has_values:
            self.assertTrue(torch.equal(mine.cpu(), other), f"{mine.cpu()} is not {other}")

    def agrees(self, function, *inputs):
        """Asserts that a function gives on the device what it gives on the CPU."""
        mine = function(*(tensor.to("neuron") for tensor in inputs))
        self.same(mine, function(*inputs))

    def test_repr(self):
        self.assertIn("device='neuron:0'", repr(self.x[:1, :2]))

    def test_round_trip(self):
        if self.has_values:
            c = torch.randn(3, 3)
            self.assertTrue(torch.equal(c.to("neuron").cpu(), c))

    def test_numpy_raises(self):
        self.assertRaisesRegex(TypeError, "can't convert neuron:0 device type tensor to numpy", self.x.numpy)

    def test_item_and_tolist(self):
        self.assertEqual(self.x[0, 0].item(), self.x.tolist()[0][0])

    def test_generator_of_the_device(self):
        g = torch.Generator(device="neuron").manual_seed(3)
        drawn = torch.randn(3, device="neuron", generator=g)
        self.assertEqual(g.device.type, "neuron")
        self.same(drawn, torch.randn(3, generator=torch.Generator().manual_seed(3)))
        if self.has_values:
            self.assertFalse(torch.equal(torch.randn(3, device="neuron", generator=g).cpu(), drawn.cpu()))

    def test_a_seed_gives_the_numbers_of_the_cpu(self):
        torch.manual_seed(1)
        mine = torch.rand(5, device="neuron"), torch.randperm(7, device="neuron")
        torch.manual_seed(1)
        other = torch.rand(5), torch.randperm(7)
        self.same(mine[0], other[0])
        self.same(mine[1], other[1])

    def test_generator_state(self):
        state = torch.neuron.get_rng_state()
        first = torch.rand(5, device="neuron")
        torch.neuron.set_rng_state(state)
        self.assertTrue(torch.equal(first, torch.rand(5, device="neuron")) or not self.has_values)
        with torch.random.fork_rng(devices=[0], device_type="neuron"):
            torch.rand(5, device="neuron")

    def test_devices_have_generators_of_their_own(self):
        self.assertEqual(torch.neuron.initial_seed(), 0)
        torch.neuron.manual_seed(7)
        self.assertEqual((torch.neuron.initial_seed(), torch.initial_seed()), (7, 0))

    def test_deepcopy_of_a_module(self):
        self.assertEqual(copy.deepcopy(nn.Linear(4, 4).neuron()).weight.device, DEVICE)

    def test_to_keeps_parameters(self):
        module = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        module[1].weight = module[0].weight
        before = module[0].weight
        module.to("neuron")
        self.assertIs(module[0].weight, before)
        self.assertIs(module[1].weight, before)
        self.assertEqual(before.device, DEVICE)
        module.to("cpu")
        self.assertEqual(before.device.type, "cpu")

    def test_save_and_load(self):
        file = io.BytesIO()
        torch.save({"x": self.x}, file)
        file.seek(0)
        self.assertEqual(torch.load(file)["x"].device, DEVICE)
        file.seek(0)
        back = torch.load(file, map_location="cpu")["x"]
        self.assertTrue(torch.equal(back, self.x.cpu()))

    def test_device_context_and_default(self):
        with torch.device("neuron"):
            self.assertEqual(torch.ones(2).device, DEVICE)
        torch.set_default_device("neuron")
        self.assertEqual(torch.ones(2).device, DEVICE)
        torch.set_default_device(None)
        self.assertEqual(torch.ones(2).device.type, "cpu")

    def test_another_device(self):
        y = torch.ones(3, device="neuron:1")
        self.assertEqual(y.device, torch.device("neuron", 1))
        self.assertGreaterEqual(neuronx_mem.memory_allocated(1), 256)
        self.assertEqual((y.to("neuron:0") + 1).device, DEVICE)
        self.assertEqual((y + 1).device, y.device)
        with torch.neuron.device(1):
            self.assertEqual(torch.empty(1, device="neuron").device, y.device)
            self.assertEqual(torch.neuron.current_device(), 1)
        self.assertEqual(torch.neuron.current_device(), 0)

    def test_a_device_that_does_not_exist(self):
        self.assertRaisesRegex(RuntimeError, "neuron:7 does not exist", torch.ones, 3, device="neuron:7")

    def test_mixed_devices_are_an_error(self):
        text = "Expected all tensors to be on the same device"
        for call in (
            lambda: self.x + torch.ones(4, 8),
            lambda: self.x @ torch.ones(8, 8),
            lambda: torch.cat([self.x, torch.ones(4, 8)]),
            lambda: F.linear(self.x, torch.ones(3, 8)),
            lambda: self.x + self.x.to("neuron:1"),
            lambda: self.x @ torch.ones(8, 8, device="neuron:1"),
            lambda: F.conv1d(self.x[None], torch.ones(2, 4, 3)),
        ):
            self.assertRaisesRegex(RuntimeError, text, call)

    def test_numbers_of_the_cpu_are_no_mixture(self):
        self.same(torch.ones(3, device="neuron") * torch.tensor(2.0), torch.full((3,), 2.0))
        self.assertEqual(self.x[torch.tensor([0, 1])].shape, (2, 8))

    def test_autocast(self):
        with torch.autocast("neuron", dtype=torch.bfloat16):
            self.assertEqual((self.x @ self.x.t()).dtype, torch.bfloat16)
            self.assertEqual(self.x.softmax(-1).dtype, torch.float32)

    def test_checkpoint(self):
        from torch.utils.checkpoint import checkpoint

        model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Dropout(0.5)).to("neuron")
        for is_reentrant in (False, True):
            inputs = self.x.clone().requires_grad_()
            checkpoint(model, inputs, use_reentrant=is_reentrant).sum().backward()
            self.assertEqual(inputs.grad.device, DEVICE)

    def test_attention(self):
        q = torch.randn(2, 4, 16, 8, device="neuron", requires_grad=True)
        F.scaled_dot_product_attention(q, q, q, is_causal=True).sum().backward()
        self.assertEqual(q.grad.shape, q.shape)

    def test_convolutions(self):
        inputs = torch.randn(2, 4, 9, 9)
        for kind, options in (
            (nn.Conv2d, {}),
            (nn.Conv2d, {"stride": 2, "padding": 1, "dilation": 2, "groups": 2}),
            (nn.ConvTranspose2d, {"stride": 2, "output_padding": 1}),
        ):
            torch.manual_seed(3)
            module = kind(4, 6, 3, **options)
            on_device = copy.deepcopy(module).to("neuron")
            mine, other = inputs.to("neuron").requires_grad_(), inputs.clone().requires_grad_()
            result, expected = on_device(mine), module(other)
            self.same(result.detach(), expected.detach())
            result.square().sum().backward()
            expected.square().sum().backward()
            self.same(mine.grad, other.grad)
            self.same(on_device.weight.grad, module.weight.grad)
        module = nn.Conv2d(4, 6, 3).to("neuron", memory_format=torch.channels_last)
        result = module(inputs.to("neuron").to(memory_format=torch.channels_last))
        self.assertTrue(result.is_contiguous(memory_format=torch.channels_last))

    def test_normalisation_pooling_dropout(self):
        model = nn.Sequential(nn.BatchNorm2d(3), nn.MaxPool2d(2), nn.Dropout(), nn.GroupNorm(1, 3)).to("neuron")
        inputs = torch.randn(2, 3, 16, 16, device="neuron", requires_grad=True)
        model(inputs).sum().backward()
        self.assertEqual(inputs.grad.device, DEVICE)
        mask = torch.native_dropout(self.x, 0.5, True)[1]
        self.assertEqual(mask.dtype, torch.bool)

    def test_recurrent_layers(self):
        for kind in (nn.LSTM, nn.GRU, nn.RNN):
            model = kind(8, 8, num_layers=2, bidirectional=True, batch_first=True).to("neuron")
            result, _ = model(torch.randn(2, 5, 8, device="neuron"))
            result.sum().backward()
            self.assertEqual((result.device, model.weight_ih_l0.grad.device), (DEVICE, DEVICE))
        with torch.inference_mode():
            self.assertEqual(nn.LSTM(8, 8, proj_size=3).to("neuron")(self.x[None])[0].shape, (1, 4, 3))
        self.assertEqual(nn.GRUCell(8, 5).to("neuron")(self.x).shape, (4, 5))

    def test_packed_sequences(self):
        from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

        model = nn.LSTM(8, 8, batch_first=True).to("neuron")
        lengths = torch.tensor([5, 3, 2])
        packed = pack_padded_sequence(torch.randn(3, 5, 8, device="neuron"), lengths, batch_first=True)
        result, found = pad_packed_sequence(model(packed)[0], batch_first=True)
        result.sum().backward()
        self.assertEqual((result.shape, found.tolist()), ((3, 5, 8), [5, 3, 2]))

    def test_embedding_sorting_indexing(self):
        embedding = nn.Embedding(10, 4).to("neuron")
        tokens = torch.randint(0, 10, (3, 2), device="neuron")
        values, indices = embedding(tokens).flatten().topk(3)
        y = torch.where(values > 0, values, -values)
        y[indices > 1] = 0
        y[0] = 1
        self.assertEqual(values.sort()[0].device, DEVICE)
        self.assertEqual(y.cumsum(0).device, DEVICE)
        self.assertEqual(values.nonzero().device, DEVICE)
        self.agrees(lambda t: t.sort(-1, descending=True).indices, torch.randn(3, 9))

    def test_shapes(self):
        self.agrees(lambda t: torch.einsum("ij,kj->ik", t, t), torch.arange(12.0).view(3, 4))
        self.agrees(lambda t: torch.cat(t.chunk(2, 1)[::-1]), torch.arange(12.0).view(3, 4))
        self.agrees(lambda t: torch.stack(t.split(1)).squeeze(), torch.arange(12.0).view(3, 4))
        self.agrees(lambda t: F.pad(t, (1, 2)).roll(1).flip(0), torch.arange(12.0).view(3, 4))

    def test_out(self):
        result = torch.empty(0, device="neuron")
        torch.add(self.x, self.x, out=result)
        self.same(result, (self.x + self.x).cpu())
        torch.mm(self.x, self.x.t(), out=result.resize_(0))
        self.assertEqual(result.shape, (4, 4))

    def test_complex_numbers(self):
        c = torch.fft.fft(self.x)
        self.assertEqual((c.dtype, torch.view_as_real(c).shape), (torch.complex64, (4, 8, 2)))
        self.same(c.conj() * 2, torch.fft.fft(self.x.cpu()).conj() * 2)
        self.same(c.conj().clone(), torch.fft.fft(self.x.cpu()).conj().clone())
        self.same(c.imag.neg(), torch.fft.fft(self.x.cpu()).imag.neg())
        self.same(c.conj().imag.contiguous(), torch.fft.fft(self.x.cpu()).conj().imag.contiguous())
        self.assertEqual(torch.view_as_complex(torch.ones(3, 2, device="neuron")).shape, (3,))

    def test_linear_algebra(self):
        self.assertEqual([t.device for t in torch.linalg.svd(self.x)], [DEVICE] * 3)
        self.agrees(lambda t: torch.linalg.inv(t), torch.eye(3) + 0.1)
        self.assertEqual((self.x.bfloat16() @ self.x.bfloat16().t()).dtype, torch.bfloat16)

    def test_views_share_their_storage(self):
        before = neuronx_mem.memory_stats()["allocation.all.current"]
        view = self.x[1:, 2:].t()
        views = [view, self.x.unfold(1, 2, 1), self.x.view(torch.int32), self.x.diagonal(), *self.x.unbind()]
        self.assertEqual({v.untyped_storage().data_ptr() for v in views}, {self.x.untyped_storage().data_ptr()})
        self.assertEqual(neuronx_mem.memory_stats()["allocation.all.current"], before)

    def test_a_write_through_a_view(self):
        x = torch.zeros(4, 4, device="neuron", requires_grad=True)
        y = x.clone()
        y[1:3].mul_(2).add_(1)
        y.t()[0].fill_(5)
        y.sum().backward()
        other = torch.zeros(4, 4)
        other[1:3] += 1
        other.t()[0] = 5
        self.same(y.detach(), other)

    def test_storage_resize(self):
        storage = torch.empty(10, device="neuron").untyped_storage()
        sizes = [neuronx_mem.memory_allocated()]
        for n_bytes in (0, 40 << 10, 80 << 10, 0):
            storage.resize_(n_bytes)
            sizes.append(neuronx_mem.memory_allocated())
        base = sizes[0] - 256
        self.assertEqual([size - base for size in sizes], [256, 0, 40 << 10, 80 << 10, 0])

    def test_storage_keeps_what_it_held(self):
        x = torch.arange(10.0).to("neuron")
        x.untyped_storage().resize_(400)
        x.resize_(100)
        self.same(x[:10], torch.arange(10.0))
        y = torch.empty(0, device="neuron").set_(x.untyped_storage(), 2, (3,))
        self.same(y, torch.arange(2.0, 5.0))
        self.assertEqual(y.set_().shape, (0,))
        torch.empty(3, device="neuron").set_(x)

    def test_dlpack(self):
        y = torch.from_dlpack(self.x)
        self.assertEqual((y.device, y.data_ptr()), (DEVICE, self.x.data_ptr()))
        self.assertEqual(self.x.__dlpack_device__(), (12, 0))
        again = torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(self.x))
        self.assertEqual(again.data_ptr(), self.x.data_ptr())
        del y, again
        self.assertEqual(torch.ones(2).__dlpack_device__()[0], 1)

    def test_sparse_is_a_clear_error(self):
        self.assertRaisesRegex(
            NotImplementedError, "the simulated neuron device does not have", torch.eye(3, device="neuron").to_sparse
        )
        with self.assertRaises(NotImplementedError):
            torch.empty(3, layout=torch.sparse_coo, device="neuron")

    def test_vmap_and_grad(self):
        self.assertEqual(torch.func.vmap(lambda a: a.sum())(self.x).device, DEVICE)
        self.assertEqual(torch.func.grad(lambda a: a.sum())(self.x).device, DEVICE)
        self.assertEqual(torch.func.jacrev(lambda a: a.sum(0))(self.x).device, DEVICE)

    def test_optimizers(self):
        for kind, options in (
            (torch.optim.AdamW, {"fused": True}),
            (torch.optim.AdamW, {"foreach": True}),
            (torch.optim.AdamW, {"foreach": False}),
            (torch.optim.SGD, {"momentum": 0.9}),
            (torch.optim.Adagrad, {}),
        ):
            model = nn.Linear(8, 4).to("neuron")
            optimizer = kind(model.parameters(), lr=0.1, **options)
            for _ in range(2):
                model(self.x).sum().backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()

    def test_gradient_scaler(self):
        model = nn.Linear(8, 4).to("neuron")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("neuron")
        scaler.scale(model(self.x).sum()).backward()
        scaler.step(optimizer)
        scaler.update()

    def test_pinned_memory(self):
        pinned = torch.randn(3).pin_memory()
        self.assertTrue(pinned.is_pinned() and pinned[1:].is_pinned())
        self.assertFalse(torch.randn(3).is_pinned())
        self.same(pinned.to("neuron", non_blocking=True), pinned)
        torch.accelerator.empty_host_cache()

    def test_out_of_memory(self):
        with self.assertRaises(torch.OutOfMemoryError) as caught:
            torch.empty(30 << 30, dtype=torch.uint8, device="neuron")
        self.assertRegex(str(caught.exception), "^Neuron out of memory: tried to allocate 30.00 GiB on device 0")

    def test_profiler(self):
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
            y = torch.empty(1 << 20, device="neuron")
            del y
        used = sum(event.device_memory_usage for event in seen.events())
        sizes = [event.self_device_memory_usage for event in seen.events()]
        self.assertIn(4 << 20, sizes)
        self.assertLessEqual(used, 4 << 20)

    def test_compile(self):
        for backend in ("eager", "aot_eager"):
            with self.subTest(backend):
                compiled = torch.compile(lambda a: (a * 2).relu(), backend=backend)
                self.same(compiled(self.x), (self.x.cpu() * 2).relu())

    def test_fake_tensors(self):
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode():
            a = torch.randn(1 << 20, 1 << 20, device="neuron")
            self.assertEqual(((a @ a).shape, a.device), ((1 << 20, 1 << 20), DEVICE))

    def test_accelerator_and_package_agree(self):
        keys = torch.accelerator.memory_stats().keys() & neuronx_mem.memory_stats().keys()
        self.assertGreater(len(keys), 110)
        for key in keys:
            self.assertEqual(torch.accelerator.memory_stats()[key], neuronx_mem.memory_stats()[key], key)
        for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"):
            self.assertEqual(getattr(torch.accelerator, name)(), getattr(neuronx_mem, name)(), name)
            self.assertEqual(getattr(torch.neuron, name)(), getattr(neuronx_mem, name)(), name)
        self.assertEqual(torch.accelerator.get_memory_info(), neuronx_mem.mem_get_info())
        torch.accelerator.reset_peak_memory_stats()
        torch.accelerator.reset_accumulated_memory_stats()
        self.assertEqual(neuronx_mem.max_memory_allocated(), neuronx_mem.memory_allocated())
        torch.accelerator.empty_cache()

    def test_module_of_the_device(self):
        self.assertEqual(torch.accelerator.current_accelerator(), torch.device("neuron"))
        self.assertEqual((torch.neuron.device_count(), torch.accelerator.device_count()), (2, 2))
        self.assertTrue(torch.neuron.is_available() and torch.neuron.is_simulated())
        self.assertEqual(torch.neuron.get_device_properties().total_memory, 24 << 30)
        for device in (None, 0, "neuron", "neuron:0", torch.device("neuron", 0)):
            torch.neuron.synchronize(device)
            torch.neuron.synchronize(device=device)
        self.assertEqual(torch.neuron.default_stream(), torch.neuron.current_stream())
        self.assertRaises(ValueError, torch.neuron.synchronize, "cpu")

    def test_resets_and_empty_tensors(self):
        before = neuronx_mem.memory_stats()["allocation.all.allocated"]
        x = torch.empty(0, 3, device="neuron")
        self.assertEqual((x.sum(0).shape, torch.cat([x, x]).shape), ((3,), (0, 3)))
        self.assertEqual(x.data_ptr(), 0)
        self.assertLessEqual(neuronx_mem.memory_stats()["allocation.all.allocated"] - before, 2)

    def test_int64_is_observed(self):
        from neuronx_mem.torch import _library

        ids = torch.arange(6, device="neuron")
        _library.reset_observed()
        torch.nn.functional.relu(self.x)
        self.assertEqual(_library.observed(), "")
        ids.add(1)
        (line,) = _library.observed().splitlines()
        row = json.loads(line)
        self.assertRegex(row["op"], r"^aten[.:]+add(\.out)?$")
        self.assertEqual(row["calls"], 1)

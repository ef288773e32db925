"""Training on the device gives what training on the CPU gives, bit for bit; planning it takes the same memory."""

import json
import unittest

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

import neuronx_mem.torch
from models import cases
from support import run, train

NAMES = ("linear", "transformer", "resnet18", "lstm", "gru", "gpt2")

# Prints the sizes that training a model takes, in order.
SIZES = """
import json, sys
import neuronx_mem, neuronx_mem.torch, torch
from models import cases
from support import train
memory, found = neuronx_mem.memory, {}
for name in sys.argv[1:]:
    neuronx_mem.empty_cache()
    neuronx_mem.reset_peak_memory_stats()
    neuronx_mem.reset_accumulated_memory_stats()
    memory._record_memory_history(context=None, clear_history=True)
    train(*cases()[name], "neuron", steps=2)
    events = memory._snapshot()["device_traces"][0]
    stats = neuronx_mem.memory_stats()
    found[name] = {
        "sizes": [event["size"] for event in events if event["action"] == "alloc"],
        "segments": stats["segment.all.allocated"],
        "peak": stats["allocated_bytes.all.peak"],
        "left": stats["allocated_bytes.all.current"],
    }
print(json.dumps(found))
"""


class Equal(unittest.TestCase):
    """In compute mode."""

    def check(self, name):
        torch.use_deterministic_algorithms(False)
        build, data, loss = cases()[name]
        neuronx_mem.torch.set_mode("compute")
        # The scores of attention are made in the same way on both sides; oneDNN's LSTM is another one.
        with sdpa_kernel(SDPBackend.MATH), torch.backends.mkldnn.flags(enabled=name not in ("lstm", "gru")):
            expected = train(build, data, loss, "cpu")
            found = train(build, data, loss, "neuron")
        self.assertEqual(expected[0], found[0])
        self.assertEqual(len(set(expected[0])), 3)
        for mine, other in zip(found[1], expected[1], strict=True):
            self.assertTrue(torch.equal(mine, other))

    def test_linear(self):
        self.check("linear")

    def test_transformer(self):
        self.check("transformer")

    def test_resnet18(self):
        self.check("resnet18")

    def test_lstm(self):
        self.check("lstm")

    def test_gru(self):
        self.check("gru")

    def test_gpt2(self):
        self.check("gpt2")

    def test_flash_attention_without_dropout_is_the_kernel_of_the_cpu(self):
        neuronx_mem.torch.set_mode("compute")
        neuronx_mem.torch.set_sdpa("flash")
        self.addCleanup(neuronx_mem.torch.set_sdpa, "math")
        results = []
        for device in ("cpu", "neuron"):
            torch.manual_seed(0)
            q, k, v = (torch.randn(2, 4, 32, 16).to(device).requires_grad_() for _ in range(3))
            result = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            result.square().sum().backward()
            results.append([t.detach().cpu() for t in (result, q.grad, k.grad, v.grad)])
        for mine, other in zip(*results):
            self.assertTrue(torch.equal(mine, other))

    def test_flash_attention_with_dropout_and_shared_heads_has_the_gradients_of_math(self):
        neuronx_mem.torch.set_mode("compute")
        self.addCleanup(neuronx_mem.torch.set_sdpa, "math")
        attention = torch.nn.functional.scaled_dot_product_attention
        results = []
        for choice in ("math", "flash"):
            neuronx_mem.torch.set_sdpa(choice)
            torch.manual_seed(0)
            q = torch.randn(2, 4, 32, 16).to("neuron").requires_grad_()
            k, v = (torch.randn(2, 2, 32, 16).to("neuron").requires_grad_() for _ in range(2))
            torch.manual_seed(1)
            result = attention(q, k, v, dropout_p=0.2, is_causal=True, enable_gqa=True)
            result.square().sum().backward()
            results.append([t.detach().cpu() for t in (result, q.grad, k.grad, v.grad)])
        for mine, other in zip(*results):
            torch.testing.assert_close(mine, other, rtol=1e-5, atol=1e-5)


class SameMemory(unittest.TestCase):
    """Both modes take the same memory in the same order."""

    def check(self, names, sdpa):
        compute, plan = (
            json.loads(run(SIZES, *names, NEURONX_MEM_MODE=mode, NEURONX_MEM_SDPA=sdpa))
            for mode in ("compute", "plan")
        )
        for name in names:
            with self.subTest(name):
                self.assertGreater(len(compute[name]["sizes"]), 50)
                self.assertEqual(compute[name], plan[name])
                self.assertEqual(compute[name]["left"], 0)

    def test_all(self):
        self.check(NAMES, "math")

    def test_flash_attention(self):
        self.check(("transformer", "gpt2"), "flash")


if __name__ == "__main__":
    unittest.main()

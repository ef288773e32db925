"""Models that are trained on both devices, with their inputs and losses."""

import logging

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    """A basic block of ResNet."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.first = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(after)
        self.second = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(after)
        is_same = stride == 1 and before == after
        self.shortcut = (
            nn.Identity()
            if is_same
            else nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))
        )

    def forward(self, x):
        y = F.relu(self.first_norm(self.first(x)))
        return F.relu(self.second_norm(self.second(y)) + self.shortcut(x))


def resnet18():
    """ResNet-18 for ten classes."""
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    before = 64
    for after, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(before, after, stride), Block(after, after, 1)]
        before = after
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


class Recurrent(nn.Module):
    """Two layers of a recurrent kind, and a head."""

    def __init__(self, kind, **options):
        super().__init__()
        self.body = kind(16, 32, num_layers=2, **options)
        self.head = nn.Linear(64 if self.body.bidirectional else 32, 4)

    def forward(self, x):
        return self.head(self.body(x)[0])


class Transformer(nn.Module):
    """A language model of four encoder layers with dropout."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(128, 4, 512, batch_first=True, dropout=0.1, norm_first=True)
        self.embedding = nn.Embedding(1000, 128)
        self.body = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = nn.Linear(128, 1000)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.size(1), device=tokens.device)
        return self.head(self.body(self.embedding(tokens), mask=mask, is_causal=True))


def linear():
    """Two linear layers."""
    return nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Dropout(0.1), nn.Linear(512, 10))


def gpt2():
    """A small GPT-2 with random weights, and its weights tied."""
    logging.getLogger("transformers").setLevel(logging.ERROR)
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        n_layer=2, n_embd=128, n_head=4, vocab_size=500, n_positions=64, bos_token_id=0, eos_token_id=0
    )
    return GPT2LMHeadModel(config)


def _next_token(model, tokens):
    return F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())


def cases():
    """Each model by name: how to build it, its data, its loss."""
    torch.manual_seed(20)
    labels = torch.randint(0, 10, (4,))
    sequence = torch.randn(7, 5, 16)
    square = lambda model, x: model(x).square().mean()  # noqa: E731
    entropy = lambda model, x, y: F.cross_entropy(model(x), y)  # noqa: E731
    return {
        "linear": (linear, [torch.randn(4, 256), labels], entropy),
        "transformer": (Transformer, [torch.randint(0, 1000, (4, 33))], _next_token),
        "resnet18": (resnet18, [torch.randn(4, 3, 64, 64), labels], entropy),
        "lstm": (lambda: Recurrent(nn.LSTM, bidirectional=True, dropout=0.2), [sequence], square),
        "gru": (lambda: Recurrent(nn.GRU, batch_first=True), [sequence], square),
        "gpt2": (gpt2, [torch.randint(0, 500, (2, 64))], lambda model, ids: model(ids, labels=ids).loss),
    }

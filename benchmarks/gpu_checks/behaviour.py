# SPDX-License-Identifier: Apache-2.0
"""
Behaviour of calls besides the computation: in-place writes, streams, graphs, threads,
`torch.compile`. Each check raises `AssertionError` if the behaviour is wrong.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch import Tensor, nn

from gpu_checks.device import Device


class _Layers(nn.Module):
    """Module with more launches than a plan needs to become a CUDA graph."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in ((32, 48), (48, 16), (16, 32)))
        self.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = torch.softmax(layer(x), -1)
        return x


class _Counter(nn.Module):
    """Module that counts its calls, and writes its input."""

    count: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(33))

    def forward(self, x: Tensor) -> Tensor:
        self.count.add_(1)
        x.mul_(2)
        return x + self.count


def _same(found: Any, expected: Any) -> None:
    torch.testing.assert_close(found.cpu(), expected.cpu(), rtol=1e-4, atol=1e-5)


def _inputs(device: Device, number: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(number)
    return [torch.randn(4, 32, generator=generator).to(device.place) for _ in range(number)]


def mutation(device: Device) -> None:
    """Raise `AssertionError` unless inputs and buffers are written in place, also strided ones."""
    module = _Counter().to(device.place)
    x = torch.randn(33, device=device.place)
    program = device.program(module, x.clone())
    before = module.count.clone()
    for calls in (1, 2):
        given = torch.stack([x, x], 1)[:, 0]
        _same(program(given), 2 * x + before + calls)
        _same(given, 2 * x)
        _same(module.count, before + calls)


def calls(device: Device) -> None:
    """
    Raise `AssertionError` unless calls see their own inputs, own their results, and see changed
    weights.
    """
    model = _Layers().to(device.place)
    inputs = _inputs(device, 6)
    program = device.program(model, inputs[0])
    kept = [program(x) for x in inputs]
    for x, result in zip(inputs, kept, strict=True):
        _same(result, model(x))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(0.5)
    _same(program(inputs[0]), model(inputs[0]))


def threads(device: Device) -> None:
    """Raise `AssertionError` unless several threads can call one program at the same time."""
    model = _Layers().to(device.place)
    inputs = _inputs(device, 8)
    program = device.program(model, inputs[0])
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(program, inputs))
    for x, result in zip(inputs, results, strict=True):
        _same(result, model(x))


def torch_compile(device: Device) -> None:
    """
    Raise `AssertionError` unless `torch.compile` is right for a part that is not compiled, views of
    inputs, and new shapes.
    """
    from tilewright.torch_compile import backend

    model = _Layers().to(device.place)
    options = {"device": "gpu" if device.is_gpu else "sim"}

    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        y = model(x)
        return torch.sort(y, -1)[0] + 1, x[:, :7]

    pytorch: Any = torch  # the type annotations know only the options of another backend
    compiled = pytorch.compile(function, backend=backend, options=options)
    with torch.no_grad():
        for x in (*_inputs(device, 2), _inputs(device, 1)[0][:3]):
            for found, expected in zip(compiled(x), function(x), strict=True):
                assert found.device == expected.device
                _same(found, expected)


def stream(device: Device) -> None:
    """Raise `AssertionError` unless calls are queued on PyTorch's current stream."""
    model = _Layers().to(device.place)
    (x,) = _inputs(device, 1)
    program = device.program(model, x)
    torch.cuda.synchronize()
    for other in (torch.cuda.Stream(), torch.cuda.Stream()):
        with torch.cuda.stream(other):
            results = [program(x), program(x)]
        other.synchronize()
        for result in results:
            _same(result, model(x))


def captured(device: Device) -> None:
    """Raise `AssertionError` unless the user can capture calls in a CUDA graph."""
    model = _Layers().to(device.place)
    x, y = _inputs(device, 2)
    program = device.program(model, x)
    program(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = program(x)
    for given in (x.clone(), y):
        x.copy_(given)
        graph.replay()
        torch.cuda.synchronize()
        _same(result, model(given))
        _same(program(given), model(given))


def captured_sums(device: Device) -> None:
    """
    Raise `AssertionError` unless sums that many blocks share are right at each replay of a CUDA
    graph.
    """
    x, w = torch.randn(32, 4096) / 64, torch.randn(4096, 96)
    x, w = x.to(device.place), w.to(device.place)
    program = device.program(torch.matmul, x, w)
    program(x, w)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = [program(x, w) for _ in range(2)]
    for number in range(3):
        x.mul_(1 + number)
        graph.replay()
        torch.cuda.synchronize()
        for result in (*results, program(x, w)):
            _same(result, x @ w)


ANYWHERE: Mapping[str, Callable[[Device], None]] = {
    "mutation": mutation,
    "calls": calls,
    "threads": threads,
    "torch_compile": torch_compile,
}
ON_GPU: Mapping[str, Callable[[Device], None]] = {
    "stream": stream,
    "captured": captured,
    "captured_sums": captured_sums,
}
"""Checks that need a GPU, by name; the simulator cannot run them."""

# SPDX-License-Identifier: Apache-2.0
"""Host code of a plan, run on the simulator: tensors in, tensors out, as in PyTorch."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
import pytest
import torch
from nvrtc_needed import need_nvrtc
from torch import nn

from tilewright.api import CompiledProgram, capture
from tilewright.codegen.runtime import loaded_plan
from tilewright.codegen.runtime.driver import Arguments, DriverError, Memory
from tilewright.codegen.runtime.gpu_backend import GpuBackend
from tilewright.codegen.runtime.loaded_plan import LoadedPlan
from tilewright.codegen.runtime.simulated_driver import (
    SimulatedDriver,
    SimulatedFunction,
    SimulatedGraph,
)
from tilewright.codegen.runtime.tensors import Loader, Stream
from tilewright.errors import UsageError

Compile = Callable[..., CompiledProgram]


def loaded(program: CompiledProgram) -> LoadedPlan:
    """Return the program's plan, with its kernels loaded."""
    assert isinstance(program.backend, GpuBackend)
    return program.backend.load(program.plan)


@pytest.fixture(autouse=True)
def _poisoned_memory() -> Any:
    """New memory is filled with NaN, which shows elements that no kernel writes."""
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> list[Arguments]:
    """The arguments that kernels are bound to, in order."""
    seen: list[Arguments] = []
    bind = SimulatedFunction.bind

    def spy(self: SimulatedFunction, launch: Any, arguments: Arguments) -> Any:
        seen.append(arguments)
        return bind(self, launch, arguments)

    monkeypatch.setattr(SimulatedFunction, "bind", spy)
    return seen


def rows(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Return random numbers."""
    return torch.randn(shape).to(dtype)


def unaligned(x: torch.Tensor) -> torch.Tensor:
    """Return a copy of `x` that begins one element after an aligned address."""
    room = torch.empty(x.numel() + 1, dtype=x.dtype)
    room[1:] = x.reshape(-1)
    return room[1:].view(x.shape)


def and_itself(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a new tensor and the input."""
    return x + 1, x


def doubled(x: torch.Tensor) -> torch.Tensor:
    """Double `x` in place."""
    return x.mul_(2)


def summed(x: torch.Tensor) -> torch.Tensor:
    """Sum over the rows."""
    return x.sum(0)


LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "as it is": lambda x: x,
    "transposed": lambda x: x.T.contiguous().T,
    "strided": lambda x: x.repeat_interleave(2, 1)[:, ::2],
    "unaligned": unaligned,
    "expanded": lambda x: x[:1].expand(x.shape),
    "negated lazily": lambda x: torch.complex(x, -x).conj().imag,
    "a parameter": lambda x: nn.Parameter(x.clone()),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_inputs_may_have_any_layout(layout: str, compile: Compile, passed: list[Arguments]):
    norm = nn.RMSNorm(64, elementwise_affine=False)
    program = compile(norm, rows(8, 64))
    x = LAYOUTS[layout](rows(8, 64))
    torch.testing.assert_close(program(x), norm(x).detach())
    needs = program.plan.alignments
    assert needs == (16,)
    assert [memory.address % 16 for memory in passed[0].inputs] == [0]
    is_passed_uncopied = passed[0].inputs[0].address == x.data_ptr()
    assert is_passed_uncopied is (layout in ("as it is", "a parameter"))


DTYPES = (torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.int64, torch.uint8)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes(dtype: torch.dtype, compile: Compile):
    x = (10 * rows(5, 7)).to(dtype)
    result = compile(torch.add, x, x)(x, x)
    assert result.dtype is dtype
    assert torch.equal(result, x + x)


def test_bools(compile: Compile):
    x = rows(33) > 0
    assert torch.equal(compile(torch.logical_not, x)(x), ~x)


def test_scalars_and_nothing(compile: Compile):
    x = torch.tensor(1.5)
    result = compile(torch.neg, x)(x)
    assert result.shape == ()
    assert result.item() == -1.5
    empty = torch.empty(0, 3)
    assert compile(torch.exp, empty)(empty).shape == (0, 3)
    assert compile(torch.sum, empty)(empty).item() == 0


def test_a_scalar_that_is_copied(compile: Compile):
    x = torch.tensor(1 + 2j).conj().imag
    assert x.is_neg()
    assert compile(torch.exp, torch.tensor(0.0))(x).item() == pytest.approx(np.exp(-2))


def test_arrays_in_arrays_out(compile: Compile):
    x = np.ones((4, 4), np.float32)
    result = compile(torch.neg, x)(x)
    assert isinstance(result, np.ndarray)
    assert (result == -1).all()


def test_results_are_new_each_time(compile: Compile):
    program = compile(and_itself, rows(64))
    x = rows(64)
    (first, same), (second, _) = program(x), program(x)
    assert torch.equal(first, second)
    assert len({t.data_ptr() for t in (x, first, same, second)}) == 4


def test_a_value_returned_twice_is_two_tensors(compile: Compile):
    def twice(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x * 2
        return y, y

    one, other = compile(twice, rows(16))(rows(16))
    assert torch.equal(one, other)
    assert one.data_ptr() != other.data_ptr()


class Layers(nn.Module):
    """Model with at least four kernels, whose intermediate buffers share memory."""

    def __init__(self) -> None:
        super().__init__()
        sizes = (32, 48, 16, 32)
        self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in pairwise(sizes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.log_softmax(layer(x), -1)
        return x


class Compiled(NamedTuple):
    """The layers, and the program compiled from them."""

    model: Layers
    program: CompiledProgram


@pytest.fixture(scope="module")
def compiled_once() -> Compiled:
    """The layers, compiled once for all tests of this file."""
    need_nvrtc()
    model = Layers()
    captured = capture(model, rows(4, 32))
    return Compiled(
        model, CompiledProgram(captured, GpuBackend("sm_90a", SimulatedDriver()), "sm_90a")
    )


@pytest.fixture
def layers(compiled_once: Compiled) -> Compiled:
    """The compiled layers with no kernel loaded, as before the first call."""
    vars(compiled_once.program).pop("_run", None)
    return compiled_once


def test_calls_see_their_own_inputs(layers: Compiled):
    """After the first call, the steps are a graph whose arguments change with the addresses."""
    model, program = layers
    assert len(program.kernels) >= 4
    assert program.plan.slab.slots
    kept: list[torch.Tensor] = []
    for _ in range(4):
        x = rows(4, 32)
        kept.append(x)
        torch.testing.assert_close(program(x), model(x))


def test_a_graph_is_the_launches(layers: Compiled):
    (model, program), x = layers, rows(4, 32)
    plan = program.plan
    named = dict(model.named_parameters())
    tensors = [named[plan.source_names[n]] if n in plan.source_names else x for n in range(7)]
    with_graph = LoadedPlan(plan, SimulatedDriver(), "sm_90a")
    without = LoadedPlan(plan, SimulatedDriver(), "sm_90a", graph_from=None)
    for _ in range(2):
        (one,), (other,) = with_graph(tensors), without(tensors)
        assert torch.equal(one, other)


def test_a_driver_without_graphs(layers: Compiled, monkeypatch: pytest.MonkeyPatch):
    asked: list[int] = []

    def refuse(self: SimulatedDriver, steps: Any) -> Any:
        asked.append(len(steps))
        raise DriverError("no graphs")

    monkeypatch.setattr(SimulatedDriver, "graph", refuse)
    model, program = layers
    x = rows(4, 32)
    with pytest.warns(RuntimeWarning, match="^kernels are launched one by one: no graphs"):
        torch.testing.assert_close(program(x), model(x))
    for _ in range(2):
        x = rows(4, 32)
        torch.testing.assert_close(program(x), model(x))
    assert asked == [len(program.kernels)]


def test_a_graph_that_cannot_be_updated_is_given_up(
    layers: Compiled, monkeypatch: pytest.MonkeyPatch
):
    """
    A graph that cannot be updated is given up: results at new addresses would need a new graph.
    """
    made: list[int] = []
    init = SimulatedGraph.__init__

    def refuse(self: SimulatedGraph, step: int, bound: Any) -> None:
        raise DriverError("not this one")

    def spy(self: SimulatedGraph, steps: Any) -> None:
        made.append(len(steps))
        init(self, steps)

    monkeypatch.setattr(SimulatedGraph, "update", refuse)
    monkeypatch.setattr(SimulatedGraph, "__init__", spy)
    model, program = layers
    kept: list[torch.Tensor] = []
    for _ in range(4):
        x = rows(4, 32)
        kept.append(program(x))
        torch.testing.assert_close(kept[-1], model(x))
    assert made == [len(program.kernels)]


def test_step_by_step_and_graphs_may_alternate(layers: Compiled):
    (model, program), x = layers, rows(4, 32)
    plan = program.plan
    named = dict(model.named_parameters())
    run = LoadedPlan(plan, SimulatedDriver(), "sm_90a")
    for step_by_step in (False, True, False, False):
        x = rows(4, 32)
        given = [named[plan.source_names[n]] if n in plan.source_names else x for n in range(7)]
        (result,) = run(given, step_by_step=step_by_step)
        torch.testing.assert_close(result, model(x))


def test_only_launches_with_new_addresses_are_bound_again(
    layers: Compiled, passed: list[Arguments]
):
    program = layers.program
    x = rows(4, 32)
    kept = [program(x)]
    first = len(passed)
    assert first == len(program.kernels)
    kept.append(program(x))
    assert len(passed) - first == 1  # the launch that writes the result


class Transposed(nn.Module):
    """Module with a parameter and a buffer that are only read permuted."""

    w: torch.Tensor
    b: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_parameter("w", nn.Parameter(rows(5, 3)))
        self.register_buffer("b", rows(5, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.w.t() * self.b.t()


def test_parameters_that_are_permuted_are_copied_once(compile: Compile, passed: list[Arguments]):
    module, x = Transposed(), rows(3, 5)
    program = compile(module, x)
    assert len(program.plan.permuted) == 2
    kept: list[torch.Tensor] = []
    for _ in range(3):
        kept.append(program(x))
        torch.testing.assert_close(kept[-1], module(x).detach())
    assert len(passed) == 3  # one for each result
    assert len({arguments.inputs for arguments in passed}) == 1
    with torch.no_grad():
        module.w.mul_(2)
    torch.testing.assert_close(program(x), module(x).detach())
    module.w.data = rows(5, 3)
    module.b = module.b.mul_(2)
    torch.testing.assert_close(program(x), module(x).detach())


def test_copies_for_a_users_graph(compile: Compile):
    """
    A copy captured in a user's graph is made when the graph runs, and its memory stays in place.
    """
    module = Transposed()
    plan = compile(module, rows(3, 5)).plan
    loader = Loader(plan, next(iter(plan.permuted)), "cpu")
    weight = module.w.detach()
    captured = loader.copy_of(weight, is_capturing=True)
    own = loader.copy_of(weight)
    assert own is not captured
    assert loader.copy_of(weight, is_capturing=True) is own
    address, graphs = own.data_ptr(), ref(own)
    del own
    weight.mul_(2)
    assert loader.copy_of(weight).data_ptr() != address
    assert graphs() is not None


def test_a_buffer_made_in_inference_mode(compile: Compile):
    """PyTorch counts no changes of inference tensors: they are copied at each call."""
    module, x = Transposed(), rows(3, 5)
    with torch.inference_mode():
        module.b = rows(5, 3)
    program = compile(module, x)
    for _ in range(2):
        with torch.inference_mode():
            torch.testing.assert_close(program(x), module(x))
            module.b.mul_(2)


class Counter(nn.Module):
    """Module that counts its calls and writes into its input."""

    count: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(1)
        x.mul_(2)
        return x + self.count


def test_inputs_and_buffers_are_written_in_place(compile: Compile):
    module, x = Counter(), rows(3)
    program = compile(module, x.clone())
    before = module.count.clone()
    for calls in (1, 2):
        given = x.clone()
        assert torch.equal(program(given), 2 * x + before + calls)
        assert torch.equal(given, 2 * x)
        assert torch.equal(module.count, before + calls)


def test_strided_memory_is_written_in_place(compile: Compile):
    program = compile(doubled, rows(4, 4))
    x = rows(4, 8)
    expected = x.clone()
    expected[:, ::2] *= 2
    program(x[:, ::2])
    assert torch.equal(x, expected)


def test_written_memory_may_not_be_shared(compile: Compile):
    program = compile(torch.Tensor.add_, rows(4), rows(4))
    both = rows(6)
    with pytest.raises(UsageError, match="shares memory with "):
        program(both[:4], both[2:])
    halves = rows(8)
    expected = halves[::2] + halves[1::2]
    assert torch.equal(program(halves[::2], halves[1::2]), expected)


def test_an_intermediate_buffer_in_the_place_of_another(compile: Compile):
    w = rows(16, 16)

    def residual(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        h = torch.relu(x @ w)
        return (h + torch.sin(torch.relu(h @ w) @ w)) @ w

    program = compile(residual, rows(16, 16), w)
    x = rows(16, 16)
    for _ in range(2):
        torch.testing.assert_close(program(x, w), residual(x, w), rtol=1e-4, atol=1e-4)


def test_sums_of_many_blocks(compile: Compile):
    """Blocks join by counters that are filled once, or by atomics on filled memory."""
    program = compile(summed, rows(4096, 8))
    plan = program.plan
    for _ in range(3):
        x = rows(4096, 8)
        torch.testing.assert_close(program(x), x.sum(0), rtol=1e-4, atol=1e-4)
    assert plan.launches


def test_counters_of_a_captured_graph_are_filled_once(monkeypatch: pytest.MonkeyPatch):
    """Calls of one graph run in order and share counters; another graph has its own."""
    backend = GpuBackend("sm_80", SimulatedDriver())  # its shared sums use counters
    captured = capture(summed, rows(4096, 8))
    plan, filled = loaded(CompiledProgram(captured, backend, "sm_80")), list[int]()
    assert plan.plan.kept
    bind_fill = SimulatedDriver.bind_fill

    def spy(self: SimulatedDriver, memory: Memory, value: float, name: str) -> Any:
        filled.append(memory.address)
        return bind_fill(self, memory, value, name)

    def now(is_capturing: bool, graph: int) -> None:
        def capture(self: SimulatedDriver, stream: int) -> int:
            return graph

        def current_stream(device: str) -> Stream:
            return Stream(7, is_capturing)

        monkeypatch.setattr(SimulatedDriver, "capture", capture)
        monkeypatch.setattr(loaded_plan, "current_stream", current_stream)

    monkeypatch.setattr(SimulatedDriver, "bind_fill", spy)
    for graph in (1, 2):
        now(True, graph)
        for _ in range(3 - graph):
            x = rows(4096, 8)
            torch.testing.assert_close(plan([x]), [x.sum(0)], rtol=1e-4, atol=1e-4)
            assert len(filled) == graph * len(plan.plan.kept)
    now(False, 0)
    plan([rows(4096, 8)])
    assert len(filled) == 3 * len(plan.plan.kept)


def test_threads(layers: Compiled):
    model, program = layers
    inputs = [rows(4, 32) for _ in range(6)]
    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(program, inputs))
    for x, result in zip(inputs, results, strict=True):
        torch.testing.assert_close(result, model(x))


def test_results_need_no_gradient(compile: Compile):
    x = rows(8).requires_grad_()
    program = compile(torch.neg, x)
    assert not program(x).requires_grad
    with torch.inference_mode():
        assert torch.equal(program(x), -x)


MISFITS = {
    "shape": (torch.zeros(3), r"argument .*float32\[3\]"),
    "dtype": (torch.zeros(8, dtype=torch.float64), r"argument .*float64\[8\]"),
}


@pytest.mark.parametrize("argument_error", MISFITS)
def test_inputs_must_fit(argument_error: str, compile: Compile):
    given, message = MISFITS[argument_error]
    with pytest.raises(UsageError, match=message):
        compile(torch.exp, rows(8))(given)


def test_tensors_of_a_plan_must_fit(compile: Compile):
    run = loaded(compile(torch.exp, rows(8)))
    with pytest.raises(UsageError, match="takes 1 input, got 2"):
        run([rows(8), rows(8)])
    with pytest.raises(UsageError, match=r"is float32\[4\], but the program takes float32\[8\]"):
        run([rows(4)])
    with pytest.raises(UsageError, match=r"is float64\[8\]"):
        run([rows(8).double()])

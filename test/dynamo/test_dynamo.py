# SPDX-License-Identifier: Apache-2.0
"""
`torch.compile` with this backend equals PyTorch: in values, in strides and memory, and in what it
writes in place. Graphs are run by the interpreters here.
"""

import copy
import re
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo import config
from torch.utils import _pytree as pytree

from tilewright.arrays import as_array
from tilewright.errors import UnsupportedError
from tilewright.frontend.capture import Captured
from tilewright.frontend.dynamo import LazyGraph, callable_for_graph
from tilewright.frontend.kernels import Compile
from tilewright.frontend.warnings_once import NotCompiled, forget
from tilewright.interpreters import interpret

from .modules import CASES, Case


def behind_dynamo(compile: Compile) -> Callable[..., Any]:
    """Return a backend of `torch.compile` that compiles graphs with `compile`."""

    def backend(graph: Any, inputs: Sequence[Any]) -> Callable[..., Any]:
        return callable_for_graph(graph, compile)

    return backend


def compiled_by(compile: Compile, function: Any, **options: Any) -> Any:
    """Return `function` compiled by `torch.compile` with that backend."""
    return cast(Any, torch).compile(function, backend=behind_dynamo(compile), **options)


class Interpreted:
    """Compiler that interprets captured programs, and keeps a list of them."""

    def __init__(self) -> None:
        self.captured: list[Captured] = []

    def __call__(self, captured: Captured) -> Callable[[Sequence[Any]], list[Any]]:
        self.captured.append(captured)
        return lambda values: interpret(captured.module, *map(as_array, values))

    def compile(self, function: Any, **options: Any) -> Any:
        """Return `function` compiled by `torch.compile` with this compiler."""
        return compiled_by(self, function, **options)


@pytest.fixture
def compiler() -> Interpreted:
    """New compiler, which has compiled nothing."""
    return Interpreted()


def tensors(*values: Any) -> list[Tensor]:
    """Return all tensors in nested values."""
    return [leaf for leaf in pytree.tree_leaves(values) if isinstance(leaf, Tensor)]


def sharing(values: Sequence[Tensor]) -> list[tuple[int, int, int]]:
    """Return the pairs of tensors that share memory, and the distance of their addresses."""
    return [
        (i, j, other.data_ptr() - one.data_ptr())
        for i, one in enumerate(values)
        for j, other in enumerate(values)
        if i < j and one.numel() and other.numel()
        and one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()
    ]  # fmt: skip


def check(case: Case, compiled: Callable[..., Any], eager: Callable[..., Any]) -> None:
    """Check that all calls of a case have equal results and effects in both callables."""
    state = [
        [*f.state_dict().values()] if isinstance(f, nn.Module) else [] for f in (compiled, eager)
    ]
    for args in case.calls:
        ours, theirs = copy.deepcopy((args, case.kwargs)), copy.deepcopy((args, case.kwargs))
        got, expected = compiled(*ours[0], **ours[1]), eager(*theirs[0], **theirs[1])
        torch.testing.assert_close(got, expected)
        torch.testing.assert_close(tensors(ours), tensors(theirs))
        torch.testing.assert_close(*state)
        assert [t.stride() for t in tensors(got)] == [t.stride() for t in tensors(expected)]
        one, other = tensors(ours, state[0], got), tensors(theirs, state[1], expected)
        assert sharing(one) == sharing(other)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings(
    "error",
    # Dynamo's own clean-up fails, at any time, where a namespace no longer exists.
    "ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning",
)
def test_it_does_what_pytorch_does(name: str, compiler: Interpreted):
    case = CASES[name]
    eager = case.make()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", NotCompiled)
        check(case, compiler.compile(copy.deepcopy(eager)), eager)
    messages = [str(warning.message) for warning in warned]
    assert bool(messages) is bool(case.warning), messages
    assert all(re.search(case.warning, message) for message in messages), messages
    assert bool(compiler.captured) == case.kernels


def test_open_sizes_are_fixed_at_the_call(compiler: Interpreted):
    """Dynamo passes two graphs: one for the first size, and then one for all sizes."""

    def times_rows(x: Tensor) -> Tensor:
        return x * x.shape[0]

    scale = compiler.compile(times_rows)
    for rows in (2, 3, 5, 3, 2):
        x = torch.randn(rows, 4)
        assert torch.equal(scale(x), x * rows)
    shapes = [tuple(captured.inputs[0].tensor.shape) for captured in compiler.captured]
    assert shapes == [(2, 4), (3, 4), (5, 4), (2, 4)]


def test_graphs_may_be_dynamic_from_the_start(compiler: Interpreted):
    def pairs(x: Tensor) -> Tensor:
        return x.reshape(-1, 2) * 2

    double = compiler.compile(pairs, dynamic=True, fullgraph=True)
    for size in (4, 6):
        x = torch.randn(size)
        assert torch.equal(double(x), pairs(x))


def test_parameters_keep_their_names_and_equal_layers_are_one_function(compiler: Interpreted):
    model = nn.Sequential(*(nn.Sequential(*(nn.Linear(4, 4) for _ in range(4))) for _ in range(3)))
    compiler.compile(model)(torch.randn(2, 4))
    (captured,) = compiler.captured
    named = {(i.name, i.kind) for i in captured.inputs if i.kind != "input"}
    assert named == {(name, "parameter") for name, _ in model.named_parameters()}
    assert len([*captured.module.ops]) == 2


def test_names_that_modules_have_already_are_no_trouble(compiler: Interpreted):
    one, other = (nn.Module() for _ in range(2))
    for module, name in ((one, "graph"), (one, "w"), (other, "w")):
        module.register_parameter(name, nn.Parameter(torch.randn(2)))

    def use(x: Tensor) -> Any:
        return x * cast(Any, one).graph + one.w - cast(Any, other).w

    x = torch.randn(2)
    assert torch.equal(compiler.compile(use)(x), use(x))


def test_changed_and_replaced_parameters_are_seen(compiler: Interpreted):
    model, x = nn.Linear(3, 2), torch.randn(4, 3)
    compiled = compiler.compile(model)
    for step in range(4):
        torch.testing.assert_close(compiled(x), model(x))
        model.weight.add_(1)
        if step == 1:
            model.bias = nn.Parameter(torch.randn(2))
        if step == 2:
            model.load_state_dict({"weight": torch.ones(2, 3), "bias": torch.ones(2)})
    assert len(compiler.captured) <= 2


def test_gradients_are_left_to_pytorch(compiler: Interpreted):
    model, x = nn.Linear(3, 2), torch.randn(4, 3)
    compiled = compiler.compile(model)
    with torch.enable_grad():
        with pytest.warns(NotCompiled, match=r"records gradients.*torch\.no_grad\(\)"):
            compiled(x).sum().backward()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled(torch.randn(5, 3)).sum().backward()
    assert model.weight.grad is not None
    assert not compiler.captured


def test_what_needs_no_gradients_is_compiled_in_grad_mode(compiler: Interpreted):
    frozen = nn.Linear(3, 2).requires_grad_(False)
    learned = nn.Linear(3, 2)

    @torch.no_grad()
    def infer(x: Tensor) -> Tensor:
        return learned(x)

    x = torch.randn(4, 3)
    with torch.enable_grad():
        for function in (frozen, infer):
            torch.testing.assert_close(compiler.compile(function)(x), function(x))
    assert len(compiler.captured) == 2


def test_inference_mode(compiler: Interpreted):
    model, x = nn.Linear(3, 2), torch.randn(4, 3)
    compiled = compiler.compile(model)
    with torch.inference_mode():
        inside = torch.randn(4, 3)
        for _ in range(2):
            assert compiled(x).is_inference()
            torch.testing.assert_close(compiled(inside), model(inside))
    torch.testing.assert_close(compiled(x), model(x))
    assert compiler.captured


def test_autocast(compiler: Interpreted):
    model, x = nn.Linear(3, 2), torch.randn(4, 3)
    compiled = compiler.compile(model)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(compiled(x), model(x))
    torch.testing.assert_close(compiled(x), model(x))
    assert compiler.captured


def test_a_recurrent_layer_if_dynamo_lets_it_through(compiler: Interpreted):
    model, x = nn.LSTM(3, 4, batch_first=True), torch.randn(2, 3, 3)
    with cast(Any, config).patch(allow_rnn=True):
        with warnings.catch_warnings(record=True) as warned:
            torch.testing.assert_close(compiler.compile(model)(x), model(x))
    # PyTorch 2.11 gets the last state wrong.
    assert compiler.captured or "gets the last state" in str(warned[0].message)


def test_inputs_that_are_written_and_share_memory_are_left_to_pytorch(compiler: Interpreted):
    def shift(x: Tensor, y: Tensor) -> Tensor:
        x.add_(1)
        return y * 2

    compiled = compiler.compile(shift)
    apart = torch.zeros(2, 4)
    assert compiled(apart[0], apart[1]).tolist() == [0.0] * 4
    both = torch.zeros(6)
    with pytest.warns(NotCompiled, match="shares memory"):
        assert compiled(both[:4], both[2:]).tolist() == [2.0, 2.0, 0.0, 0.0]


def test_an_input_that_is_written_and_overlaps_itself_is_left_to_pytorch(compiler: Interpreted):
    def shift(x: Tensor) -> Tensor:
        return x.add_(1)

    compiled = compiler.compile(shift)
    windows, expected = (torch.zeros(20).as_strided((4, 5), (2, 1)) for _ in range(2))
    with pytest.warns(NotCompiled, match="share memory"):
        assert torch.equal(compiled(windows), expected.add_(1))


def test_tensors_that_kernels_cannot_take_are_left_to_pytorch(compiler: Interpreted):
    class Tagged(Tensor):
        pass

    compiled = compiler.compile(torch.square)
    with pytest.warns(NotCompiled, match="on the device meta"):
        assert compiled(torch.ones(2, device="meta")).is_meta
    with pytest.warns(NotCompiled, match="negated lazily"):
        assert compiled(torch.tensor([2j]).conj().imag).item() == 4.0
    with pytest.warns(NotCompiled, match="an input is a Tagged"):
        assert torch.equal(compiled(torch.ones(2).as_subclass(Tagged)), torch.ones(2))
    assert not compiler.captured


def test_numbers_that_never_repeat_end_in_pytorch(
    compiler: Interpreted, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tilewright.frontend.dynamo.MOST_KINDS", 3)
    compiled, x = compiler.compile(torch.mul), torch.ones(2)
    for step in range(4):
        assert torch.equal(compiled(x, step / 7), x * (step / 7))
    with pytest.warns(NotCompiled, match="compiled for 3 kinds of inputs"):
        assert torch.equal(compiled(x, 0.5), x * 0.5)
    assert len(compiler.captured) == 4


def test_many_threads_compile_once(compiler: Interpreted):
    graphs: list[LazyGraph] = []

    def backend(graph: Any, inputs: Sequence[Any]) -> Callable[..., Any]:
        graphs.append(LazyGraph(graph, compiler))
        return graph.forward

    cast(Any, torch).compile(torch.sin, backend=backend)(torch.ones(3))
    start = threading.Barrier(4)
    results: list[Tensor] = []

    def call() -> None:
        start.wait()
        results.extend(graphs[0](torch.ones(3))[0] for _ in range(5))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 20
    assert all(torch.equal(result, torch.ones(3).sin()) for result in results)
    assert len(compiler.captured) == 1


def test_bugs_of_the_compiler_are_not_hidden():
    def fails(captured: Captured) -> Any:
        raise AssertionError("a bug")

    with pytest.raises(AssertionError, match="a bug"):
        compiled_by(fails, torch.sin)(torch.ones(2))


def test_what_cannot_be_lowered_runs_in_pytorch():
    def refuses(captured: Captured) -> Any:
        raise UnsupportedError("too wide")

    def part(x: Tensor) -> Tensor:
        return torch.sort(x + 1)[0] * 2

    for function in (torch.sin, part):
        with pytest.warns(NotCompiled) as warned:
            got = compiled_by(refuses, function)(torch.ones(2))
        assert "too wide" in str(warned[0].message)
        assert torch.equal(got, function(torch.ones(2)))
        forget()

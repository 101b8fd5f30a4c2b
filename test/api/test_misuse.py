# SPDX-License-Identifier: Apache-2.0
"""Mistakes in a REPL give a `UsageError` that names them, or work as they look."""

import copy
import pickle
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, cast

import numpy as np
import pytest
import torch
from needs import needs_nvrtc
from torch.testing._internal.two_tensor import TwoTensor

import tilewright
from tilewright.errors import UnsupportedError, UsageError

X = torch.ones(4, 6)

api: Any = tilewright  # the tests try what the type checker refuses


@pytest.fixture(scope="module")
def captured() -> Any:
    """Captured function of a dictionary of tensors."""
    return tilewright.capture(difference, {"a": X, "b": [X, 2]})


def difference(batch: dict[str, Any]) -> torch.Tensor:
    """Return a result that depends on the order of the tensors."""
    tensor, factor = batch["b"]
    return batch["a"] - tensor * factor


def generator(x: torch.Tensor) -> Generator[torch.Tensor]:
    """Yield a tensor, as generator functions do."""
    yield x


async def coroutine(x: torch.Tensor) -> torch.Tensor:
    """Return a tensor, as a coroutine does."""
    return x


MISTAKES: dict[str, tuple[Callable[[Any], object], str]] = {
    "kwargs": (
        lambda captured: api.compile(torch.relu, X, kwargs=[1]),
        "kwargs is a mapping of names to values, not list",
    ),
    "target": (
        lambda captured: api.compile(torch.relu, X, target=90),
        "a target is a name such as 'sm_90a', not 90",
    ),
    "database": (
        lambda captured: api.compile(torch.relu, X, db=3),
        "db is a path or a bool, not 3",
    ),
    "an empty name of a database": (
        lambda captured: api.compile(torch.relu, X, db=""),
        "db is a path or a bool, not ''",
    ),
    "an unknown precision": (
        lambda captured: api.compile(torch.relu, X, matmul_precision="hi"),
        "unknown matmul_precision 'hi' (known: highest, high, medium)",
    ),
    "a precision that is no text": (
        lambda captured: api.capture(torch.relu, X, matmul_precision=None),
        "unknown matmul_precision None (known: highest, high, medium)",
    ),
    "an unknown model of sums": (
        lambda captured: api.interpret(captured, X, X, matrix_sums="exact"),
        "unknown matrix_sums 'exact' (known: rounded-once, truncated)",
    ),
    "no database": (
        lambda captured: api.lower(captured, "loop", db=None),
        "db is a path or a bool, not None",
    ),
    "a number for a level": (
        lambda captured: api.lower(captured, 3),
        "unknown level '3' (levels: torch, tensor, loop, tile, kernel, cuda)",
    ),
    "a level in capitals": (
        lambda captured: api.lower(captured, "TILE"),
        "unknown level 'TILE' (did you mean tile?)",
    ),
    "a list of numbers": (
        lambda captured: api.interpret(captured, [[1.0] * 6] * 4, X),
        "argument 0 of @main has dtype float64, expected float32",
    ),
    "a text": (
        lambda captured: api.interpret(captured, "x", X),
        "argument 0 of @main has shape (), expected (4, 6)",
    ),
    "no inputs": (
        lambda captured: api.compile(difference),
        f"{__file__}:{difference.__code__.co_firstlineno}: 'difference' cannot be called with no "
        "inputs: missing a required argument: 'batch'\n    def difference(",
    ),
    "too many inputs": (
        lambda captured: api.compile(difference, X, X),
        f"{__file__}:{difference.__code__.co_firstlineno}: 'difference' cannot be called with 2 "
        "inputs: too many positional arguments\n",
    ),
    "no inputs of a module of PyTorch": (
        lambda captured: api.compile(torch.nn.Linear(3, 3)),
        "'Linear' cannot be called with no inputs: missing a required argument: 'input'",
    ),
    "a generator": (
        lambda captured: api.compile(generator, X),
        f"{__file__}:{generator.__code__.co_firstlineno}: 'generator' is a generator function: "
        "return a tensor, or a tuple or list of them\n    def generator(",
    ),
    "a partial of a coroutine": (
        lambda captured: api.compile(partial(coroutine, X)),
        f"{__file__}:{coroutine.__code__.co_firstlineno}: 'coroutine' is a coroutine: return",
    ),
    "a copy": (copy.deepcopy, "a captured program cannot be copied or pickled"),
    "a pickle": (pickle.dumps, "a captured program cannot be copied or pickled"),
}


def plus_one(x: Any) -> Any:
    """Add a number to the input."""
    return x + 1


def plus_ones(x: Any) -> Any:
    """Add a tensor of the default dtype to the input."""
    return x + torch.ones(6)


def summed(x: Any) -> Any:
    """Return the sum of all elements."""
    return x.sum()


def added(x: Any) -> Any:
    """Write to a tensor that is no argument."""
    return TOTAL.add_(x)


def applied(x: Any, layer: Any) -> Any:
    """Call a module that is an argument."""
    return layer(x)


def calling(program: Any) -> Callable[[Any], Any]:
    """Return a function that calls a program."""

    def called(x: Any) -> Any:
        return program(x) + 1

    return called


TOTAL = torch.zeros(4, 6)
NESTED = cast(Any, torch).nested.nested_tensor([torch.ones(2), torch.ones(3)])

UNFIT: dict[str, tuple[Any, str]] = {
    "sparse": (X.to_sparse(), "has the layout sparse_coo (call to_dense())"),
    "nested": (NESTED, "is a nested tensor (call to_padded_tensor())"),
    "wrapped": (TwoTensor(X, X), "is a TwoTensor, which wraps other tensors (pass these)"),
}


@pytest.mark.parametrize("kind", UNFIT)
def test_tensors_that_are_no_plain_ones_are_refused_wherever_they_come_in(kind: str):
    value, message = UNFIT[kind]
    with pytest.raises(UsageError) as caught:
        tilewright.compile(torch.relu, value)
    assert str(caught.value) == f"argument [0] {message}"
    with pytest.raises(UsageError) as caught:
        tilewright.compile(torch.relu, X)(value)
    assert str(caught.value) == f"argument [0] {message}"
    with pytest.raises(UsageError) as caught:
        tilewright.interpret(tilewright.capture(torch.relu, X), value)
    assert str(caught.value) == f"argument 0 of @main {message}"


@pytest.mark.parametrize(
    ("dtype", "shown"), [(">f4", ">f4"), ("O", "object"), ("U1", "<U1"), ("M8[D]", "datetime64[D]")]
)
def test_arrays_of_dtypes_that_pytorch_does_not_have_are_refused(dtype: str, shown: str):
    with pytest.raises(UsageError) as caught:
        tilewright.capture(torch.relu, np.zeros(3, dtype))
    assert str(caught.value) == f"PyTorch has no tensors of NumPy's dtype {shown}"


def test_masked_arrays_are_refused_as_their_mask_would_be_lost():
    masked: Any = np.ma.masked_invalid(np.full((4, 6), np.nan, np.float32))
    message = "a masked array has no counterpart in PyTorch"
    with pytest.raises(UsageError, match=message):
        tilewright.capture(torch.relu, masked)
    captured = tilewright.capture(torch.relu, X)
    with pytest.raises(UsageError, match=message):
        tilewright.interpret(captured, masked)


def append(items: list[torch.Tensor]) -> torch.Tensor:
    """Append to the list that is passed in."""
    items.append(items[0] * 2)
    return items[0] + 1


def replace(items: dict[str, list[torch.Tensor]]) -> torch.Tensor:
    """Replace a tensor in a list that is passed in."""
    items["a"][0] = items["a"][0] * 2
    return items["a"][0] + 1


def test_a_list_that_the_program_changes_is_named():
    with pytest.raises(UsageError) as caught:
        tilewright.capture(append, [X])
    assert str(caught.value) == (
        "the program changes its argument [0], a list (return the new values)"
    )
    with pytest.raises(UsageError) as caught:
        tilewright.capture(replace, kwargs={"items": {"a": [X]}})
    assert str(caught.value) == (
        "the program changes its argument ['items'], a dict (return the new values)"
    )


@needs_nvrtc
def test_arrays_may_lie_as_no_tensor_does():
    backwards = np.arange(3, dtype=np.float32)[::-1]
    field = np.ones(3, [("a", "i1"), ("b", "f4")])["b"]
    for array in (backwards, field):
        program = tilewright.compile(plus_one, array, device="sim")
        np.testing.assert_array_equal(program(array), array + 1)


@needs_nvrtc
@pytest.mark.parametrize(
    ("baked", "other"), [(1, 1.0), (1, True), (1.0, 1), (0.0, -0.0), (2, np.int64(2))]
)
def test_equal_numbers_of_other_kinds_are_other_values(baked: Any, other: Any):
    program = tilewright.compile(torch.mul, torch.arange(3), baked, device="sim")
    with pytest.raises(UsageError, match="is baked in as"):
        program(torch.arange(3), other)
    assert program(torch.arange(3), baked).dtype == (torch.arange(3) * baked).dtype


def test_long_values_are_shortened_in_errors():
    program = tilewright.compile(torch.mul, X, 1.0, device="sim")
    with pytest.raises(UsageError) as caught:
        program(X, "x" * 1000)
    assert len(str(caught.value)) < 200


@needs_nvrtc
def test_a_size_is_a_tuple():
    program = tilewright.compile(torch.reshape, X, X.T.shape, device="sim")
    assert program(X, X.T.shape).shape == program(X, (6, 4)).shape == (6, 4)


def test_a_module_is_no_argument():
    with pytest.raises(UsageError, match=r"argument \[1\] is a module, ReLU"):
        tilewright.capture(applied, X, torch.nn.ReLU())


@pytest.mark.parametrize("compiles", [tilewright.compile, tilewright.capture])
def test_nothing_is_captured_during_a_capture(compiles: Any):
    def nested(x: Any) -> Any:
        return compiles(torch.relu, x)

    with pytest.raises(UsageError, match="compiled while another one is captured"):
        tilewright.capture(nested, X)
    tilewright.capture(torch.relu, X)


def test_a_program_is_not_called_by_what_is_traced():
    program = tilewright.compile(torch.relu, X, device="sim")
    with pytest.raises(UsageError, match="call the original function"):
        tilewright.capture(calling(program), X)
    with pytest.raises(UsageError, match=r"traced by a transform of torch\.func"):
        torch.vmap(program)(X[None])


@needs_nvrtc
def test_a_function_that_torch_compile_traces_may_call_a_program():
    program = tilewright.compile(torch.neg, X, device="sim")
    compiled = cast(Any, torch).compile(calling(program), backend="eager")
    assert torch.equal(compiled(3 * X), -3 * X + 1)


@needs_nvrtc
def test_the_default_device_is_not_where_values_go():
    with torch.device("meta"):
        result = tilewright.compile(torch.neg, X, device="sim")(X)
    assert torch.equal(result, -X)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_script_is_refused():
    with pytest.raises(UsageError, match="TorchScript cannot be captured"):
        tilewright.capture(cast(Any, torch).jit.trace(torch.nn.ReLU(), X), X)


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "gradients": (torch.func.grad(summed), r"torch\.func\.grad and the transforms"),
    "gradients of several": (torch.vmap(torch.func.grad(summed)), r"torch\.func\.grad and"),
    "a constant that is written": (
        added,
        "writes to a tensor that is neither an input nor in a module",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_refused_is_named(kind: str):
    function, message = REFUSED[kind]
    with pytest.raises(UnsupportedError, match=message):
        tilewright.capture(function, X)


def test_a_tensor_too_large_for_any_index_is_refused():
    x = torch.empty(2**62, dtype=torch.int8, device="meta")
    with pytest.raises(UnsupportedError, match="the input 'x' has 4611686018427387904 elements"):
        tilewright.compile(plus_one, x)


def test_the_default_dtype_is_named_where_a_result_depends_on_it():
    torch.set_default_dtype(torch.float64)
    try:
        with pytest.raises(UnsupportedError, match=r"the default dtype, torch\.float64"):
            tilewright.capture(plus_ones, X)
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(mistake: str, captured: Any):
    attempt, message = MISTAKES[mistake]
    with pytest.raises(UsageError) as caught:
        attempt(captured)
    assert str(caught.value).startswith(message)


def test_a_program_is_not_compiled_again():
    program = tilewright.compile(torch.relu, X, target="sm_90a", device="sim")
    with pytest.raises(UsageError, match="a compiled program cannot be captured"):
        tilewright.compile(program, X)
    with pytest.raises(UsageError) as caught:
        program([[0.0] * 60] * 60)
    assert str(caught.value).endswith(
        "not ([[float, float, float, ...], [float, float, float, ...], "
        "[float, float, float, ...], ...])"
    )
    with pytest.raises(UsageError, match="the program takes 1 input, got 0"):
        program.run([])


@needs_nvrtc
def test_keys_may_come_in_another_order():
    program = tilewright.compile(difference, {"a": X, "b": [X, 2]}, target="sm_90a", device="sim")
    result = program({"b": [3 * X, 2], "a": X})
    assert cast(torch.Tensor, result).equal(-5 * X)
    with pytest.raises(UsageError, match=r"not \({'b': \[Tensor, int\]}\)"):
        program({"b": [X, 2]})


def test_tensors_and_arrays_give_equal_results(captured: Any):
    (expected,) = tilewright.interpret(captured, X, X)
    (found,) = tilewright.interpret(captured, np.ones((4, 6), np.float32), X)
    np.testing.assert_array_equal(found, expected)

# SPDX-License-Identifier: Apache-2.0
"""The check of one Torch op: decomposed and interpreted, and compared with PyTorch's result."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region

from tilewright.arrays import array_of
from tilewright.dialects.torch.op import TorchOp
from tilewright.frontend.aten import build_op, overload_of, types_of
from tilewright.interpreters import interpret
from tilewright.passes.decompose.decompose import DecomposePass
from tilewright.passes.decompose.expand_scatter import ExpandScatterPass
from tilewright.passes.driver.verification import verify_module
from tilewright.passes.loop.lift import LiftPass

Check = Callable[..., list[Operation]]

_TOLERANCE = {"float64": 1e-11, "float32": 1e-5, "float16": 2e-3, "bfloat16": 1.6e-2}
"""Relative tolerances of some units in the last place, by dtype."""


def tensors_in(arguments: Any) -> Iterator[Any]:
    """Yield the tensors among arguments, also within lists."""
    import torch

    for argument in arguments:
        if isinstance(argument, torch.Tensor):
            yield argument
        elif isinstance(argument, list | tuple):
            yield from tensors_in(cast(Sequence[Any], argument))


def call_of(
    op: type[TorchOp], args: Sequence[Any], kwargs: Mapping[str, Any], expected: Any
) -> ModuleOp:
    """
    Return a module whose `@main` passes its arguments, the tensors, to one op.

    Its results have the types of `expected`.
    """
    tensors = [*tensors_in((*args, *kwargs.values()))]
    results = types_of(expected)
    body = Block(arg_types=types_of(tensors))
    call = build_op(op, tuple(args), kwargs, dict(zip(tensors, body.args, strict=True)), results)
    body.add_ops([call, ReturnOp(*call.results)])
    signature = FunctionType.from_lists([a.type for a in body.args], results)
    module = ModuleOp([FuncOp("main", signature, Region(body))])
    verify_module(module)
    return module


def assert_same(got: Any, tensor: Any, exact: bool = False) -> None:
    """Assert that an array has a tensor's shape, dtype and values, to the bit if `exact`."""
    expected = array_of(tensor)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    tolerance = 0.0 if exact else _TOLERANCE.get(expected.dtype.name, 0.0)
    if expected.dtype.name == "bfloat16":
        got, expected = got.astype(np.float32), expected.astype(np.float32)
    finite = expected[np.isfinite(expected)]
    largest = float(np.abs(finite).max(initial=1.0)) if tolerance else 0.0
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance / 10 * largest)


def _lifted(module: ModuleOp) -> ModuleOp:
    lifted = module.clone()
    ExpandScatterPass().apply(Context(), lifted)
    LiftPass().apply(Context(), lifted)
    return lifted


@pytest.fixture(scope="session")
def check() -> Check:
    """
    `check(op, *args, **kwargs)` compares an op with PyTorch's on real tensors, to the bit if
    `exact`.

    It compares at the tensor level and, if it `lifts`, at the loop level, and returns the ops of
    the decomposition.
    """

    def compare(
        op: type[TorchOp], *args: Any, exact: bool = False, lifts: bool = True, **kwargs: Any
    ):
        arrays = [array_of(tensor) for tensor in tensors_in((*args, *kwargs.values()))]
        expected = overload_of(op)(*args, **kwargs)
        module = call_of(op, args, kwargs, expected)
        DecomposePass().apply(Context(), module)
        for level in (module, _lifted(module)) if lifts else (module,):
            verify_module(level)
            results = interpret(level, *arrays)
            for got, tensor in zip(results, tensors_in([expected]), strict=True):
                assert_same(got, tensor, exact)
        (main,) = module.ops
        assert isinstance(main, FuncOp)
        return [op for op in main.body.block.ops if not isinstance(op, ReturnOp)]

    return compare

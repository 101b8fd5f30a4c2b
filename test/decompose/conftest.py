# SPDX-License-Identifier: Apache-2.0
"""One Torch op: decomposed and interpreted on the one hand, run by PyTorch on the other."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region

from tilewright.dialects.torch_op import TorchOp
from tilewright.frontend.aten import build_op, overload_of, type_of
from tilewright.interpreters import interpret
from tilewright.passes.decompose.decompose import DecomposePass
from tilewright.passes.verification import verify_module

Check = Callable[..., list[Operation]]


def is_tensor(argument: Any) -> bool:
    import torch

    return isinstance(argument, torch.Tensor)


def call_of(op: type[TorchOp], args: Sequence[Any], kwargs: Mapping[str, Any]) -> ModuleOp:
    """A module whose `@main` passes its arguments, the tensors, to one op."""
    tensors = [a for a in (*args, *kwargs.values()) if is_tensor(a)]
    result = type_of(overload_of(op)(*args, **kwargs))
    body = Block(arg_types=[type_of(tensor) for tensor in tensors])
    call = build_op(op, tuple(args), kwargs, dict(zip(tensors, body.args, strict=True)), result)
    body.add_ops([call, ReturnOp(call.result)])
    signature = FunctionType.from_lists([a.type for a in body.args], [result])
    module = ModuleOp([FuncOp("main", signature, Region(body))])
    verify_module(module)
    return module


@pytest.fixture(scope="session")
def check() -> Check:
    """
    `check(op, *args, **kwargs)` compares an op with PyTorch's on real tensors, to the bit if
    `exact`, and returns the ops that it became.
    """

    def compare(op: type[TorchOp], *args: Any, exact: bool = False, **kwargs: Any):
        module = call_of(op, args, kwargs)
        DecomposePass().apply(Context(), module)
        verify_module(module)
        (got,) = interpret(module, *(a.numpy() for a in (*args, *kwargs.values()) if is_tensor(a)))
        expected = overload_of(op)(*args, **kwargs).numpy()
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
        if exact:
            np.testing.assert_array_equal(got, expected)
        else:
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
        (main,) = module.ops
        return [o for o in main.regions[0].block.ops if not isinstance(o, ReturnOp)]

    return compare

# SPDX-License-Identifier: Apache-2.0
"""The hand-written kernels compute what PyTorch computes, and are as small as they should be."""

from collections.abc import Callable

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from tilewright.arrays import array_of
from tilewright.dialects.loop import KernelOp
from tilewright.interpreters.kernels import interpret_kernel

from .kernels.references import FOLDER, REFERENCES

Parse = Callable[[str], ModuleOp]


def kernel(parse: Parse, name: str) -> KernelOp:
    """The kernel in the file of that name."""
    (op,) = parse((FOLDER / f"{name}.mlir").read_text()).ops
    assert isinstance(op, KernelOp)
    return op


def test_every_kernel_has_a_reference():
    assert {path.stem for path in FOLDER.glob("*.mlir")} == {*REFERENCES}


@pytest.mark.parametrize("name", [*REFERENCES])
def test_interpreted(parse: Parse, name: str):
    reference = REFERENCES[name]
    inputs = [array_of(tensor) for tensor in reference.inputs()]
    (result,) = interpret_kernel(kernel(parse, name), inputs)
    reference.assert_close(torch.as_tensor(result))


def test_a_scheduled_matmul_is_small(parse: Parse):
    assert len([*kernel(parse, "matmul_split_k").walk()]) < 30

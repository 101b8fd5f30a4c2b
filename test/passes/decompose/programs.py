# SPDX-License-Identifier: Apache-2.0
"""Several Torch ops as one program, run on a device and compared with PyTorch's own operators."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from tilewright.arrays import array_of
from tilewright.codegen.execution import Backend
from tilewright.codegen.host_function import plan_of
from tilewright.dialects import torch
from tilewright.dialects.torch.op import TorchOp
from tilewright.frontend.aten import build_op, overload_of, types_of
from tilewright.passes.driver import lowering
from tilewright.passes.driver.levels import Level

from .cases import CASES, split
from .conftest import assert_same, tensors_in


class Call(NamedTuple):
    """One call of one op."""

    op: type[TorchOp]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.op.name}{self.args}{dict(self.kwargs)}"


class Program:
    """Several calls in one function, each with inputs of its own."""

    def __init__(self, calls: Sequence[Call]):
        self.body = Block()
        self.inputs: list[Any] = []
        self.expected: list[tuple[Call, Any]] = []
        results = [result for call in calls for result in self._add(call)]
        self.body.add_op(ReturnOp(*results))
        signature = FunctionType.from_lists(
            [argument.type for argument in self.body.args], [result.type for result in results]
        )
        self.module = ModuleOp([FuncOp("main", signature, Region(self.body))])

    def _add(self, call: Call) -> Sequence[SSAValue]:
        values: dict[Any, SSAValue] = {}
        for tensor in tensors_in((*call.args, *call.kwargs.values())):
            if tensor not in values:
                position = len(self.body.args)
                values[tensor] = self.body.insert_arg(types_of(tensor)[0], position)
                self.inputs.append(array_of(tensor))
        expected = overload_of(call.op)(*call.args, **call.kwargs)
        op = build_op(call.op, tuple(call.args), call.kwargs, values, types_of(expected))
        self.body.add_op(op)
        self.expected += [(call, tensor) for tensor in tensors_in([expected])]
        return op.results

    def check(self, backend: Backend, target: str) -> None:
        """Run the program, and compare all results."""
        plan = plan_of(lowering.lower(self.module, Level.CUDA, target=target))
        execution = backend.run(plan, self.inputs)
        assert execution.problems == []
        for got, (call, tensor) in zip(execution.results, self.expected, strict=True):
            try:
                assert_same(got, tensor)
            except AssertionError as error:
                raise AssertionError(f"{call}: {error}") from error


def calls(op: type[TorchOp]) -> list[Call]:
    """Return all calls of an op."""
    return [Call(op, *split(case)) for case in CASES[op]]


def first_calls() -> dict[str, list[Call]]:
    """Return the first call of each op, by family."""
    families = {family.__name__: torch.ops_of(family) for family in torch.FAMILIES}
    return {name: [calls(op)[0] for op in ops] for name, ops in families.items() if ops}

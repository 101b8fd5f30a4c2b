# SPDX-License-Identifier: Apache-2.0
"""
Outlining of equal layers into one function that is called once for each layer.

    func.func @main(%x, %w0, %v0, %w1, %v1) {
      %0 = torch.linear %x, %w0 ...    %1 = torch.relu %0 ...     // layers.0, a Block of four ops
      %2 = torch.linear %1, %v0 ...    %3 = torch.add %2, %x ...
      %4 = torch.linear %3, %w1 ...    %5 = torch.relu %4 ...     // layers.1, a Block of four ops
      %6 = torch.linear %5, %v1 ...    %7 = torch.add %6, %3 ...
      return %7
    }

becomes

    func.func @main(%x, %w0, %v0, %w1, %v1) {
      %0 = func.call @block(%x, %w0, %v0)
      %1 = func.call @block(%0, %w1, %v1)
      return %1
    }
    func.func private @block(%x, %w, %v) { ... }

`torch.export` records which ops belong to which call of which module. Calls are equal if their ops
and arguments are equal one by one. A module is outlined only if it has at least four ops and calls
at least two other modules. Therefore a matrix product stays beside its activation.
"""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue


class ModuleCall(NamedTuple):
    """One call of one module."""

    key: str
    """Key of the call; calls of the same module have different keys."""
    path: str
    """Path of the module: `layers.0`."""
    name: str
    """Name of the module's class."""


Scopes = Mapping[Operation, Sequence[ModuleCall]]
"""Module calls that each op is part of, by op, from the outermost to the innermost call."""

_FEWEST_OPS = 4
_FEWEST_CHILDREN = 2
"""
`_FEWEST_OPS` is the fewest ops, and `_FEWEST_CHILDREN` the fewest inner module calls, of a module
call that becomes a function.
"""


def outline(main: FuncOp, scopes: Scopes) -> list[FuncOp]:
    """
    Replace parts of `main` that compute the same by calls of functions; return the functions, those
    of outer modules first.
    """
    functions: list[FuncOp] = []
    deepest = max((len(scope) for scope in scopes.values()), default=0)
    for depth in range(1, deepest):
        parts = [part for part in _parts(main, scopes, depth) if _is_worth(part, scopes, depth)]
        groups: dict[Hashable, list[_Part]] = {}
        for part in parts:
            groups.setdefault(part.structure(), []).append(part)
        for group in (g for g in groups.values() if len(g) > 1):
            call = scopes[group[0].ops[0]][depth]
            name = _unique(call.name, [main, *functions])
            functions.append(_function(name, group[0], call.path))
            for part in group:
                part.replace_by_call(name)
    return functions


class _Part:
    """Consecutive ops of one block."""

    def __init__(self, ops: Sequence[Operation]):
        self.ops = ops

    @property
    def inputs(self) -> list[SSAValue]:
        """Values that the ops use from outside, in order of first use."""
        inside = {result for op in self.ops for result in op.results}
        used = dict.fromkeys(operand for op in self.ops for operand in op.operands)
        return [value for value in used if value not in inside]

    @property
    def outputs(self) -> list[SSAValue]:
        """Results that are used outside of the part, in order."""
        inside = {*self.ops}
        return [
            result
            for result in self._results()
            if any(use.operation not in inside for use in result.uses)
        ]

    def structure(self) -> Hashable:
        """
        Return a key of the ops, types and results; parts with equal keys compute equal results from
        their inputs.
        """
        inputs = self.inputs
        numbers = {value: n for n, value in enumerate((*inputs, *self._results()))}
        ops = tuple(
            (
                op.name,
                tuple(sorted(op.properties.items(), key=lambda item: item[0])),
                tuple(numbers[operand] for operand in op.operands),
                tuple(result.type for result in op.results),
            )
            for op in self.ops
        )
        types = tuple(value.type for value in inputs)
        return types, ops, tuple(numbers[output] for output in self.outputs)

    def _results(self) -> Iterator[SSAValue]:
        return (result for op in self.ops for result in op.results)

    def replace_by_call(self, function: str) -> None:
        """Replace the ops by a call of the function with the name `function`."""
        outputs = self.outputs
        call = CallOp(function, self.inputs, [output.type for output in outputs])
        call.location = self.ops[-1].location
        block = self.ops[-1].parent
        assert block is not None
        block.insert_op_after(call, self.ops[-1])
        for output, result in zip(outputs, call.results, strict=True):
            result.name_hint = output.name_hint
            output.replace_all_uses_with(result)
        for op in reversed(self.ops):
            op.detach()
            op.erase()


def _parts(main: FuncOp, scopes: Scopes, depth: int) -> Iterator[_Part]:
    """Yield the ops of each module call at nesting depth `depth` as one part, in order."""

    def key(op: Operation) -> str | None:
        scope = scopes.get(op, ())
        return scope[depth].key if len(scope) > depth else None

    for call, ops in groupby(main.body.block.ops, key):
        if call is not None:
            yield _Part([*ops])


def _is_worth(part: _Part, scopes: Scopes, depth: int) -> bool:
    inner = (scopes[op] for op in part.ops)
    children = {scope[depth + 1].key for scope in inner if len(scope) > depth + 1}
    return len(part.ops) >= _FEWEST_OPS and len(children) >= _FEWEST_CHILDREN


def _function(name: str, part: _Part, path: str) -> FuncOp:
    """Return a function that computes the ops of `part`, a call of the module at `path`."""
    inside = f"_{path.replace('.', '_')}_"
    inputs, outputs = part.inputs, part.outputs
    body = Block(arg_types=[value.type for value in inputs])
    values: dict[SSAValue, SSAValue] = dict(zip(inputs, body.args, strict=True))
    for value, argument in values.items():
        argument.name_hint = (value.name_hint or "").replace(inside, "_", 1) or None
    for op in part.ops:
        clone = op.clone(values)
        clone.location = op.location
        body.add_op(clone)
    body.add_op(ReturnOp(*(values[output] for output in outputs)))
    types = [output.type for output in outputs]
    return FuncOp(
        name, FunctionType.from_lists(list(body.arg_types), types), Region(body), "private"
    )


def _unique(module_class: str, functions: Sequence[FuncOp]) -> str:
    """
    Return a name for the function of a module class: `llama_decoder_layer` for `LlamaDecoderLayer`.
    A number is added if another function has that name.
    """
    stem = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", module_class).lower()
    taken, name, count = {f.sym_name.data for f in functions}, stem, 0
    while name in taken:
        count += 1
        name = f"{stem}_{count}"
    return name

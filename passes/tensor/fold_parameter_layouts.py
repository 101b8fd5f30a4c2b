# SPDX-License-Identifier: Apache-2.0
"""
Folds the permutation of a parameter into its layout: the parameter is permuted when it is loaded,
once for all runs.

    func.func @main(%x: tensor<3x5xf32>,
                    %w: tensor<5x3xf32> {torch.name = "w", torch.kind = "parameter"}) {
      %t = prim.index_map %w by affine_map<(d0, d1) -> (d1, d0)>
          : tensor<5x3xf32> -> tensor<3x5xf32>
      %y = prim.elementwise add(%x, %t) : tensor<3x5xf32>

becomes

    func.func @main(%x: tensor<3x5xf32>,
                    %w: tensor<3x5xf32> {torch.name = "w", torch.kind = "parameter",
                                         torch.layout = affine_map<(d0, d1) -> (d1, d0)>}) {
      %y = prim.elementwise add(%x, %w) : tensor<3x5xf32>

Parameters here include buffers and constants. Inputs of the user never change, nor do parameters
that are written in place. All readers must read the parameter by the same permutation. A function
that others call keeps its arguments, because a caller may pass any value.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tilewright.dialects import prim
from tilewright.dialects.parameter_layout import (
    is_mutated,
    is_permutation,
    is_stored,
    permute_argument,
)
from tilewright.dialects.types import shape_of
from tilewright.passes.reporting.trace import Rule, rewriting, skipped

RULE = Rule("o", 9, "fold_parameter_layouts")

Calls = Mapping[str, Sequence[CallOp]]
"""Calls of each function, by its name."""


def _permutation(op: Operation) -> AffineMap | None:
    """Return the map of `op` if it only permutes the dimensions of its one source, else None."""
    if not isinstance(op, prim.IndexMapOp) or len(op.sources) != 1 or op.sources[0].mask.results:
        return None
    source, shape = op.sources[0], shape_of(op.result)
    given = shape_of(source.tensor)
    permutation = _with_unit_axes(source.map, given)
    if not is_permutation(permutation, len(shape)):
        return None
    is_whole = permutation.eval(shape, ()) == given
    return permutation if is_whole and permutation != AffineMap.identity(len(shape)) else None


def _with_unit_axes(map: AffineMap, given: Sequence[int]) -> AffineMap:
    """Return `map` with its unused dimensions, in order, as subscripts of axes of size 1."""
    dims = [AffineExpr.dimension(dim) for dim in range(map.num_dims)]
    missing = iter([dim for dim in dims if dim not in map.results])
    results = (
        next(missing, expr) if isinstance(expr, AffineConstantExpr) and size == 1 else expr
        for expr, size in zip(map.results, given, strict=True)
    )
    return AffineMap(map.num_dims, map.num_symbols, tuple(results))


def _is_module_state(value: SSAValue) -> bool:
    """
    True if `value` is an argument of a function that holds state of the module, not an input of the
    user.
    """
    if not isinstance(value, BlockArgument):
        return False
    function = value.owner.parent_op()
    return isinstance(function, FuncOp) and is_stored(function, value.index)


def _reason_against(function: FuncOp, argument: BlockArgument, calls: Sequence[CallOp]) -> str:
    """Reason why `argument`, which is read permuted, stays unchanged; empty if there is none."""
    if calls:
        return "another function calls this one"
    if is_mutated(function, argument.index):
        return "it is written in place"
    if len({_permutation(use.operation) for use in argument.uses}) > 1:
        return "other ops read it in another layout"
    return ""


def _fold(function: FuncOp, argument: BlockArgument) -> None:
    """
    Change the argument to the layout that all its readers permute it to, and erase the readers.
    """
    position, readers = argument.index, [use.operation for use in argument.uses]
    permutation = _permutation(readers[0])
    assert permutation is not None
    permute_argument(argument, readers[0].results[0].type, permutation, Rewriter())
    for reader in readers:
        reader.results[0].replace_all_uses_with(function.args[position])
        reader.detach()
        reader.erase()


class FoldParameterLayoutsPass(ModulePass):
    """Fold the permutations of parameters into the layouts in which they are loaded."""

    name = "fold-parameter-layouts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Fold permutations of each argument that is a parameter, or is called with one."""
        calls: defaultdict[str, list[CallOp]] = defaultdict(list)
        for call in (call for call in op.walk() if isinstance(call, CallOp)):
            calls[call.callee.string_value()].append(call)
        for function in (f for f in op.ops if isinstance(f, FuncOp) and not f.is_declaration):
            for argument in function.args:
                _consider(function, argument, calls[function.sym_name.data])


def _consider(function: FuncOp, argument: BlockArgument, calls: Sequence[CallOp]) -> None:
    given: list[SSAValue] = [argument, *(call.arguments[argument.index] for call in calls)]
    if not any(map(_is_module_state, given)):
        return
    if not any(_permutation(use.operation) is not None for use in argument.uses):
        return
    if reason := _reason_against(function, argument, calls):
        name = argument.name_hint or f"argument {argument.index}"
        skipped(RULE, function, f"%{name} is read permuted, but {reason}")
        return
    with rewriting(RULE, function):
        _fold(function, argument)

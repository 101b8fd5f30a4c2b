# SPDX-License-Identifier: Apache-2.0
"""
The layout of a function's arguments: the order of axes that callers pass, and the one the function
reads.

    func.func @main(%x: tensor<3x5xf32>, %w: tensor<3x5xf32> {torch.name = "w",
        torch.kind = "parameter", torch.layout = affine_map<(d0, d1) -> (d1, d0)>})

The map takes coordinates of %w to coordinates of PyTorch's tensor, which has 5 x 3 elements. At
every level, callers pass PyTorch's tensor, and the loader permutes it once. A `func.call` passes
arguments in the layout that the function reads.
"""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DictionaryAttr,
    MemRefType,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

_LAYOUT = "torch.layout"

_STORED = ("parameter", "buffer", "constant")


def is_stored(function: FuncOp, position: int) -> bool:
    """
    True if an argument is stored in the module (a parameter, buffer or constant), not passed by the
    user.
    """
    attributes = _attributes(function, position)
    kind = attributes.get("torch.kind")
    return "torch.name" in attributes and isinstance(kind, StringAttr) and kind.data in _STORED


def source_names(function: FuncOp) -> dict[int, str]:
    """Return PyTorch's names of the arguments that have one, by position."""
    names = {
        position: _attributes(function, position).get("torch.name")
        for position in range(len(function.function_type.inputs))
    }
    return {at: name.data for at, name in names.items() if isinstance(name, StringAttr)}


def is_mutated(function: FuncOp, position: int) -> bool:
    """True if a result of the function is the new value of the argument with this position."""
    name = _attributes(function, position).get("torch.name")
    results = function.res_attrs or ()
    return name is not None and any(r.data.get("torch.mutates") == name for r in results)


def layout_of(function: FuncOp, position: int) -> AffineMap | None:
    """
    Return the map from an argument's coordinates to coordinates of the tensor that callers pass.

    None if both are identical. Raises `VerifyException` unless the map permutes the argument's
    dimensions.
    """
    attribute = _attributes(function, position).get(_LAYOUT)
    if attribute is None:
        return None
    type = function.function_type.inputs.data[position]
    rank = len(_shape(type))
    if not isinstance(attribute, AffineMapAttr) or not is_permutation(attribute.data, rank):
        raise VerifyException(
            f"{_LAYOUT} of argument {position} is {attribute}, "
            f"but has to permute the {rank} dimension(s) of {type}"
        )
    return attribute.data


def verify_layouts(function: FuncOp) -> None:
    """Raise `VerifyException` for the first argument whose layout is invalid."""
    for position in range(len(function.function_type.inputs)):
        layout_of(function, position)


def set_layout(function: FuncOp, position: int, layout: AffineMap) -> None:
    """Record the layout in which callers pass the argument; the identity is not recorded."""
    attributes = _attributes(function, position)
    attributes.pop(_LAYOUT, None)
    if layout != AffineMap.identity(layout.num_dims):
        attributes[_LAYOUT] = AffineMapAttr(layout)
    count = len(function.function_type.inputs)
    everything = [_attributes(function, other) for other in range(count)]
    everything[position] = attributes
    function.arg_attrs = ArrayAttr(map(DictionaryAttr, everything))


def permute_argument(
    argument: BlockArgument,
    type: Attribute,
    permutation: AffineMap,
    rewriter: Rewriter | PatternRewriter,
) -> None:
    """
    Change an argument of a function to `type`. The map takes its coordinates to those that the
    argument had before, and is composed with the layout in which callers pass it.
    """
    function, position = argument.owner.parent_op(), argument.index
    assert isinstance(function, FuncOp)
    given = layout_of(function, position) or AffineMap.identity(permutation.num_dims)
    function.replace_argument_type(argument, type, rewriter)
    set_layout(function, position, given.compose(permutation))


def given_types(function: FuncOp) -> list[Attribute]:
    """Return the types of the arguments as callers pass them."""
    return [
        type if (layout := layout_of(function, position)) is None else _given(type, layout)
        for position, type in enumerate(function.function_type.inputs)
    ]


def load_axes(function: FuncOp) -> dict[int, tuple[int, ...]]:
    """
    Return the permutation of axes for each argument that is permuted when it is loaded.

    `numpy.transpose(given, axes)` is the array that the function reads.
    """
    layouts = {n: layout_of(function, n) for n in range(len(function.function_type.inputs))}
    return {n: _inverse(_dims(layout)) for n, layout in layouts.items() if layout is not None}


def _inverse(permutation: Sequence[int]) -> tuple[int, ...]:
    return tuple(permutation.index(position) for position in range(len(permutation)))


def is_permutation(map: AffineMap, rank: int) -> bool:
    """True if the results of `map` are its `rank` dimensions in some order."""
    if map.num_dims != rank or map.num_symbols:
        return False
    return len(map.results) == rank and sorted(_dims(map)) == [*range(rank)]


def _attributes(function: FuncOp, position: int) -> dict[str, Attribute]:
    return dict(function.arg_attrs.data[position].data) if function.arg_attrs is not None else {}


def _dims(map: AffineMap) -> list[int]:
    """Return the dimensions among the results of `map`."""
    return [expr.position for expr in map.results if isinstance(expr, AffineDimExpr)]


def _given(type: Attribute, layout: AffineMap) -> Attribute:
    shape = [_shape(type)[dim] for dim in _dims(layout)]
    if isinstance(type, TensorType):
        return TensorType(cast(TensorType[Attribute], type).element_type, shape)
    if isinstance(type, MemRefType):
        return MemRefType(cast(MemRefType[Attribute], type).element_type, shape)
    return type


def _shape(type: Attribute) -> Sequence[int]:
    """Return the shape of a tensor or buffer; a scalar has no dimensions."""
    if not isinstance(type, TensorType | MemRefType):
        return ()
    return cast(TensorType[Attribute] | MemRefType[Attribute], type).get_shape()

# SPDX-License-Identifier: Apache-2.0
"""
Facts about a site of a rule: sentences that are true of its op, its operands, and their operands.

A condition on a rule is a conjunction of facts or of their negations.
"""

from collections.abc import Iterator

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.utils.hints import isa

from tilewright.dialects import prim
from tilewright.dialects.scalar_function import ScalarFunction
from tilewright.dialects.types import shape_of

_F = ScalarFunction
_NEVER_NEGATIVE = frozenset({_F.ABS, _F.EXP, _F.EXP2, _F.SQRT, _F.RSQRT})


def facts_of(op: Operation) -> frozenset[str]:
    """Return the facts about an op: those of its properties, its operands, and their operands."""
    found = {*_of_properties(op, "")}
    values = dict[str, SSAValue]()
    for result, value in enumerate(op.results):
        name = "the result" if len(op.results) == 1 else f"result {result}"
        found |= {*_of_type(value.type, name)}
    for at, value in enumerate(op.operands):
        values[f"operand {at}"] = value
        if isinstance(value.owner, Operation):
            found |= {*_of_properties(value.owner, f" of operand {at}")}
            for inner, deeper in enumerate(value.owner.operands):
                values[f"operand {inner} of operand {at}"] = deeper
    for name, value in values.items():
        found |= {*_of_type(value.type, name), *_of_value(value, name)}
    names = [*values]
    for at, name in enumerate(names):
        for other in names[at + 1 :]:
            if values[name] is values[other]:
                found.add(f"{name} is {other}")
            elif values[name].type == values[other].type:
                found.add(f"{name} has the type of {other}")
    return frozenset(found)


def is_empty(op: Operation) -> bool:
    """True if no result of an op has an element."""
    shapes = [shape_of(value) for value in op.results if isinstance(value.type, TensorType)]
    return bool(shapes) and all(0 in shape for shape in shapes)


def _of_properties(op: Operation, of: str) -> Iterator[str]:
    for name, value in sorted(op.properties.items()):
        text = str(value)
        if len(text) < 40 and name != "operandSegmentSizes":
            yield f"property {name}{of} is {text}"
    if isinstance(op, prim.IndexMapOp):
        yield from _of_map(op, of)


def _of_map(op: prim.IndexMapOp, of: str) -> Iterator[str]:
    source = op.only_source
    if source is None:
        return
    yield f"the map{of} reads one source without a mask"
    if op.unmoved_source() is not None:
        yield f"the map{of} is the identity"
    order = _permutation(source.map)
    if order is not None:
        yield f"the map{of} is a permutation"
        if all(order[order[dim]] == dim for dim in range(len(order))):
            yield f"the map{of} is its own inverse"
    inner = source.tensor.owner
    if not isinstance(inner, prim.IndexMapOp) or (behind := inner.only_source) is None:
        return
    if behind.map == source.map:
        yield f"the map{of} is that of operand 0{of}"
    if behind.map.num_dims == len(source.map.results):
        both = behind.map.compose(source.map)
        if both == AffineMap.identity(both.num_dims):
            yield f"the maps{of} and of operand 0{of} are inverse"


def _permutation(map: AffineMap) -> list[int] | None:
    """Return the order of the dims that a map permutes; None if it does not."""
    order = [each.position for each in map.results if isinstance(each, AffineDimExpr)]
    is_one = len(order) == len(map.results) and sorted(order) == [*range(map.num_dims)]
    return order if is_one else None


def _of_type(type: Attribute, name: str) -> Iterator[str]:
    element = type
    if isa(type, TensorType[Attribute]):
        shape, element = type.get_shape(), type.element_type
        yield f"{name} has rank {len(shape)}"
        if len({*shape}) <= 1:
            yield f"all sizes of {name} are equal"
        if 1 in shape:
            yield f"a size of {name} is 1"
        if 0 in shape:
            yield f"{name} is empty"
    if isinstance(element, AnyFloat):
        yield f"{name} is a float"
    elif isinstance(element, IntegerType) and element.bitwidth > 1:
        yield f"{name} is an integer"
    yield f"the element type of {name} is {element}"


def _of_value(value: SSAValue, name: str) -> Iterator[str]:
    if value.has_one_use():
        yield f"{name} has one use"
    op = value.owner
    if not isinstance(op, Operation):
        yield f"{name} is an argument"
        return
    yield f"{name} is made by {op.name}"
    if isinstance(op, prim.ConstantOp):
        yield from _of_number(op.value, name)
    if is_never_negative(value):
        yield f"{name} is never negative"


def _of_number(attr: FloatAttr | IntegerAttr, name: str) -> Iterator[str]:
    number = attr.value.data
    if number != 0:
        yield f"{name} is a constant that is not 0"
    if number == number and abs(number) != float("inf"):
        yield f"{name} is a finite constant"
    if number > 0:
        yield f"{name} is a positive constant"


def is_never_negative(value: SSAValue) -> bool:
    """True if no element of a value is below 0; it may be NaN."""
    op = value.owner
    if isinstance(op, prim.ConstantOp):
        return op.value.value.data >= 0
    if not isinstance(op, prim.ElementwiseOp):
        return False
    function = op.function.data
    is_square = function is _F.MUL and op.inputs[0] is op.inputs[1]
    is_float = _is_float(op.result.type)
    return (function in _NEVER_NEGATIVE or is_square) and is_float


def _is_float(type: Attribute) -> bool:
    return isa(type, TensorType[Attribute]) and isinstance(type.element_type, AnyFloat)

# SPDX-License-Identifier: Apache-2.0
"""
Tensor IR that only says where elements come from, or go: index maps, positions as values, and
subscripts that are themselves elements of tensors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    FloatAttr,
    IntegerAttr,
    TensorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap, AffineSymExpr
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.irdl import (
    base as any_of,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.index import Range, Ranges, range_of, sum_of
from tilewright.dialects.monoid import MonoidAttr, verify_monoid
from tilewright.dialects.prim_syntax import Sources, SourceTypes
from tilewright.dialects.types import tensor_type


def _shape(value: SSAValue) -> tuple[int, ...]:
    return tensor_type(value).get_shape()


def _element(value: SSAValue) -> Attribute:
    return tensor_type(value).element_type


@dataclass(frozen=True)
class Source:
    """A tensor, which of its elements is read, and where: if every result of `mask` is >= 0."""

    tensor: SSAValue
    map: AffineMap
    mask: AffineMap

    @staticmethod
    def always(tensor: SSAValue, map: AffineMap) -> "Source":
        """A source that is read everywhere."""
        return Source(tensor, map, AffineMap(map.num_dims, 0, ()))


@irdl_op_definition
class IndexMapOp(IRDLOperation):
    """
    Reads each element of the result from the element of a source that the source's map names:
    views, broadcasts, transposes, slices, padding, concatenation. Maps take result coordinates to
    source coordinates. An element comes from the first source whose mask holds, that is, whose
    expressions are all at least 0; where none does, it is the fill value.

    ```mlir
    %b = prim.index_map %bias by affine_map<(d0, d1) -> (d1)> : tensor<64xf32> -> tensor<16x64xf32>
    %p = prim.index_map %x by affine_map<(d0) -> ((d0 + -1))>
        where affine_map<(d0) -> ((d0 + -1), ((d0 * -1) + 4))> else 0.000000e+00 : f32
        : tensor<4xf32> -> tensor<6xf32>
    ```
    """

    name = "prim.index_map"

    inputs = var_operand_def(any_of(TensorType))
    maps = prop_def(ArrayAttr[AffineMapAttr])
    masks = prop_def(ArrayAttr[AffineMapAttr])
    fill = opt_prop_def(any_of(FloatAttr) | any_of(IntegerAttr))
    result = result_def(any_of(TensorType))

    traits = traits_def(Pure())
    custom_directives = (Sources, SourceTypes)
    assembly_format = (
        "custom<Sources>($inputs, $maps, $masks, $fill) attr-dict `:` "
        "custom<SourceTypes>(type($inputs), type($result))"
    )

    def __init__(
        self,
        sources: Sequence[Source],
        shape: Sequence[int],
        fill: FloatAttr | IntegerAttr | None = None,
    ):
        super().__init__(
            operands=[[source.tensor for source in sources]],
            properties={
                "maps": ArrayAttr(AffineMapAttr(source.map) for source in sources),
                "masks": ArrayAttr(AffineMapAttr(source.mask) for source in sources),
                "fill": fill,
            },
            result_types=[TensorType(_element(sources[0].tensor), shape)],
        )

    @property
    def sources(self) -> list[Source]:
        """Where elements may come from, first choice first."""
        return [
            Source(tensor, map.data, mask.data)
            for tensor, map, mask in zip(self.inputs, self.maps, self.masks, strict=True)
        ]

    def verify_(self) -> None:
        if not self.inputs or not len(self.inputs) == len(self.maps) == len(self.masks):
            raise VerifyException("give one map and one mask for each source, and a source")
        for source in self.sources:
            self._verify_source(source)
        if self.sources[-1].mask.results and self.fill is None:
            raise VerifyException(
                "where no mask holds nothing is read: end with 'else' and a value, or with a "
                "source without a mask"
            )
        if self.fill is not None and self.fill.type != _element(self.result):
            raise VerifyException(
                f"the fill value is of {self.fill.type}, not {_element(self.result)}"
            )

    def _verify_source(self, source: Source) -> None:
        if _element(source.tensor) != _element(self.result):
            raise VerifyException(
                f"the source holds {_element(source.tensor)}, the result {_element(self.result)}"
            )
        _verify_dims(source.map, self.result)
        _verify_dims(source.mask, self.result)
        verify_subscripts_within(source, _shape(self.result))


def _verify_dims(map: AffineMap, result: SSAValue) -> None:
    rank = len(_shape(result))
    if map.num_dims != rank or map.num_symbols:
        raise VerifyException(f"the map must take {rank} dimensions, one a result axis")


def verify_subscripts_within(source: Source, shape: Sequence[int]) -> None:
    """Each subscript stays within its axis, by the ranges of the dimensions or by the mask."""
    sizes = _shape(source.tensor)
    if len(source.map.results) != len(sizes):
        raise VerifyException(f"the map must give {len(sizes)} subscripts, one an input axis")
    if 0 in shape:
        return
    ranges = _ranges_within(source.mask, shape)
    for axis, (expr, size) in enumerate(zip(source.map.results, sizes, strict=True)):
        holds = (_at_least_0(e, source.mask, ranges) for e in (expr, expr * -1 + (size - 1)))
        if not all(holds):
            raise VerifyException(f"subscript {axis}, {expr}, leaves the axis of size {size}")


def _ranges_within(mask: AffineMap, shape: Sequence[int]) -> list[Range]:
    """The ranges of coordinates where a mask holds: a bound of one coordinate cuts its range."""
    ranges = [Range.extent(size) for size in shape]
    for bound in map(sum_of, mask.results):
        match [*bound.terms.items()]:
            case [(AffineDimExpr(dim), factor)] if factor > 0:
                low, high = ranges[dim]
                ranges[dim] = Range(max(low, -(bound.constant // factor)), high)
            case [(AffineDimExpr(dim), factor)]:
                low, high = ranges[dim]
                ranges[dim] = Range(low, min(high, bound.constant // -factor))
            case _:
                pass
    return ranges


def _at_least_0(expr: AffineExpr, mask: AffineMap, ranges: Ranges) -> bool:
    """Whether `expr` is at least 0 wherever the mask holds: it is, or is no less than a mask's."""
    bounds = (range_of(e, ranges) for e in (expr, *(expr - m for m in mask.results)))
    return any(bound is not None and bound.low >= 0 for bound in bounds)


@irdl_op_definition
class IotaOp(IRDLOperation):
    """
    Each element is an affine expression of its own coordinates.

    ```mlir
    %i = prim.iota affine_map<(d0, d1) -> (d1)> : tensor<16x64xi64>
    ```
    """

    name = "prim.iota"

    map = prop_def(AffineMapAttr)
    result = result_def(any_of(TensorType))

    traits = traits_def(Pure())
    assembly_format = "$map attr-dict `:` type($result)"

    def __init__(self, map: AffineMap, type: TensorType[Attribute]):
        super().__init__(properties={"map": AffineMapAttr(map)}, result_types=[type])

    def verify_(self) -> None:
        _verify_dims(self.map.data, self.result)
        if len(self.map.data.results) != 1:
            raise VerifyException("the map must give one number")
        if _element(self.result) not in (i32, i64):
            raise VerifyException(f"positions are i32 or i64, not {_element(self.result)}")


@irdl_op_definition
class PredicateOp(IRDLOperation):
    """
    True where every expression of the element's coordinates is at least 0.

    ```mlir
    %causal = prim.predicate affine_map<(d0, d1) -> ((d0 + (d1 * -1)))> : tensor<128x128xi1>
    ```
    """

    name = "prim.predicate"

    map = prop_def(AffineMapAttr)
    result = result_def(any_of(TensorType))

    traits = traits_def(Pure())
    assembly_format = "$map attr-dict `:` type($result)"

    def __init__(self, map: AffineMap, shape: Sequence[int]):
        super().__init__(
            properties={"map": AffineMapAttr(map)}, result_types=[TensorType(i1, shape)]
        )

    def verify_(self) -> None:
        _verify_dims(self.map.data, self.result)
        if _element(self.result) != i1:
            raise VerifyException(f"a predicate is of i1, not {_element(self.result)}")


def _verify_indexed(map: AffineMap, indices: Sequence[SSAValue], steps: SSAValue) -> None:
    """A map of the coordinates of `steps`, and of the index tensors' values there."""
    shape = _shape(steps)
    if map.num_dims != len(shape) or map.num_symbols != len(indices):
        raise VerifyException(
            f"the map must take {len(shape)} dimensions and {len(indices)} symbols, "
            "one for each tensor of subscripts"
        )
    for index in indices:
        if _shape(index) != shape:
            raise VerifyException(f"subscripts {index.type} must have the shape {list(shape)}")
        if _element(index) not in (i32, i64):
            raise VerifyException(f"subscripts are i32 or i64, not {_element(index)}")


def _verify_axes(map: AffineMap, tensor: SSAValue, steps: Sequence[int]) -> None:
    """One subscript an axis of `tensor`: a symbol, or over dimensions and within the axis."""
    sizes, ranges = _shape(tensor), [Range.extent(size) for size in steps]
    if len(map.results) != len(sizes):
        raise VerifyException(f"the map must give {len(sizes)} subscripts, one an axis")
    for axis, (expr, size) in enumerate(zip(map.results, sizes, strict=True)):
        if isinstance(expr, AffineSymExpr):
            continue
        if any(isinstance(inner, AffineSymExpr) for inner in expr.dfs()):
            raise VerifyException(f"subscript {axis}, {expr}: a symbol must stand alone")
        if 0 not in steps and range_of(expr, ranges) not in Range(0, size - 1):
            raise VerifyException(f"subscript {axis}, {expr}, leaves the axis of size {size}")


@irdl_op_definition
class GatherOp(IRDLOperation):
    """
    Reads each element of the result from the element of the source that the map names; symbols
    are the values of the index tensors, which have the result's shape. A value outside of its
    axis is an error.

    ```mlir
    %e = prim.gather %weight[%ids] by affine_map<(d0, d1)[s0] -> (s0, d1)>
        : (tensor<100x8xf32>, tensor<4x8xi64>) -> tensor<4x8xf32>
    ```
    """

    name = "prim.gather"

    source = operand_def(any_of(TensorType))
    indices = var_operand_def(any_of(TensorType))
    map = prop_def(AffineMapAttr)
    result = result_def(any_of(TensorType))

    traits = traits_def(Pure())
    assembly_format = (
        "$source `[` $indices `]` `by` $map attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self, source: SSAValue, indices: Sequence[SSAValue], map: AffineMap, shape: Sequence[int]
    ):
        super().__init__(
            operands=[source, indices],
            properties={"map": AffineMapAttr(map)},
            result_types=[TensorType(_element(source), shape)],
        )

    def verify_(self) -> None:
        if not self.indices:
            raise VerifyException("without a tensor of subscripts this is a prim.index_map")
        if _element(self.source) != _element(self.result):
            raise VerifyException(
                f"the source holds {_element(self.source)}, the result {_element(self.result)}"
            )
        _verify_indexed(self.map.data, self.indices, self.result)
        _verify_axes(self.map.data, self.source, _shape(self.result))


@irdl_op_definition
class ScatterOp(IRDLOperation):
    """
    The base, with each update joined by the combiner to the element that the map names. Without a
    combiner it takes that element's place; of several the last in row-major order stays. Symbols
    are the values of the index tensors, which have the updates' shape. A value outside of its axis
    is an error.

    ```mlir
    %s = prim.scatter %updates to %base[%ids] with add by affine_map<(d0, d1)[s0] -> (s0, d1)>
        : (tensor<4x8xf32>, tensor<100x8xf32>, tensor<4x8xi64>) -> tensor<100x8xf32>
    ```
    """

    name = "prim.scatter"

    T: ClassVar = VarConstraint("T", any_of(TensorType))

    updates = operand_def(any_of(TensorType))
    base = operand_def(T)
    indices = var_operand_def(any_of(TensorType))
    combiner = opt_prop_def(MonoidAttr)
    map = prop_def(AffineMapAttr)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = (
        "$updates `to` $base `[` $indices `]` (`with` $combiner^)? `by` $map attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        updates: SSAValue,
        base: SSAValue,
        indices: Sequence[SSAValue],
        map: AffineMap,
        combiner: MonoidAttr | None = None,
    ):
        super().__init__(
            operands=[updates, base, indices],
            properties={"map": AffineMapAttr(map), "combiner": combiner},
            result_types=[base.type],
        )

    def verify_(self) -> None:
        if _element(self.updates) != _element(self.base):
            raise VerifyException(
                f"the updates hold {_element(self.updates)}, the base {_element(self.base)}"
            )
        if self.combiner is not None:
            if self.combiner.data.is_of_pairs:
                raise VerifyException(f"'{self.combiner.data}' joins pairs, not updates")
            verify_monoid(self.combiner, [_element(self.base)])
        _verify_indexed(self.map.data, self.indices, self.updates)
        _verify_axes(self.map.data, self.base, _shape(self.updates))

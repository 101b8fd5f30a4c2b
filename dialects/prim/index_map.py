# SPDX-License-Identifier: Apache-2.0
"""Ops of Tensor IR that only move elements: they state which source element each element is."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    FloatAttr,
    IntegerAttr,
    TensorType,
)
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.irdl import (
    base,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.canonicalization import CanonicalizedBy
from tilewright.dialects.index import Range, Ranges, range_of, simplify_map, sum_of
from tilewright.dialects.prim.positions import verify_coordinates
from tilewright.dialects.prim.syntax import PrimOp, Sources, SourceTypes
from tilewright.dialects.types import element_of, shape_of, tensor_of


@dataclass(frozen=True)
class Source:
    """
    Source of an index map: the tensor, the map to its coordinates, and the mask of where it is
    read.

    The mask is true where all its results are >= 0.
    """

    tensor: SSAValue
    map: AffineMap
    mask: AffineMap

    @staticmethod
    def always(tensor: SSAValue, map: AffineMap) -> "Source":
        """Return a source that is read everywhere."""
        return Source(tensor, map, AffineMap(map.num_dims, 0, ()))


@irdl_op_definition
class IndexMapOp(HasFolderInterface, PrimOp):
    """
    Index map: each result element is a source's element whose coordinates the source's map gives.

    The op expresses views, broadcasts, transposes, slices, padding and concatenation. Maps take
    result coordinates to source coordinates. An element comes from the first source whose mask is
    true, which means that all its expressions are at least 0. If no mask is true, the element is
    the fill value.

    ```mlir
    %b = prim.index_map %bias by affine_map<(d0, d1) -> (d1)> : tensor<64xf32> -> tensor<16x64xf32>
    %p = prim.index_map %x by affine_map<(d0) -> ((d0 + -1))>
        where affine_map<(d0) -> ((d0 + -1), ((d0 * -1) + 4))> else 0.000000e+00 : f32
        : tensor<4xf32> -> tensor<6xf32>
    ```
    """

    name = "prim.index_map"

    inputs = var_operand_def(base(TensorType))
    maps = prop_def(ArrayAttr[AffineMapAttr])
    masks = prop_def(ArrayAttr[AffineMapAttr])
    fill = opt_prop_def(base(FloatAttr) | base(IntegerAttr))
    result = result_def(base(TensorType))

    traits = traits_def(
        CanonicalizedBy(
            "tensor.compose_index_maps:ComposeSources", "tensor.compose_index_maps:MoveIntoSource"
        )
    )
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
            result_types=[tensor_of(element_of(sources[0].tensor), tuple(shape))],
        )

    @property
    def sources(self) -> list[Source]:
        """Sources of the elements, in order of priority."""
        return [
            Source(tensor, map.data, mask.data)
            for tensor, map, mask in zip(self.inputs, self.maps, self.masks, strict=True)
        ]

    @property
    def only_source(self) -> Source | None:
        """Source of every element, if there is only one and it has no mask; else None."""
        is_only = len(self.inputs) == 1 and not self.masks.data[0].data.results
        return self.sources[0] if is_only else None

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """Return the source, if the map is the identity."""
        source = self.unmoved_source()
        return None if source is None else (source,)

    def unmoved_source(self) -> SSAValue | None:
        """Return the source tensor, if every element keeps its position; else None."""
        source = self.only_source
        if source is None or source.tensor.type != self.result.type:
            return None
        shape = shape_of(self.result)
        identity = AffineMap.identity(len(shape))
        stays = composed(source.map, identity, shape) == composed(identity, identity, shape)
        return source.tensor if stays else None

    def verify_(self) -> None:
        super().verify_()
        if not self.inputs or not len(self.inputs) == len(self.maps) == len(self.masks):
            raise VerifyException("give at least one source, and one map and one mask for each")
        for source in self.sources:
            self._verify_source(source)
        if self.sources[-1].mask.results and self.fill is None:
            raise VerifyException(
                "elements where no mask is true have no value: end with 'else' and a value, or "
                "with a source without a mask"
            )
        if self.fill is not None and self.fill.type != element_of(self.result):
            raise VerifyException(
                f"the fill value is of {self.fill.type}, not {element_of(self.result)}"
            )

    def _verify_source(self, source: Source) -> None:
        if element_of(source.tensor) != element_of(self.result):
            raise VerifyException(
                f"the source holds {element_of(source.tensor)}, the result "
                f"{element_of(self.result)}"
            )
        verify_coordinates(source.map, self.result)
        verify_coordinates(source.mask, self.result)
        verify_subscripts_within(source, shape_of(self.result))


def composed(outer: AffineMap, inner: AffineMap, shape: Sequence[int]) -> AffineMap:
    """
    Return the map that applies `outer` to the results of `inner`, simplified for coordinates within
    `shape`.
    """
    return simplify_map(outer.compose(inner), [Range.extent(size) for size in shape])


def verify_subscripts_within(source: Source, shape: Sequence[int]) -> None:
    """
    Raise `VerifyException` unless each subscript stays within its axis.

    The proof uses the ranges of the dimensions and the mask.
    """
    sizes = shape_of(source.tensor)
    if len(source.map.results) != len(sizes):
        raise VerifyException(f"the map must give {len(sizes)} subscripts, one for each input axis")
    if 0 in shape or _never_holds(source.mask, shape):
        return
    ranges = ranges_within(source.mask, shape)
    for axis, (expr, size) in enumerate(zip(source.map.results, sizes, strict=True)):
        holds = (_at_least_0(e, source.mask, ranges) for e in (expr, expr * -1 + (size - 1)))
        if not all(holds):
            raise VerifyException(f"subscript {axis}, {expr}, leaves the axis of size {size}")


def _never_holds(mask: AffineMap, shape: Sequence[int]) -> bool:
    """True if the mask is provably false everywhere within `shape`: nothing is read."""
    bounds = (range_of(expr, [*map(Range.extent, shape)]) for expr in mask.results)
    return any(bound is not None and bound.high < 0 for bound in bounds)


def ranges_within(mask: AffineMap, shape: Sequence[int]) -> list[Range]:
    """
    Return the ranges of coordinates where a mask is true; conditions on one coordinate narrow its
    range.
    """
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
    """
    True if `expr` is provably at least 0 wherever the mask is true, by its range or by one
    condition.
    """
    bounds = (range_of(e, ranges) for e in (expr, *(expr - m for m in mask.results)))
    return any(bound is not None and bound.low >= 0 for bound in bounds)

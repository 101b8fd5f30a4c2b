# SPDX-License-Identifier: Apache-2.0
"""
Shortcuts through xDSL 0.74, in whose general code lowering would spend a third of its time.

Each replaces a function of xDSL and returns what that returns; `take_shortcuts` puts all of them in
place when the dialects are first imported. What is remembered is found from what never changes.

    isinstance          No class is registered with xDSL's abstract classes. They are asked as other
                        classes are, without the caches in which Python looks for registered ones.
    hashes of IR        An op, a block, a region and a value equal themselves alone: so `object`
                        hashes them, and no function in Python does.
    hashes of types     Computed once, where they are made of other attributes or of expressions.
    expressions         A dimension or a number that is made again is the one made before.
    operands by name    Taken from the tuple in which an op has them, without a view in between.
"""

from abc import ABCMeta
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NameLoc,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.core import SSAValues
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.irdl import IRDLOperation
from xdsl.irdl.operations import (
    BaseAccessor,
    BeforeVariadicSingleAccessor,
    VarIRConstruct,
    get_op_constructs,
)

_ITSELF = (Operation, IRDLOperation, Block, Region, SSAValue, AffineBinaryOpKind)
"""Classes whose instances equal themselves alone."""

_COMPOSED = (
    AffineBinaryOpExpr,
    AffineMap,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NameLoc,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
"""Classes whose instances never change, and are hashed again and again."""


class _Plain(ABCMeta):
    """The class of abstract classes with which none is registered."""

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__


def take_shortcuts() -> None:
    """Put the shortcuts in the place of xDSL's functions."""
    for kind in (*_derived(Operation.__mro__[-3]), *_derived(SSAValue), *_derived(Attribute)):
        kind.__class__ = _Plain
    for kind in _derived(AffineExpr):
        kind.__class__ = _Plain
    for kind in _ITSELF:
        kind.__hash__ = object.__hash__
    for kind in _COMPOSED:
        _remember_hash(kind)
    AffineExpr.constant = staticmethod(_constant)
    AffineExpr.dimension = staticmethod(_dimension)
    SSAValues.__getitem__ = _item
    BeforeVariadicSingleAccessor.__get__ = _single
    BaseAccessor.__get__ = _several


def _derived(kind: type) -> Iterator[type]:
    """An abstract class and those derived from it."""
    if type(kind) is ABCMeta:
        yield kind
    for inner in type.__subclasses__(kind):
        yield from _derived(inner)


def _remember_hash(kind: type) -> None:
    compute: Callable[[Any], int] = kind.__hash__

    def remembered(self: Any) -> int:
        known = self.__dict__
        if "_hash" not in known:
            known["_hash"] = compute(self)
        return known["_hash"]

    def without_hash(self: Any) -> dict[str, Any]:  # another process has other hashes of strings
        return {name: value for name, value in self.__dict__.items() if name != "_hash"}

    kind.__hash__ = remembered
    kind.__getstate__ = without_hash


@lru_cache(maxsize=1 << 10)
def _constant(value: int) -> AffineExpr:
    return AffineConstantExpr(value)


@lru_cache(maxsize=1 << 10)
def _dimension(position: int) -> AffineExpr:
    return AffineDimExpr(position)


def _item(self: Any, index: Any) -> Any:
    found = tuple.__getitem__(self, index)
    return SSAValues(found) if type(index) is slice else found


def _single(self: Any, op: Any, kind: object = None) -> Any:
    construct = self.construct
    if construct is VarIRConstruct.OPERAND:
        return tuple.__getitem__(op._operands, self.idx)
    if construct is VarIRConstruct.RESULT:
        return tuple.__getitem__(op.results, self.idx)
    return get_op_constructs(op, construct)[self.idx]


def _several(self: Any, op: Any, kind: object = None) -> Any:
    is_operand = self.construct is VarIRConstruct.OPERAND
    return self.index(op._operands if is_operand else get_op_constructs(op, self.construct))

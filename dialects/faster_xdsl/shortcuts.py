# SPDX-License-Identifier: Apache-2.0
"""
Faster versions of xDSL 0.74's functions, in which lowering would spend a sixth of its time.

Each replaces a function of xDSL and returns the same result. `install_shortcuts` installs them when
the dialects are first imported. Only facts that never change are cached.

    isinstance        No class is registered with xDSL's abstract classes. Plain subclass tests
                      replace those of `ABCMeta`, without its caches of registered classes.
    hashes of IR      An op, a block, a region and a value are equal only to themselves: `object`
                      hashes them, without a Python function.
    hashes of types   Computed once for types made of other attributes or of expressions.
    expressions       Equal dimensions and numbers are one object. Sums, products and quotients, the
                      expression with replaced dimensions, and the set of used ones, are computed
                      once.
    operands by name  Read from the op's own tuple of operands, without a view of it.
    structure         Fields and neighbours of ops and blocks are read without Python functions
                      where possible (`walk.py`).

Unnecessary when `Operation`, `Attribute` and `SSAValue` have no `ABCMeta`, xDSL's attributes and
affine expressions cache their hash, and its accessors read `_operands` directly.
"""

from abc import ABCMeta
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from xdsl.dialects.builtin import (
    AffineMapAttr,
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
from xdsl.ir import Attribute, Block, Operation, ParametrizedAttribute, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.ir.core import SSAValues
from xdsl.irdl import IRDLOperation
from xdsl.irdl.operations import (
    BaseAccessor,
    BaseAttrAccessor,
    BeforeVariadicSingleAccessor,
    VarIRConstruct,
    get_op_constructs,
)

from tilewright.dialects.faster_xdsl.built_op import init_op
from tilewright.dialects.faster_xdsl.verify_once import verify_attribute
from tilewright.dialects.faster_xdsl.walk import STRUCTURE

Frozen = TypeVar("Frozen")

_ABSTRACT = (Operation.__mro__[1], SSAValue, Attribute, AffineExpr)
"""
Abstract classes with the most `isinstance` tests; the first is the base of ops, blocks and regions.
"""

_ITSELF = (Operation, IRDLOperation, Block, Region, SSAValue, AffineBinaryOpKind)
"""Classes whose instances are equal only to themselves."""

_COMPOSED = (
    AffineBinaryOpExpr,
    AffineConstantExpr,
    AffineDimExpr,
    AffineMap,
    AffineMapAttr,
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
"""Classes of immutable attributes and expressions that are hashed many times."""


def install_shortcuts() -> None:
    """Replace the slow functions of xDSL by the faster ones of this module."""
    for root in _ABSTRACT:
        for kind in _derived(root):
            kind.__class__ = _Plain
    for kind in _ITSELF:
        kind.__hash__ = object.__hash__
    for kind in _COMPOSED:
        cache_hash(kind)
    replace(AffineExpr, _EXPRESSIONS)
    for kind, functions in STRUCTURE.items():
        replace(kind, functions)
    replace(IRDLOperation, {"__init__": init_op})
    replace(ParametrizedAttribute, {"_verify": verify_attribute})
    replace(SSAValues, {"__getitem__": vars(tuple)["__getitem__"]})
    replace(BeforeVariadicSingleAccessor, {"__get__": _single})
    replace(BaseAccessor, {"__get__": _several})
    replace(BaseAttrAccessor, {"__get__": _sized})


def replace(kind: type, functions: Mapping[str, object]) -> None:
    """Replace functions of a class of xDSL, given by name."""
    for name, function in functions.items():
        setattr(kind, name, function)


# --- Classes


class _Plain(ABCMeta):
    """
    Metaclass of xDSL's abstract classes, whose `isinstance` and `issubclass` only test plain
    inheritance, because no subclasses are registered.
    """

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__


def _derived(kind: type) -> Iterator[type]:
    """
    Yield `kind`, if its metaclass is `ABCMeta`, and all classes with that metaclass derived from
    it.
    """
    if type(kind) is ABCMeta:
        yield kind
    for inner in type.__subclasses__(kind):
        yield from _derived(inner)


# --- Hashes


def cache_hash(kind: type[Frozen]) -> type[Frozen]:
    """
    Cache the hash in each instance of a class whose instances are immutable; return the class.
    """
    compute: Callable[[Any], int] = kind.__hash__

    def memoised(self: Any) -> int:
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", found := compute(self))
            return found

    def without_hash(self: Any) -> dict[str, Any]:  # string hashes differ in another process
        return {name: value for name, value in self.__dict__.items() if name != "_hash"}

    replace(kind, {"__hash__": memoised, "__getstate__": without_hash})
    return kind


# --- Expressions


_xdsl_replace_dims = AffineExpr.replace_dims_and_symbols
_xdsl_used_dims = AffineExpr.used_dims


@lru_cache(maxsize=1 << 10)
def _constant(value: int) -> AffineExpr:
    return AffineConstantExpr(value)


@lru_cache(maxsize=1 << 10)
def _dimension(position: int) -> AffineExpr:
    return AffineDimExpr(position)


def _replace_dims(self: AffineExpr, new_dims: Any, new_symbols: Any) -> AffineExpr:
    if isinstance(self, AffineDimExpr | AffineConstantExpr):
        return _xdsl_replace_dims(self, new_dims, new_symbols)
    return _replaced(self, tuple(new_dims), tuple(new_symbols))


@lru_cache(maxsize=1 << 14)
def _replaced(expr: AffineExpr, dims: Any, symbols: Any) -> AffineExpr:
    return _xdsl_replace_dims(expr, dims, symbols)


def _used_dims(self: AffineExpr) -> set[int]:
    return {*_dims(self)}


@lru_cache(maxsize=1 << 14)
def _dims(expr: AffineExpr) -> frozenset[int]:
    return frozenset(_xdsl_used_dims(expr))


def _cached(compute: Callable[[Any, Any], AffineExpr]) -> object:
    """Return a method with the results of `compute`; equal results are often one object."""
    return lru_cache(maxsize=1 << 14)(compute)


_EXPRESSIONS = {
    "__add__": _cached(AffineExpr.__add__),
    "__floordiv__": _cached(AffineExpr.__floordiv__),
    "__mod__": _cached(AffineExpr.__mod__),
    "__mul__": _cached(AffineExpr.__mul__),
    "constant": staticmethod(_constant),
    "dimension": staticmethod(_dimension),
    "replace_dims_and_symbols": _replace_dims,
    "used_dims": _used_dims,
}


# --- Operands


_OPERAND, _RESULT = VarIRConstruct.OPERAND, VarIRConstruct.RESULT


def _single(self: Any, obj: Any, objtype: object = None) -> Any:
    if self.construct is _OPERAND:
        return obj._operands[self.idx]
    if self.construct is _RESULT:
        return obj.results[self.idx]
    held: Any = get_op_constructs(obj, self.construct)
    return held[self.idx]


def _several(self: Any, obj: Any, objtype: object = None) -> Any:
    if self.construct is _OPERAND:
        return _values(self.index(obj._operands))
    return _values(self.index(get_op_constructs(obj, self.construct)))


_xdsl_sized: Any = vars(BaseAttrAccessor)["__get__"]


def _sized(self: Any, obj: Any, objtype: object = None) -> Any:
    return _values(_xdsl_sized(self, obj, objtype))


def _values(found: Any) -> Any:
    """Return a slice of values with its types, and anything else unchanged."""
    is_slice = found.__class__ is tuple and (not found or isinstance(found[0], SSAValue))
    return SSAValues(found) if is_slice else found

# SPDX-License-Identifier: Apache-2.0
"""
Hints of what a pattern looks at: the functions, monoids, numbers and ops that its code mentions.

Code of a pattern is that of its methods and of the functions that these call, except in xDSL.
Tables that the code reads are searched, too. Random programs use what is mentioned more often.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from types import CodeType, FunctionType, MethodType
from typing import Any, cast

from xdsl.dialects import pdl
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, TensorType
from xdsl.interpreters.pdl import PDLRewritePattern
from xdsl.ir import Attribute, Operation
from xdsl.pattern_rewriter import RewritePattern
from xdsl.utils.hints import isa

from tilewright.dialects.element_types import ELEMENTS
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.dialects.prim import Prim
from tilewright.dialects.scalar_function import ScalarFunction, ScalarFunctionAttr

_OPS = {op.__name__: op for op in Prim.operations}

_FUNCTIONS = frozenset(map(str, ScalarFunction))
_ELEMENTS = {str(element): element for element in ELEMENTS}
_MONOIDS = frozenset(map(str, Monoid))

_FOREIGN = ("xdsl.", "builtins", "abc")
"""Beginnings of the modules whose code is not searched."""

_DEEPEST = 4
"""Depth to which tables are searched."""


@dataclass
class Hints:
    """Words of Tensor IR that a pattern mentions, in the order in which they are found."""

    functions: dict[ScalarFunction, None] = field(default_factory=dict[ScalarFunction, None])
    monoids: dict[Monoid, None] = field(default_factory=dict[Monoid, None])
    numbers: dict[float, None] = field(default_factory=dict[float, None])
    elements: dict[Attribute, None] = field(default_factory=dict[Attribute, None])
    types: dict[TensorType[Attribute], None] = field(
        default_factory=dict[TensorType[Attribute], None]
    )
    ops: dict[type[Operation], None] = field(default_factory=dict[type[Operation], None])
    _seen: set[int] = field(default_factory=set[int])

    def add(self, value: Any, depth: int = 0) -> None:
        """Add what a value mentions: a function's code, a table's entries, or a constant."""
        if isinstance(value, MethodType):
            self.add(value.__func__)
        elif isinstance(value, FunctionType):
            self._add_function(value)
        elif isinstance(value, Attribute) and str(value) in _ELEMENTS:
            self.elements[value] = None
        elif isinstance(value, ScalarFunctionAttr | MonoidAttr):
            self._add_word(value.data)
        elif isa(value, FloatAttr | IntegerAttr):
            self.numbers[float(value.value.data)] = None
        elif isinstance(value, type):
            self._add_class(value)
        elif isinstance(value, str):
            self._add_word(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            self.numbers[float(value)] = None
        elif depth < _DEEPEST:
            self._add_table(value, depth)

    def _add_class(self, value: type) -> None:
        if value.__name__ in _OPS:
            self.ops[_OPS[value.__name__]] = None

    def _add_word(self, word: str) -> None:
        if word in _FUNCTIONS:
            self.functions[ScalarFunction(word)] = None
        if word in _ELEMENTS:
            self.elements[_ELEMENTS[word]] = None
        if word in _MONOIDS:
            self.monoids[Monoid(word)] = None

    def _add_table(self, value: Any, depth: int) -> None:
        if isinstance(value, Attribute | Operation):
            return
        entries: Iterable[Any] = ()
        if isinstance(value, Mapping):
            table = cast(Mapping[Any, Any], value)
            entries = [*table.keys(), *table.values()]
        elif isinstance(value, tuple | list):
            entries = cast(Iterable[Any], value)
        elif isinstance(value, frozenset | set):
            entries = sorted(cast(Iterable[Any], value), key=str)
        elif is_dataclass(value):
            entries = [getattr(value, each.name) for each in fields(value)]
        for entry in entries:
            self.add(entry, depth + 1)

    def _add_function(self, function: Any) -> None:
        code = function.__code__
        if id(code) in self._seen or function.__module__.startswith(_FOREIGN):
            return
        self._seen.add(id(code))
        for cell in function.__closure__ or ():
            self.add(cell.cell_contents)
        self._add_code(code, function.__globals__)

    def _add_code(self, code: CodeType, names: Mapping[str, Any]) -> None:
        """Add what a function's code mentions; names of attributes may be those of enumerations."""
        for name in code.co_names:
            if name.isupper() or name in _ELEMENTS:
                self._add_word(name.lower())
            if name in _OPS:
                self.ops[_OPS[name]] = None
            if (value := names.get(name)) is not None and name != "ScalarFunction":
                self.add(value)
        for constant in code.co_consts[1:]:
            if isinstance(constant, CodeType):
                self._add_code(constant, names)
            elif constant is not None:
                self.add(constant)


def hints_of(pattern: RewritePattern) -> Hints:
    """Return the hints of a pattern's methods and fields, or of its PDL text."""
    hints = Hints()
    if isinstance(pattern, PDLRewritePattern):
        _add_pdl(hints, pattern.pdl_rewrite_op.parent_op())
        return hints
    own = [kind for kind in type(pattern).__mro__ if not kind.__module__.startswith(_FOREIGN)]
    for name, value in [item for kind in own for item in vars(kind).items()]:
        if not name.startswith("__"):
            hints.add(getattr(value, "__func__", value))
            _add_decorated(hints, value)
    for value in vars(pattern).values():
        hints.add(value)
    return hints


def _add_pdl(hints: Hints, pattern: Operation | None) -> None:
    """Add the ops, the constant attributes and the constant types of a `pdl.pattern`."""
    for op in () if pattern is None else pattern.walk():
        if isinstance(op, pdl.OperationOp) and op.opName is not None:
            found = (each for each in Prim.operations if each.name == op.opName.data)
            hints.ops |= dict.fromkeys(found)
        elif isinstance(op, pdl.AttributeOp):
            hints.add(op.value)
        elif isinstance(op, pdl.TypeOp) and isa(op.constantType, TensorType[Attribute]):
            hints.types[op.constantType] = None


def _add_decorated(hints: Hints, method: Any) -> None:
    """Add the function behind a method that xDSL's decorator wraps."""
    for cell in getattr(method, "__closure__", None) or ():
        hints.add(cell.cell_contents)

# SPDX-License-Identifier: Apache-2.0
"""
Random programs of Tensor IR around an op of a chosen class, which is the root of a rule.

A program grows from its root towards the arguments: each operand is a value of the type that the
op needs. It is an argument, a constant, a value that exists, or the result of another op. Programs
use the functions and numbers that the rule mentions more often than others. A program depends on
its number alone.
"""

from collections.abc import Mapping, Sequence
from math import inf
from random import Random

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, f32, f64, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilewright.dialects import prim
from tilewright.dialects.element_types import (
    FLOATS,
    HALVES,
)
from tilewright.dialects.types import element_of, shape_of, tensor_of
from tilewright.tools.rules.functions import calls_of
from tilewright.tools.rules.hints import Hints
from tilewright.tools.rules.makers import MAKERS

SHAPES = (
    *((), (1,), (4,), (7,), (3, 3), (3, 3), (2, 2), (2, 5), (1, 4), (4, 1)),
    *((2, 3, 2), (3, 3, 3), (2, 2, 2), (1, 3, 1), (0, 2)),
)
"""Shapes of results: of rank 0, with size 1, odd, square, and empty."""

_DEEPEST = 3
"""Number of ops on a path from the root to an argument."""

_NUMBERS = (0.0, 1.0, -1.0, 2.0, 0.5, -0.0, 3.0, inf, -inf)
_ELEMENTS_OF: Mapping[type[Operation], Sequence[Attribute]] = {
    prim.IotaOp: (i32, i64),
    prim.PredicateOp: (i1,),
}
_ELEMENTS = (f32, f32, f64, i32, i64, i1)


def drawn_program(number: int, root: type[Operation], hints: Hints) -> ModuleOp:
    """Return the program of a number, whose last op but for its readers is a `root`."""
    return _Grower(Random(number), hints).program(root)


def draws(op: type[Operation]) -> bool:
    """True if random programs can have an op of a class."""
    return op in MAKERS


class _Grower:
    """Builder of one program: a function with one block."""

    def __init__(self, random: Random, hints: Hints):
        self.random, self.hints = random, hints
        self.block = Block()
        self.values: list[SSAValue] = []

    def program(self, root: type[Operation]) -> ModuleOp:
        """Return the program of a function that returns a root, and a few other values."""
        random = self.random
        while (made := self.made(root, self._type(root), _DEEPEST)) is None:
            pass
        results: list[SSAValue] = [*made.results]
        others = [v for v in self.values if v not in results and isinstance(v.owner, Operation)]
        if others and random.random() < 0.3:
            results.append(random.choice(others))
        if random.random() < 0.2 and (reader := self._reader(results[0])) is not None:
            results = [reader, *results[random.randrange(2) :]]
        self.block.add_op(func.ReturnOp(*results))
        types = [*self.block.arg_types], [value.type for value in results]
        return ModuleOp([func.FuncOp("main", types, Region(self.block))])

    def _type(self, root: type[Operation]) -> TensorType[Attribute]:
        """Return a type that the result of a root may have."""
        if self.hints.types and self.random.random() < 0.6:
            return self.random.choice([*self.hints.types])
        elements = _ELEMENTS_OF.get(root, _ELEMENTS)
        mentioned = [each for each in self.hints.elements if each in elements]
        if mentioned and self.random.random() < 0.5:
            elements = mentioned
        elif root is prim.ElementwiseOp and self.random.random() < 0.15:
            elements = HALVES  # a cast
        return tensor_of(self.random.choice(elements), self.random.choice(SHAPES))

    def _reader(self, value: SSAValue) -> SSAValue | None:
        """Return the result of a function that reads a value."""
        element = element_of(value)
        calls = [c for function in calls_of(element).values() for c in function if element in c[1]]
        if not calls:
            return None
        function, operands = self.random.choice(calls)
        type = tensor_of(operands[0], shape_of(value))
        inputs = [
            value if each == element else self.value(tensor_of(each, type.get_shape()), 0)
            for each in operands
        ]
        return self.add(prim.ElementwiseOp(function, inputs, element)).results[0]

    def value(self, type: TensorType[Attribute], depth: int) -> SSAValue:
        """Return a value of a type, with at most `depth` ops on a path to an argument."""
        random = self.random
        same = [value for value in self.values if value.type == type]
        if same and random.random() < 0.25:
            return random.choice(same)
        drawn = random.random()
        if drawn < 0.2:
            return self._constant(type)
        if depth > 0 and drawn < 0.75:
            for _ in range(4):
                if (made := self.made(self._class(), type, depth)) is not None:
                    return next(r for r in made.results if r.type == type)
        argument = self.block.insert_arg(type, len(self.block.args))
        self.values.append(argument)
        return argument

    def made(
        self, op: type[Operation], type: TensorType[Attribute], depth: int
    ) -> Operation | None:
        """Return an op of a class with a result of a type; None if the draw gives none."""
        made = MAKERS[op](self, type, depth - 1)
        return None if made is None else self.add(made)

    def _class(self) -> type[Operation]:
        """Return the class of an operand's op: more often one that the rule mentions."""
        mentioned = [op for op in self.hints.ops if op in MAKERS and op is not prim.ConstantOp]
        if mentioned and self.random.random() < 0.7:
            return self.random.choice(mentioned)
        return self.random.choice((prim.ElementwiseOp, *MAKERS))

    def add(self, op: Operation) -> Operation:
        """Add an op to the end of the program, and return it."""
        self.block.add_op(op)
        self.values += op.results
        return op

    def _constant(self, type: TensorType[Attribute]) -> SSAValue:
        made = MAKERS[prim.ConstantOp](self, type, 0)
        assert made is not None
        return self.add(made).results[0]

    def number(self, element: Attribute) -> float:
        """Return a number for a constant, more often one that the rule mentions."""
        numbers = [*self.hints.numbers]
        mentioned = bool(numbers) and self.random.random() < 0.6
        number = self.random.choice(numbers if mentioned else _NUMBERS)
        if element in FLOATS:
            return number
        return float(self.random.randrange(-1, 4)) if number in (inf, -inf) else number

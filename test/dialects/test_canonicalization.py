# SPDX-License-Identifier: Apache-2.0
"""
`canonicalize` gives the results of the passes with its patterns, and changes no computed value.
"""

from collections.abc import Callable, Hashable
from math import prod
from typing import NamedTuple

from draws import drawn
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue
from xdsl.parser import Parser

from tilewright.interpreters.check import check_pass
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.pipeline_string import parse_pipeline
from tilewright.passes.driver.pipelines import available_passes
from tilewright.passes.driver.verification import verify_module

from ..passes.plans import plans

CONSTANTS = ("0.0", "-0.0", "1.0", "2.0")
FUNCTIONS = ("add", "sub", "mul", "div", "maximum", "lt", "eq")


class Value(NamedTuple):
    """A matrix of f32 in the program, by name."""

    name: str
    rows: int
    columns: int

    @property
    def type(self) -> str:
        return f"tensor<{self.rows}x{self.columns}xf32>"


def view(old: Value, new: Value, map: str, where: str = "") -> str:
    """Return the line that makes `new` from the elements of `old`."""
    mask = f" where affine_map<(d0, d1) -> ({where})> else 0.0 : f32" if where else ""
    by = f"{old.name} by affine_map<(d0, d1) -> ({map})>{mask}"
    return f"{new.name} = prim.index_map {by} : {old.type} -> {new.type}"


class Program:
    """Random lines of Tensor IR, each of which uses earlier values."""

    def __init__(self, draw: DrawFn):
        self.draw = draw
        self.values = [Value("%x", 6, 4)]
        self.lines: list[str] = []

    def new(self, rows: int, columns: int) -> Value:
        """Return a value for the next line to define."""
        self.values.append(Value(f"%v{len(self.values)}", rows, columns))
        return self.values[-1]

    def constant(self, like: Value) -> Value:
        new = self.new(like.rows, like.columns)
        number = self.draw(st.sampled_from(CONSTANTS))
        self.lines.append(f"{new.name} = prim.constant {number} : f32 -> {new.type}")
        return new

    def transpose(self, old: Value) -> None:
        self.lines.append(view(old, self.new(old.columns, old.rows), "d1, d0"))

    def reshape(self, old: Value) -> None:
        size = prod(old[1:])
        rows = self.draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0]))
        new = self.new(rows, size // rows)
        at = f"(d0 * {new.columns} + d1)"
        by = f"{at} floordiv {old.columns}, {at} mod {old.columns}"
        self.lines.append(view(old, new, by))

    def shift(self, old: Value) -> None:
        self.lines.append(view(old, self.new(old.rows + 1, old.columns), "d0 - 1, d1", "d0 - 1"))

    def cast(self, old: Value) -> None:
        new = self.new(old.rows, old.columns)
        wide = f"tensor<{old.rows}x{old.columns}xf64>"
        self.lines += [
            f"{new.name}w = prim.elementwise cast({old.name}) : ({old.type}) -> {wide}",
            f"{new.name} = prim.elementwise cast({new.name}w) : ({wide}) -> {old.type}",
        ]

    def negate(self, old: Value) -> None:
        new = self.new(old.rows, old.columns)
        self.lines.append(f"{new.name} = prim.elementwise neg({old.name}) : {old.type}")

    def compute(self, old: Value) -> None:
        other = self.constant(old)
        left, right = self.draw(st.permutations([old, other, other]))[:2]
        new, function = self.new(old.rows, old.columns), self.draw(st.sampled_from(FUNCTIONS))
        operands, types = f"{left.name}, {right.name}", f"{old.type}, {old.type}"
        truth = f"tensor<{old.rows}x{old.columns}xi1>"
        if function not in ("lt", "eq"):
            line = f"{new.name} = prim.elementwise {function}({operands}) : {old.type}"
            self.lines.append(line)
            return
        self.lines += [
            f"{new.name}c = prim.elementwise {function}({operands}) : ({types}) -> {truth}",
            f"{new.name} = prim.elementwise select({new.name}c, {operands}) "
            f": ({truth}, {types}) -> {old.type}",
        ]


STEPS: tuple[Callable[[Program, Value], object], ...] = (
    Program.transpose,
    Program.reshape,
    Program.shift,
    Program.constant,
    Program.cast,
    Program.negate,
    Program.compute,
)


@st.composite
def programs(draw: DrawFn) -> str:
    """Draw a function of one matrix in Tensor IR."""
    program = Program(draw)
    for _ in range(draw(st.integers(3, 9))):
        step = draw(st.sampled_from(STEPS))
        step(program, draw(st.sampled_from([program.values[-1], *program.values])))
    results = [program.values[-1], draw(st.sampled_from(program.values))]
    types = ", ".join(value.type for value in results)
    returned = f"func.return {', '.join(value.name for value in results)} : {types}"
    lines = [*program.lines, returned]
    return f"func.func @main(%x: tensor<6x4xf32>) -> ({types}) {{\n" + "\n".join(lines) + "\n}"


def after(module: ModuleOp, pipeline: str) -> ModuleOp:
    """Return a copy of `module` after the passes."""
    new, ctx = module.clone(), context()
    for step in parse_pipeline(pipeline, available_passes()):
        step.apply(ctx, new)
    verify_module(new)
    return new


def settled(module: ModuleOp, pipeline: str) -> ModuleOp:
    """Return the module after running the passes until they change nothing."""
    new = after(module, pipeline)
    return new if str(new) == str(module) else settled(new, pipeline)


def terms(module: ModuleOp, numbers: dict[Hashable, int]) -> list[int]:
    """
    Return the results of `@main` as numbers: equal terms, apart from names and order, are equal.
    """
    (main,) = module.ops
    assert isinstance(main, FuncOp)
    known: dict[SSAValue, int] = dict.fromkeys(main.body.block.args, -1)
    for op in main.body.block.ops:
        operands = [known[operand] for operand in op.operands]
        if isinstance(op, ReturnOp):
            return operands
        (result,) = op.results
        term = op.name, result.type, *operands, *op.properties.items()
        known[result] = numbers.setdefault(term, len(numbers))
    raise AssertionError("no return")


def canonicalized(text: str) -> tuple[ModuleOp, ModuleOp]:
    """
    Return the module before and after `canonicalize`, after checking that both compute the same.
    """
    note(text)
    module = Parser(context(), text).parse_module()
    new = after(module, "canonicalize")
    report = check_pass(module, new, "canonicalize")
    assert (report.compared, report.notes) == (("main",), ())
    return module, new


@settings(max_examples=drawn(120), suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def test_tensor_ir(program: str) -> None:
    module, new = canonicalized(program)
    passes = "compose-index-maps,fold-elementwise"
    numbers: dict[Hashable, int] = {}
    assert terms(new, numbers) == terms(settled(module, passes), numbers)


@settings(max_examples=drawn(40), suppress_health_check=[HealthCheck.too_slow])
@given(plans())
def test_loop_ir(plan: str) -> None:
    module, new = canonicalized(plan)
    assert str(new) == str(after(module, "simplify-accesses,canonicalize"))
    assert str(new) == str(after(new, "simplify-accesses"))

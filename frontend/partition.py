# SPDX-License-Identifier: Apache-2.0
"""
Split of a program into code that runs now, outside, and the body of the captured function.

These run outside: tensor constructors, whose results are the inputs; module classes; and other code
that touches no input. Statements are read in the program's order. A statement runs outside only if
no earlier statement in the body can observe the difference.
"""

import ast
import math
from dataclasses import dataclass, field
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from tilewright.frontend.global_names import Names, names_of
from tilewright.frontend.source import FILE, Place, error_at, place_at

CONSTRUCTORS = (
    "arange as_tensor empty eye full linspace logspace normal ones rand randint randn randperm "
    "tensor zeros"
).split()
"""Functions of `torch` whose results are inputs."""

CASTS = "bfloat16 bool double float half int long requires_grad_ short to".split()
"""Methods that may follow a constructor as a part of it."""

_DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def place_of(node: ast.stmt | ast.expr) -> Place:
    """Return the place of a node in the text."""
    return place_at(FILE, node.lineno, node.col_offset)


def initial_scope() -> dict[str, Any]:
    """
    Return the names that a text may use without importing them.

    `__name__` is missing: `torch.compile` would look for a module of that name.
    """
    import torch
    from torch import nn

    return {"torch": torch, "nn": nn, "F": nn.functional, "math": math}


@dataclass
class Partition:
    """Program that has been read so far."""

    outside: dict[str, Any] = field(default_factory=initial_scope)
    """Values of the names that are bound outside, by name, except inputs."""
    inputs: dict[str, Any] = field(default_factory=dict[str, Any])
    """Tensors that the captured function is called with, by name."""
    inside: list[ast.stmt] = field(default_factory=list[ast.stmt])
    """Statements of the captured function's body."""
    made_inside: set[str] = field(default_factory=set[str])
    """Names that the body binds."""
    touched: set[str] = field(default_factory=set[str])
    """Names that the body uses or binds; from now on their meaning must not change."""
    used_by_definitions: dict[str, str] = field(default_factory=dict[str, str])
    """
    Names that functions and classes defined outside look up when they run, each with the name of
    one such function or class.
    """
    reserved: set[str] = field(default_factory=set[str])
    """Names that occur anywhere in the program: new names must differ."""

    # --- Inputs

    def bind_inputs(self, statement: ast.stmt) -> bool:
        """
        Take `x = torch.randn(...)` as an input called x, unless x has a meaning already. Returns
        True if an input was bound.
        """
        bindings = _bindings(statement)
        names = {name for name, _ in bindings}
        taken = names & (self.touched | {*self.inputs})
        if not names or taken or len(names) < len(bindings):
            return False
        if not all(self.is_input(value) for _, value in bindings):
            return False
        for name, value in bindings:
            self.inputs[name] = self.evaluate(value)
            self.outside.pop(name, None)
        return True

    def is_input(self, code: ast.expr) -> bool:
        """True if code is a tensor constructor, perhaps with casts, that can be evaluated now."""
        if not self.is_constant(code):
            return False
        while isinstance(code, ast.Call) and not self.is_constructor(code):
            if not isinstance(code.func, ast.Attribute) or code.func.attr not in CASTS:
                return False
            code = code.func.value
        return self.is_constructor(code)

    def is_constructor(self, code: ast.AST) -> bool:
        """True if code calls a tensor constructor, under any name."""
        import torch

        if not isinstance(code, ast.Call):
            return False
        callee = self.resolve(code.func)
        return callee is torch.nn.Parameter or any(
            callee is getattr(torch, name) for name in CONSTRUCTORS
        )

    def new_input(self, tensor: Any) -> str:
        """Add an input for a tensor without a name; return its new name."""
        number = sum(name.startswith("t") and name[1:].isdigit() for name in self.inputs)
        name = self.fresh_name(f"t{number}")
        self.inputs[name] = tensor
        return name

    def fresh_name(self, wish: str) -> str:
        """Return `wish`, with a number added if the name is taken."""
        name, count = wish, 0
        while name in self.reserved or name in self.outside or name in self.inputs:
            count += 1
            name = f"{wish}_{count}"
        return name

    # --- Outside

    def is_dynamic(self, names: Names) -> bool:
        """
        True if `names`, those that some code uses, contain an input or a name that the body binds.
        """
        return not names.loaded.isdisjoint({*self.inputs} | self.made_inside)

    def is_constant(self, code: ast.stmt | ast.expr) -> bool:
        """
        True if code can be evaluated now, before the body runs, without a difference to the
        statements of the body read so far.
        """
        names = names_of_body(code)
        settled = self.touched | {*self.inputs}
        changeable = {n for n in names.loaded & self.touched if not _is_fixed(self.outside.get(n))}
        return not (self.is_dynamic(names) or names.stored & settled or changeable)

    def makes_input(self, code: ast.AST) -> bool:
        """True if code contains a tensor constructor."""
        return any(self.is_constructor(node) for node in ast.walk(code))

    def runs_outside(self, statement: ast.stmt) -> bool:
        """
        True if a statement can be executed now as a whole: it is no `return`, and the body cannot
        observe it. Except for a definition or an import, it must not make an input.
        """
        if isinstance(statement, ast.Return) or not self.is_constant(statement):
            return False
        return isinstance(statement, _DEFINITIONS) or not self.makes_input(statement)

    def run(self, statement: ast.stmt) -> None:
        """Run a statement outside; tensors that it binds become inputs."""
        import torch

        exec(compile(ast.Module([statement], []), FILE, "exec"), self.outside)
        names = names_of(statement)
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            self.used_by_definitions |= dict.fromkeys(sorted(names.loaded), statement.name)
        for name in sorted(names.stored & {*self.outside}):
            if isinstance(self.outside[name], torch.Tensor):
                self.inputs[name] = self.outside.pop(name)

    def evaluate(self, code: ast.expr) -> Any:
        """Return the value of code that can run now."""
        return eval(compile(ast.Expression(code), FILE, "eval"), self.outside)

    def resolve(self, code: ast.expr) -> Any:
        """Return the value of `name` or `name.attribute...` if it is bound outside; else None."""
        if isinstance(code, ast.Attribute):
            return getattr(self.resolve(code.value), code.attr, None)
        return self.outside.get(code.id) if isinstance(code, ast.Name) else None

    # --- Inside

    def add(self, statement: ast.stmt) -> None:
        """Add a statement to the body."""
        names = names_of_body(statement)
        self._refuse_hidden_use(statement, names)
        self.made_inside |= names.stored
        self.touched |= names.loaded | names.stored | {*self.used_by_definitions}
        self.inside.append(statement)

    def _refuse_hidden_use(self, statement: ast.stmt, names: Names) -> None:
        """
        Raise `UsageError` if the body binds a name that a definition outside reads: the definition
        would not see the new value.
        """
        for name in sorted(names.stored & {*self.used_by_definitions}):
            raise error_at(
                place_of(statement),
                f"{name!r} is assigned here, but {self.used_by_definitions[name]!r} uses it too: "
                "pass it as an argument",
            )


def _bindings(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    """
    Return the names that a plain assignment binds, each with the expression of its value; empty for
    other statements.
    """
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return [(name, value)]
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            return [(name, value)]
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            return [*zip(names, values, strict=True)] if len(names) == len(values) else []
        case _:
            return []


def names_of_body(code: ast.stmt | ast.expr) -> Names:
    """
    Return the names that code uses and binds; of a `return` statement, those of its expression.
    """
    if isinstance(code, ast.Return):
        assert code.value is not None
        return names_of(code.value)
    return names_of(code)


def _is_fixed(value: Any) -> bool:
    """
    True if no later code can change a value, because it is immutable or a module, class or
    function.
    """
    import torch

    return isinstance(
        value,
        int | float | str | None | torch.dtype | ModuleType | type | FunctionType
        | BuiltinFunctionType,
    )  # fmt: skip

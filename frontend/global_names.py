# SPDX-License-Identifier: Apache-2.0
"""Global names that a piece of code reads and binds, according to Python's own compiler."""

import ast
import dis
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType


@dataclass(frozen=True)
class Names:
    """Global names that code reads, and global names that it binds."""

    loaded: frozenset[str]
    stored: frozenset[str]


_LOADS = frozenset({"LOAD_NAME", "LOAD_GLOBAL"})
_STORES = frozenset({"STORE_NAME", "STORE_GLOBAL", "DELETE_NAME", "DELETE_GLOBAL"})


def names_of(code: ast.stmt | ast.expr) -> Names:
    """
    Return the global names that a statement or an expression uses, at the top level of a program.
    """
    if isinstance(code, ast.expr):
        compiled = compile(ast.Expression(code), "<names>", "eval")
    else:
        compiled = compile(ast.Module([code], []), "<names>", "exec")
    loaded, stored = _used_by(compiled)
    for nested in _within(compiled):
        names, bound = _used_by(nested)
        # Names bound in a class body are its attributes.
        loaded |= names - bound
    return Names(loaded, stored)


def _used_by(code: CodeType) -> tuple[frozenset[str], frozenset[str]]:
    used = [(i.opname, i.argval) for i in dis.get_instructions(code)]
    loaded = frozenset(name for operation, name in used if operation in _LOADS)
    return loaded, frozenset(name for operation, name in used if operation in _STORES)


def _within(code: CodeType) -> Iterator[CodeType]:
    """
    Yield the code objects of the functions, classes and comprehensions that code defines, at any
    depth.
    """
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _within(constant)

# SPDX-License-Identifier: Apache-2.0
"""The functions of a program that run on the host, and their launches."""

from collections.abc import Iterator

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.dialects.faster_xdsl.walk import ops_in


def entries(program: ModuleOp) -> list[func.FuncOp]:
    """Return the functions that no other function calls: `@main`."""
    called = {op.callee.string_value() for op in ops_in(program) if isinstance(op, func.CallOp)}
    return [f for f in program.ops if isinstance(f, func.FuncOp) and f.sym_name.data not in called]


def launches(program: ModuleOp) -> Iterator[loop.LaunchOp]:
    """
    Yield each launch in one run of a program at Loop IR, once per execution, in no fixed order.
    """
    functions = {op.sym_name.data: op for op in program.ops if isinstance(op, func.FuncOp)}
    pending = [*entries(program)]
    while pending:
        for op in ops_in(pending.pop()):
            if isinstance(op, loop.LaunchOp):
                yield op
            elif isinstance(op, func.CallOp) and (name := op.callee.string_value()) in functions:
                pending.append(functions[name])

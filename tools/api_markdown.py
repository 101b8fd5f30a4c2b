# SPDX-License-Identifier: Apache-2.0
"""
Reference page `docs/python-api.md`: the Python API of programs, and of ops for pass authors.

    python -m tilewright.tools.api_markdown docs/python-api.md

Signatures and sentences come from the code.
"""

import ast
import inspect
import sys
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

from xdsl.ir import Operation

import tilewright
from tilewright.dialects import get_all_dialects
from tilewright.tools.output.markdown import code, first_paragraph, first_sentence, row, table
from tilewright.tools.output.output_path import write_text

_HEAD = """\
# Python API

After this page you can compile and run programs from Python, and build and read ops in your own
pass. `python -m tilewright.tools.api_markdown docs/python-api.md` writes it from the code.

## Programs

```python
>>> import torch, tilewright
>>> program = tilewright.compile(torch.nn.ReLU(), torch.randn(16, 64))
>>> program(-torch.ones(16, 64)).max()
tensor(0.)
>>> [kernel.kernel for kernel in program.kernels]
['relu']
>>> print(program.ir("tensor"))
builtin.module {
...
```
"""

_OPS = """\
## Ops

A pass imports a dialect and builds its ops: `from tilewright.dialects import loop`, then
`loop.StoreOp(value, memref, subscripts)`. `subscripts` and `where` are pairs of affine expressions
and the SSA values that stand for their dimensions. `where` is a mask: its expressions must be 0 or
more. Below the constructor of each op stand its own methods and properties.
[Writing a pass](writing-a-pass.md) and
[Writing a scheduling pass](writing-a-scheduling-pass.md) use them.
"""

_DIALECTS = {"prim": "Tensor IR", "loop": "Loop IR", "tile": "Tile IR", "kernel": "Kernel IR"}
"""Dialects whose ops pass authors build, each with the name of its IR level."""


_HEADS = ("Python", "meaning")


def markdown() -> str:
    """Return the text of `docs/python-api.md`."""
    program = tilewright.CompiledProgram
    functions = (_function(name) for name in tilewright.__all__ if name != program.__name__)
    members = table(("member", "meaning"), _member_rows(program, ""))
    heading = f"### {program.__name__}\n\n{first_paragraph(program)}\n\n"
    dialects = (_dialect(name, level) for name, level in _DIALECTS.items())
    return "\n".join([_HEAD, *functions, heading + members, _OPS, *dialects, _bases()])


def _function(name: str) -> str:
    function = getattr(tilewright, name)
    return f"### {name}\n\n`{name}({_parameters(function)})`\n\n{inspect.getdoc(function)}\n"


def _dialect(name: str, level: str) -> str:
    ops = sorted(get_all_dialects()[name]().operations, key=lambda op: op.name)
    rows = (each for op in ops for each in _op_rows(op))
    return f"### {level}: `tilewright.dialects.{name}`\n\n{table(_HEADS, rows)}"


def _bases() -> str:
    """Return a section with this repository's classes that the ops derive from, by name."""
    ops = [op for name in _DIALECTS for op in get_all_dialects()[name]().operations]
    found = {base for op in ops for base in op.__mro__[1:]}
    ours = [base for base in found if base.__module__.startswith("tilewright.")]
    ordered = sorted(ours, key=lambda base: (base.__name__, base.__module__))
    rows = (
        each
        for kind in ordered
        for each in (row(code(kind.__name__), first_sentence(kind)), *_member_rows(kind, "."))
    )
    return f"### Bases of ops\n\n{table(_HEADS, rows)}"


def _op_rows(op: type[Operation]) -> Iterator[str]:
    """Yield a row for the op, then a row for each of its own members."""
    ours = (kind for kind in op.__mro__ if kind.__module__.startswith("tilewright."))
    constructor = next((vars(kind)["__init__"] for kind in ours if "__init__" in vars(kind)), None)
    parameters = "" if constructor is None else _parameters(constructor)
    yield row(code(f"{op.__name__}({parameters})"), f"`{op.name}`: {first_sentence(op)}")
    yield from _member_rows(op, ".")


def _member_rows(kind: type, prefix: str) -> Iterator[str]:
    """Yield a row for each documented public method and property that the class defines."""
    for name, member in vars(kind).items():
        function: Any = getattr(member, "__func__", member)
        if name.startswith("_") or not (inspect.getdoc(function) or "").strip():
            continue
        if inspect.isfunction(function) and _is_public(function):
            yield row(code(f"{prefix}{name}({_parameters(function)})"), first_sentence(function))
        elif type(function).__name__ in ("property", "cached_property"):
            yield row(code(f"{prefix}{name}"), first_sentence(function))


def _is_public(function: object) -> bool:
    """
    True if a method is meant to be called by users; xDSL alone calls verifiers, parsers and
    printers.
    """
    name = getattr(function, "__name__", "")
    return not name.startswith(("verify", "parse", "print", "fold", "get_irdl", "surroundings"))


def _parameters(function: Any) -> str:
    """Return the parameters as written, with defaults and without types."""
    (definition,) = ast.parse(dedent(inspect.getsource(inspect.unwrap(function)))).body
    assert isinstance(definition, ast.FunctionDef)
    arguments = definition.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    for argument in (*every, *filter(None, (arguments.vararg, arguments.kwarg))):
        argument.annotation = None
    for names in (arguments.posonlyargs, arguments.args):
        names[:] = [argument for argument in names if argument.arg not in ("self", "cls")]
    return ast.unparse(arguments)


if __name__ == "__main__":
    write_text(sys.argv[1], markdown())

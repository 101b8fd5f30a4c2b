# SPDX-License-Identifier: Apache-2.0
"""Files that repeat a failure: the program in Python, and the IR before a pass that fails."""

from collections.abc import Sequence
from typing import Any, cast

from tilewright.tools.fuzz.checks import Failure, Settings
from tilewright.tools.fuzz.graphs import Graph

_FILE = '''\
"""
{title}

{command}

{message}
"""

import torch


def program({parameters}):
{body}

program.example_inputs = (
{inputs}
)
'''

_IR = """\
// RUN: {command}
{message}

{ir}"""


def python_file(graph: Graph, failure: Failure, settings: Settings, name: str, repeat: str) -> str:
    """
    Return the text of the file `name` with the program of a graph, and commands that repeat its
    failure; `repeat` is the one that found it.
    """
    precision = settings.precision
    options = f"--device sim --target {settings.target} --matmul-precision {precision}"
    parameters = [f"x{number}" for number in range(len(graph.inputs))]
    return _FILE.format(
        title=f"{failure.kind[0].upper()}{failure.kind[1:]}; found by `{repeat}`.",
        command=f"    tilewright run {name}:program {options} --check=each",
        message="\n".join(f"    {line}".rstrip() for line in _quotable(failure.message)),
        parameters=", ".join(parameters),
        body="\n".join(f"    {line}" for line in _Statements(graph, parameters).lines),
        inputs="\n".join(f"    {_values(tensor)}," for tensor in graph.tensors()),
    )


def ir_file(failure: Failure) -> str | None:
    """Return the IR that fails by itself, with a RUN line; None if there is none."""
    if not failure.ir:
        return None
    message = "\n".join(f"// {line}".rstrip() for line in failure.message.splitlines())
    return _IR.format(command=failure.command, message=message, ir=failure.ir)


def _quotable(text: str) -> Sequence[str]:
    """Return the lines of a text as they may stand in a docstring."""
    return text.replace("\\", "\\\\").replace('"""', "'''").splitlines()


def _values(tensor: Any) -> str:
    dtype = str(tensor.dtype)
    values = tensor.double() if tensor.dtype.is_floating_point else tensor
    return f"torch.tensor({values.tolist()}, dtype={dtype})"


class _Statements:
    """Statements of PyTorch that compute a graph, written while the graph runs."""

    def __init__(self, graph: Graph, parameters: Sequence[str]):
        self.lines = list[str]()
        inputs = graph.tensors()
        self._names = [(tensor, name) for tensor, name in zip(inputs, parameters, strict=True)]
        results = graph.evaluated(self._run, inputs)
        self.lines.append(f"return ({', '.join(map(self._text, results))},)")

    def _run(self, overload: Any, *args: Any, **kwargs: Any) -> Any:
        result = overload(*args, **kwargs)
        name = f"v{len(self.lines)}"
        texts = [*map(self._text, args), *(f"{k}={self._text(v)}" for k, v in kwargs.items())]
        self.lines.append(f"{name} = torch.ops.{overload}({', '.join(texts)})")
        if not isinstance(result, tuple | list):
            shown = result.view(result.shape)
            self._names.append((shown, name))
            return shown
        parts = [part.view(part.shape) for part in cast(Sequence[Any], result)]
        self._names += [(part, f"{name}[{number}]") for number, part in enumerate(parts)]
        return parts

    def _text(self, value: Any) -> str:
        import torch

        if isinstance(value, torch.Tensor):
            return next(name for tensor, name in self._names if tensor is value)
        if isinstance(value, tuple | list):
            return f"[{', '.join(map(self._text, cast(Sequence[Any], value)))}]"
        return repr(value)

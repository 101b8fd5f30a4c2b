# SPDX-License-Identifier: Apache-2.0
"""
Graph modules that write their Python code when they are first called.

PyTorch's export makes some twenty graph modules of one program, and writes and compiles the code of
each, which takes a fifth of its time. It runs nearly none of them: it interprets their graphs.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

_SOURCE = """
def forward(self, *args, **kwargs):
    return _call_with_code(self, args, kwargs)
"""


@contextmanager
def code_when_called() -> Generator[None]:
    """Until the exit, let graph modules get code that writes their real code where it is called."""
    from torch.fx import Graph
    from torch.fx.graph import CodeGen, PythonCode

    original = Graph.python_code

    def python_code(self: Any, *args: Any, **kwargs: Any) -> Any:
        if type(self._codegen) is not CodeGen:  # export asks for the names of its arguments
            return original(self, *args, **kwargs)
        return PythonCode(_SOURCE, {"_call_with_code": call}, {})

    def call(module: Any, args: Any, kwargs: Any) -> Any:
        written, Graph.python_code = Graph.python_code, original
        try:
            module.recompile()
        finally:
            Graph.python_code = written
        return module.forward(*args, **kwargs)

    Graph.python_code = python_code
    try:
        yield
    finally:
        Graph.python_code = original

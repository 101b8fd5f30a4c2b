# SPDX-License-Identifier: Apache-2.0
"""
Graph modules that generate their Python code when they are first called.

PyTorch's export makes some twenty graph modules per program. It generates and compiles the code of
each, which takes a fifth of its time. Nearly none of that code runs, because export interprets the
graphs.
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

from tilewright.frontend.replaced import replaced

_SOURCE = """
def forward(self, *args, **kwargs):
    return _call_with_code(self, args, kwargs)
"""

Forward = Callable[..., Any]


@contextmanager
def code_when_called() -> Generator[None]:
    """Delay, within the `with` block, the generation of a graph module's code to its first call."""
    from torch.fx import Graph, graph_module
    from torch.fx.graph import CodeGen, PythonCode

    original = Graph.python_code

    def python_code(self: Any, *args: Any, **kwargs: Any) -> Any:
        if type(self._codegen) is not CodeGen:  # export reads argument names from it
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
        with replaced(graph_module, "_forward_from_src", _uncompiled):
            yield
    finally:
        Graph.python_code = original


def _uncompiled(forward_from_src: Callable[..., Forward]) -> Callable[..., Forward]:
    """
    Return `forward_from_src`, which compiles a module's code, changed to skip the compilation of
    `_SOURCE`, the placeholder code.
    """

    def forward_of(src: str, globals: Mapping[str, Any], *args: Any) -> Forward:
        if src != _SOURCE:
            return forward_from_src(src, globals, *args)
        call: Forward = globals["_call_with_code"]

        def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
            return call(self, args, kwargs)

        return forward

    return forward_of

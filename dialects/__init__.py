# SPDX-License-Identifier: Apache-2.0
"""Dialects of the six levels, and `scalar`, whose ops are common to Loop, Tile and Kernel IR."""

from collections.abc import Callable
from importlib import import_module

from xdsl.ir import Dialect

from tilewright.dialects.faster_xdsl import shortcuts

# dialect name -> the attribute of `tilewright.dialects.<name>` that holds it
_DIALECTS = {
    "torch": "Torch",
    "prim": "Prim",
    "loop": "Loop",
    "tile": "Tile",
    "kernel": "Kernel",
    "cuda": "Cuda",
    "scalar": "Scalar",
}


shortcuts.take_shortcuts()


def get_all_dialects() -> dict[str, Callable[[], Dialect]]:
    """Dialect factories by name; a dialect's module is imported when its factory is called."""

    def factory(name: str, attribute: str) -> Callable[[], Dialect]:
        return lambda: getattr(import_module(f"tilewright.dialects.{name}"), attribute)

    return {name: factory(name, attribute) for name, attribute in _DIALECTS.items()}

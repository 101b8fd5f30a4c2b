# SPDX-License-Identifier: Apache-2.0
"""The dialects of the six IR levels, and `scalar`, whose ops Loop, Tile and Kernel IR share."""

from collections.abc import Callable
from importlib import import_module

from xdsl.ir import Dialect

from tilewright.dialects.faster_xdsl import shortcuts

# dialect name -> name of the attribute of `tilewright.dialects.<name>` that holds the `Dialect`
_DIALECTS = {
    "torch": "Torch",
    "prim": "Prim",
    "loop": "Loop",
    "tile": "Tile",
    "kernel": "Kernel",
    "cuda": "Cuda",
    "scalar": "Scalar",
}


shortcuts.install_shortcuts()


def get_all_dialects() -> dict[str, Callable[[], Dialect]]:
    """
    Return dialect factories by name; a factory imports its dialect's module when it is called.
    """

    def factory(name: str, attribute: str) -> Callable[[], Dialect]:
        return lambda: getattr(import_module(f"tilewright.dialects.{name}"), attribute)

    return {name: factory(name, attribute) for name, attribute in _DIALECTS.items()}

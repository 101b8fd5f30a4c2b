# SPDX-License-Identifier: Apache-2.0
"""
Tilewright: PyTorch in, raw CUDA out, through six IRs that print, parse, verify and run.

    program = tilewright.compile(torch.nn.RMSNorm(64), torch.randn(8, 64))
    program(torch.randn(8, 64))

The compiler's folders (`dialects/`, `passes/`, ...) stand at the repository's root and import as
`tilewright.dialects`, `tilewright.passes`, ... In an installed wheel they lie inside this package;
in a checkout the package's path is extended by the repository's root.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tilewright.api import CompiledProgram, capture, compile, interpret, lower

__all__ = ["CompiledProgram", "capture", "compile", "interpret", "lower"]

__version__ = "0.1.0"

if __name__ != "tilewright":  # what walks the package in a checkout finds it inside itself again
    raise ModuleNotFoundError(f"No module named '{__name__}'")

_here = Path(__file__).parent
if not (_here / "dialects").is_dir():
    __path__.append(str(_here.parent))


def __getattr__(name: str) -> Any:
    """
    Return the Python API, loaded when it is first used: importing the package alone costs nothing.
    """
    if name not in __all__:
        raise AttributeError(f"module 'tilewright' has no attribute '{name}'")
    return getattr(import_module("tilewright.api"), name)


def __dir__() -> list[str]:
    """Return the API and what every package has, but neither imports nor loaded submodules."""
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])

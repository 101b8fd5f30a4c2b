# SPDX-License-Identifier: Apache-2.0
"""
Tilewright: PyTorch in, raw CUDA out, through six IRs that print, parse, verify and run.

    program = tilewright.compile(torch.nn.RMSNorm(64), torch.randn(8, 64))
    program(torch.randn(8, 64))

The compiler's folders (`dialects/`, `passes/`, ...) are at the repository's root and are imported
as `tilewright.dialects`, `tilewright.passes`, ... An installed wheel contains them inside this
package; in a checkout, the repository's root is added to the package's path.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tilewright.api import CompiledProgram, capture, compile, interpret, lower
    from tilewright.tools.blame.sources import blame

__all__ = ["CompiledProgram", "blame", "capture", "compile", "interpret", "lower"]

__version__ = "0.1.0"

if __name__ != "tilewright":  # a package walk in a checkout finds this package inside itself
    raise ModuleNotFoundError(f"No module named '{__name__}'")

_here = Path(__file__).parent
if not (_here / "dialects").is_dir():
    __path__.append(str(_here.parent))


def __getattr__(name: str) -> Any:
    """
    Load and return a name of the Python API on first use, so that importing the package is cheap.
    """
    if name not in __all__:
        raise AttributeError(f"module 'tilewright' has no attribute '{name}'")
    home = "tilewright.tools.blame.sources" if name == "blame" else "tilewright.api"
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    """Return the names of the API and the dunder names, without imports and loaded submodules."""
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])

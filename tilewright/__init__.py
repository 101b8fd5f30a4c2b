# SPDX-License-Identifier: Apache-2.0
"""
Tilewright: PyTorch in, raw CUDA out, through six IRs that print, parse, verify and run.

The compiler's folders (`dialects/`, `passes/`, ...) stand at the repository's root and import as
`tilewright.dialects`, `tilewright.passes`, ... In an installed wheel they lie inside this package;
in a checkout the package's path is extended by the repository's root.
"""

from pathlib import Path

__version__ = "0.1.0"

_here = Path(__file__).parent
if not (_here / "dialects").is_dir():
    __path__.append(str(_here.parent))

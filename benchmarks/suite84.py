# SPDX-License-Identifier: Apache-2.0
"""
Suite of 84 float32 kernel shapes of TinyLlama-1.1B and Qwen2.5-7B: `suite84.json` as functions and
inputs.

    for case in cases("rmsnorm"):
        case.function(*case.inputs("cpu"))
"""

from collections.abc import Iterator
from pathlib import Path

from tilewright.tools.bench.suite import Case, read_cases

__all__ = ["DATA", "Case", "cases"]

DATA = Path(__file__).with_name("suite84.json")


def cases(pattern: str = "") -> Iterator[Case]:
    """Yield the cases whose name contains `pattern`, in the order of the file."""
    return read_cases(DATA, pattern)

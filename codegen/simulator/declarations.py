# SPDX-License-Identifier: Apache-2.0
"""Parser for declarations of variables and parameters in PTX text. PTX ISA, "Variables"."""

import re

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.findings import SimulatorError
from tilewright.codegen.simulator.kernel import Kernel, Parameter, Variable
from tilewright.codegen.simulator.operands import TYPES

_VARIABLE = re.compile(
    r"(?:\.visible\s+|\.weak\s+|\.extern\s+)*\.(global|const|shared|local)\s+"
    r"(?:\.align\s+(\d+)\s+)?(?:\.align\s+\d+\s+)?\.(\w+)\s+([\w$]+)\s*(\[\d*\])?\s*(?:=\s*(.*))?$",
    re.DOTALL,
)
_PARAMETER = re.compile(r"\.param\s+.*?\.([usbf]\d+)\b.*?([\w$]+)\s*(\[\d+\])?\s*$", re.DOTALL)
NUMBER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)U?$")
FLOAT = re.compile(r"0[fFdD]([0-9a-fA-F]{8}|[0-9a-fA-F]{16})$")


def parameter(text: str) -> Parameter:
    """Return the parameter of a kernel or a call that `text` declares."""
    match = _PARAMETER.search(text)
    if match is None:
        raise SimulatorError(f"cannot read the PTX parameter {text.strip()!r}")
    return Parameter(match[2], match[1], int(match[3][1:-1]) if match[3] else None)


def add_variable(kernel: Kernel, statement: str) -> None:
    """Add the variable that `statement` declares to the kernel; ignore any other statement."""
    match = _VARIABLE.search(statement)
    if match is None:
        return
    space, align, type, name, length, initial = match.groups()
    element = TYPES[type]
    count = int(length[1:-1] or 0) if length else 1
    data = _initial(initial, element).tobytes() if initial else b""
    size = count * element.itemsize
    kernel.variables[name] = Variable(name, space, int(align or element.itemsize), size, data)


def _initial(text: str, element: np.dtype) -> NDArray[np.generic]:
    items = text.strip(" {}").split(",")
    if not all(NUMBER.match(item.strip()) or FLOAT.match(item.strip()) for item in items):
        raise SimulatorError(f"cannot read the PTX initialiser {text[:40]!r}")
    return np.concatenate([_literal(item.strip()).astype(element) for item in items])


def _literal(text: str) -> NDArray[np.generic]:
    if FLOAT.match(text):
        pattern = bytes.fromhex(text[2:])[::-1]
        return np.frombuffer(pattern, f"f{len(pattern)}")
    return np.array([int(text.rstrip("U"), 0) & (1 << 64) - 1], np.uint64)

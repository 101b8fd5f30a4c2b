# SPDX-License-Identifier: Apache-2.0
"""
Parser from PTX text, as NVRTC writes it, to instructions.

It understands the output of a compiler for one module: variables, entries, labels, branch tables,
`.loc` lines, and the scopes that inline assembly opens. Reference: PTX ISA, "Syntax".
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from math import prod
from typing import NamedTuple

from tilewright.codegen.simulator.body import Body
from tilewright.codegen.simulator.declarations import add_variable, parameter
from tilewright.codegen.simulator.findings import SimulatorError
from tilewright.codegen.simulator.functions import Functions, closing
from tilewright.codegen.simulator.kernel import Kernel

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_LINE_DIRECTIVE = re.compile(r"^([ \t]*\.(?:loc|file|version|target|address_size)\b[^\n;]*)$", re.M)
_PROPERTY = re.compile(r"\.(\w+)\s+([\d, ]+)")
_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*(?:\((.*?)\))?([^{;]*)\{", re.DOTALL)


class _Module(NamedTuple):
    text: str
    """Text of the module without comments."""
    entries: Mapping[str, re.Match[str]]


@lru_cache(maxsize=64)
def parse(text: str, name: str) -> Kernel:
    """
    Return the kernel `name` of a PTX module, with the module's variables.

    The result is cached, because a model launches most of its kernels many times; callers must not
    change it. Raises `SimulatorError` if the module has no such kernel.
    """
    text, entries = _module(text)
    if name not in entries:
        known = ", ".join(entries) or "none"
        raise SimulatorError(f"the PTX has no kernel {name!r}", remedy=f"its kernels: {known}")
    entry = entries[name]
    parameters = [parameter(part) for part in (entry[2] or "").split(",") if part.strip()]
    kernel = Kernel(name, parameters, _max_threads(entry[3]), _cluster(entry[3]))
    for statement in text[: min(match.start() for match in entries.values())].split(";"):
        add_variable(kernel, statement.strip())
    body = text[entry.end() : closing(text, entry.end())]
    Body(kernel, Functions(text).inlined(body)).parse()
    return kernel


def kernel_names(text: str) -> list[str]:
    """Return the names of the kernels of a PTX module, in order."""
    return [*_module(text).entries]


@lru_cache(maxsize=1)
def _module(text: str) -> _Module:
    """Return the text and the entries of a module; cached, as its kernels are parsed one by one."""
    text = _LINE_DIRECTIVE.sub(r"\1;", COMMENT.sub(" ", text).split("\n\t.section", 1)[0])
    return _Module(text, {match[1]: match for match in _ENTRY.finditer(text)})


def _max_threads(properties: str) -> int | None:
    for name, values in _PROPERTY.findall(properties):
        if name in ("maxntid", "reqntid"):
            return prod(_sizes(values))
    return None


def _cluster(properties: str) -> tuple[int, int, int]:
    for name, values in _PROPERTY.findall(properties):
        if name == "reqnctapercluster":
            x, y, z = (*_sizes(values), 1, 1, 1)[:3]
            return x, y, z
    return 1, 1, 1


def _sizes(text: str) -> list[int]:
    return [int(size) for size in re.findall(r"\d+", text)]

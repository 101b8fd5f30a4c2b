# SPDX-License-Identifier: Apache-2.0
"""
Inlining of PTX device functions: the body of the function replaces each call.

NVRTC emits calls for parts of its math library. The caller declares `.param` variables for
arguments and results. The inlined body uses the caller's names of these variables. PTX ISA,
"Abstracting the ABI".
"""

import re
from dataclasses import dataclass
from itertools import count

from tilewright.codegen.simulator.findings import SimulatorError
from tilewright.codegen.simulator.source_lines import SourceLines
from tilewright.errors import one_line

_FUNCTION = re.compile(
    r"\.func\s*(?:\((?P<results>[^()]*)\))?\s*(?P<name>[\w$]+)\s*\((?P<parameters>[^()]*)\)"
    r"[^;{]*\{"
)
_CALL = re.compile(
    r"(?P<guard>@!?[%\w$]+\s+)?\bcall(?:\.uni)?\s+(?:\((?P<results>[^()]*)\)\s*,\s*)?"
    r"(?P<name>[\w$]+)\s*(?:,\s*\((?P<arguments>[^()]*)\)\s*)?;"
)
_RETURN = re.compile(r"\bret(?:\.uni)?\s*;")
_LOCATION = re.compile(r"^[ \t]*\.loc\b[^\n]*$", re.MULTILINE)


@dataclass(frozen=True)
class _Function:
    names: list[str]
    """Names of the function's variables: those for results, then those for parameters."""
    body: str


class Functions:
    """Device functions found in the text of a module; the text must be free of comments."""

    def __init__(self, text: str):
        self._functions = {
            match["name"]: _Function(
                _names(match["results"]) + _names(match["parameters"]),
                text[match.end() : closing(text, match.end())],
            )
            for match in _FUNCTION.finditer(text)
        }
        self._numbers = count()

    def inlined(self, body: str, callers: tuple[str, ...] = ()) -> str:
        """
        Return a kernel's or function's body with its calls inlined; inlined instructions count for
        the line of the call.
        """

        def replace(call: re.Match[str]) -> str:
            return self._expanded(call, callers)

        return _CALL.sub(replace, body)

    def _expanded(self, call: re.Match[str], callers: tuple[str, ...]) -> str:
        name = call["name"]
        function = self._functions.get(name)
        if function is None or call["guard"] or name in callers:
            text = f"the simulator cannot follow the PTX call '{one_line(call[0])}'"
            raise SimulatorError(text).at_line(_line_of(call))
        passed = _names(call["results"]) + _names(call["arguments"])
        body = _LOCATION.sub("", function.body)
        for own, given in zip(function.names, passed, strict=True):
            body = re.sub(rf"(?<![\w$]){re.escape(own)}(?![\w$])", lambda _, to=given: to, body)
        end = f"$returned_{next(self._numbers)}"
        body = _RETURN.sub(f"bra {end};", self.inlined(body, (*callers, name)))
        return f"{{\n{body}\n{end}:\n}}\n"


def _line_of(call: re.Match[str]) -> int:
    """Return the line of the CUDA text of a call; 0 if the PTX names none."""
    lines = SourceLines()
    for directive in _LOCATION.finditer(call.string, 0, call.start()):
        lines.read(directive[0].strip())
    return lines.line


def _names(text: str | None) -> list[str]:
    """
    Return the name in each declaration: `.param .align 8 .b8 x[16], .param .b64 y` gives x and y.
    """
    parts = (part.strip() for part in (text or "").split(","))
    return [re.sub(r"\[\d*\]$", "", part).split()[-1] for part in parts if part]


def closing(text: str, start: int) -> int:
    """
    Return the position of the brace that closes the one open at `start`.

    Raises `SimulatorError` if the text ends before.
    """
    depth = 1
    for brace in re.finditer(r"[{}]", text[start:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return start + brace.start()
    raise SimulatorError("the PTX ends inside a kernel")

# SPDX-License-Identifier: Apache-2.0
"""Places in the user's source: of an FX node, of a raised exception, or of the running line."""

import linecache
import re
import traceback
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tilewright.errors import UsageError, excerpt

FILE = "<-c>"
"""Name of a `-c` text as a source file."""

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')


@dataclass(frozen=True)
class Place:
    """Line of a file. `column` counts from 1; 0 means that only the line is known."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}"
        return f"{place}:{self.column}" if self.column else place


def place_at(file: str, line: int, offset: int | None) -> Place:
    """
    Return a place in a file. `offset` is Python's column, in bytes from 0; the line is read from
    the file to convert it to characters.
    """
    if offset is None:
        return Place(file, line)
    before = linecache.getline(file, line).encode()[:offset]
    return Place(file, line, len(before.decode(errors="ignore")) + 1)


_GENERATED = ("<frozen", "<eval_with_key>", "<string>")  # code that is in no file
_ROOT = Path(__file__).parents[1]
_OURS = tuple(_ROOT / name for name in ("frontend", "tools", "tilewright", "__init__.py"))


@lru_cache(maxsize=1024)
def is_foreign(file: str) -> bool:
    """True if a file belongs to PyTorch, to Python or to this package, rather than to the user."""
    import torch

    if file.startswith(_GENERATED):
        return True
    path = Path(file)
    if path.is_relative_to(Path(traceback.__file__).parent) and "site-packages" not in path.parts:
        return True
    return any(path.is_relative_to(folder) for folder in (Path(torch.__file__).parent, *_OURS))


def place_of_node(node: Any) -> Place | None:
    """
    Return the user's line that made an FX node: the innermost frame outside of PyTorch and this
    package.
    """
    return _place_of_trace(node.meta.get("stack_trace") or "")


@lru_cache(maxsize=1024)  # equal layers of a model have equal traces
def _place_of_trace(trace: str) -> Place | None:
    frames = _FRAME.findall(trace)
    users = [Place(file, int(line)) for file, line in frames if not is_foreign(file)]
    return users[-1] if users else None


def place_of_exception(error: BaseException) -> Place | None:
    """
    Return the user's expression that raised: the innermost frame outside of PyTorch and this
    package.
    """
    frames = traceback.extract_tb(error.__traceback__)
    users = [f for f in frames if f.lineno and not is_foreign(f.filename)]
    if not users:
        return None
    frame = users[-1]
    return place_at(frame.filename, frame.lineno or 0, frame.colno)


def place_of_caller() -> Place | None:
    """
    Return the user's line that is running: the innermost frame outside of PyTorch and this package.
    """
    frames = traceback.extract_stack()
    users = [Place(f.filename, f.lineno) for f in frames if f.lineno and not is_foreign(f.filename)]
    return users[-1] if users else None


def first_line(error: BaseException) -> str:
    """
    Return an exception as one line: its type and the first line of its message. `FakeTensor` is
    shown as `Tensor`, because only capture uses fake tensors.
    """
    text = str(error).strip().partition("\n")[0].replace("'FakeTensor'", "'Tensor'")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def error_at(place: Place, message: str) -> UsageError:
    """Return an error that shows the source line of `place`, with a caret under the column."""
    line = linecache.getline(place.file, place.line).rstrip()
    if not place.column:
        return UsageError(f"{message}\n    {line}" if line else message, where=str(place))
    return UsageError(message + excerpt(line, place.column - 1, indent="    "), where=str(place))


def error_of(error: BaseException) -> UsageError:
    """
    Return the error for an exception in the user's own code, at the user's line if that is known.
    """
    place, message = place_of_exception(error), first_line(error)
    if place is None:
        return UsageError(message)
    if type(error) is NameError and place.file == FILE:
        message += "; a text knows torch, nn, F and math"
    return error_at(place, message)

# SPDX-License-Identifier: Apache-2.0
"""Where in the user's source something stands: an FX node, or an exception that was raised."""

import linecache
import re
import traceback
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tilewright.errors import UsageError, excerpt

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')


@dataclass(frozen=True)
class Place:
    """A line of a file; `column` counts from 1, and 0 says that only the line is known."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}"
        return f"{place}:{self.column}" if self.column else place


def place_at(file: str, line: int, offset: int | None) -> Place:
    """Return a place in a file that is read; Python counts columns in bytes, from 0."""
    if offset is None:
        return Place(file, line)
    before = linecache.getline(file, line).encode()[:offset]
    return Place(file, line, len(before.decode(errors="ignore")) + 1)


_GENERATED = ("<frozen", "<eval_with_key>", "<string>")  # code that stands in no file
_ROOT = Path(__file__).parents[1]
_OURS = tuple(_ROOT / name for name in ("frontend", "tools", "tilewright", "__init__.py"))


@lru_cache(maxsize=1024)
def is_foreign(file: str) -> bool:
    """True if a file is PyTorch's, Python's or ours, rather than the user's."""
    import torch

    if file.startswith(_GENERATED):
        return True
    path = Path(file)
    if path.is_relative_to(Path(traceback.__file__).parent) and "site-packages" not in path.parts:
        return True
    return any(path.is_relative_to(folder) for folder in (Path(torch.__file__).parent, *_OURS))


def place_of_node(node: Any) -> Place | None:
    """Return the user's line that made an FX node: the innermost frame outside of PyTorch."""
    return _place_of_trace(node.meta.get("stack_trace") or "")


@lru_cache(maxsize=1024)  # equal layers of a model have equal traces
def _place_of_trace(trace: str) -> Place | None:
    frames = _FRAME.findall(trace)
    users = [Place(file, int(line)) for file, line in frames if not is_foreign(file)]
    return users[-1] if users else None


def place_of_exception(error: BaseException) -> Place | None:
    """Return the user's expression that raised: the innermost frame outside of PyTorch."""
    frames = traceback.extract_tb(error.__traceback__)
    users = [f for f in frames if f.lineno and not is_foreign(f.filename)]
    if not users:
        return None
    frame = users[-1]
    return place_at(frame.filename, frame.lineno or 0, frame.colno)


def place_of_caller() -> Place | None:
    """Return the user's line that is running: the innermost frame outside of PyTorch."""
    frames = traceback.extract_stack()
    users = [Place(f.filename, f.lineno) for f in frames if f.lineno and not is_foreign(f.filename)]
    return users[-1] if users else None


def first_line(error: BaseException) -> str:
    """
    Return an exception as one line: its kind and the beginning of what it says. The tensors that
    capture computes with are fake, which is no concern of the user's.
    """
    text = str(error).strip().partition("\n")[0].replace("'FakeTensor'", "'Tensor'")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def error_at(place: Place, message: str) -> UsageError:
    """Return an error that shows the line it is about, with a caret under the column."""
    line = linecache.getline(place.file, place.line).rstrip()
    if not place.column:
        return UsageError(f"{message}\n    {line}" if line else message, where=str(place))
    return UsageError(message + excerpt(line, place.column - 1, indent="    "), where=str(place))


def error_of(error: BaseException) -> UsageError:
    """What went wrong in the user's own code, and where."""
    place = place_of_exception(error)
    return error_at(place, first_line(error)) if place else UsageError(first_line(error))

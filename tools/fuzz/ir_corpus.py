# SPDX-License-Identifier: Apache-2.0
"""
Corpus of IR for fuzzing: the tests' `.mlir` files with the passes of their RUN lines, and compiled
expressions at each level with the passes that lower them further.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tilewright.errors import UsageError

TESTS = Path(__file__).parents[2] / "test"

_RUN = re.compile(r"RUN:(.*?[^\\])$", re.MULTILINE | re.DOTALL)
_CONTINUED = re.compile(r"\\\n\s*//\s*RUN:")
_NEXT_COMMAND = re.compile(r"\s(?:\||&&|2?>)")
_SPLIT = re.compile(r"^// -----.*$", re.MULTILINE)
_COMMENT = re.compile(r"^\s*//.*\n", re.MULTILINE)
_TOP_LEVEL = re.compile(r"^(?=\S.*\{$)", re.MULTILINE)
_MOST_CHARACTERS = 8000
"""Maximum number of characters of a sample; longer texts are cut at their top-level operations."""

EXPRESSIONS = (
    "torch.softmax(torch.randn(8, 100), -1)",
    "torch.relu(torch.matmul(torch.randn(16, 64) + torch.randn(64), torch.randn(64, 16)))",
    "torch.nn.functional.rms_norm(torch.randn(8, 64), (64,), torch.randn(64))",
    "torch.cat([torch.randn(3, 4), torch.randn(5, 4)]).sum(0)",
    "torch.nn.functional.max_pool2d(torch.randn(1, 2, 9, 9), 3, 2, 1)",
    "torch.cumsum(torch.randn(4, 33), 1).argmax(1)",
    "torch.randn(10, 6)[torch.tensor([1, 3, 3])].half()",
    "torch.nn.functional.conv2d(torch.randn(1, 3, 8, 8), torch.randn(4, 3, 3, 3))",
)
_NEXT = {
    "torch": ("decompose", "to-tensor", "to-loop", "to-cuda"),
    "tensor": ("to-loop", "fold-elementwise,compose-index-maps", "to-kernel"),
    "loop": ("to-tile", "to-kernel", "tileify,stage-inputs,pad-smem", "to-cuda"),
    "tile": ("to-kernel", "stage-inputs", "to-cuda"),
    "kernel": ("to-cuda", "plan-shared-memory", "group-barriers"),
    "cuda": ("canonicalize", "cse,dce"),
}
_WITHOUT_PASSES = ("canonicalize", "cse,dce", "to-loop", "to-kernel", "to-cuda", "decompose")


@dataclass(frozen=True)
class Sample:
    """Text of IR, with options of opt-tool for it."""

    origin: str
    text: str
    options: tuple[tuple[str, ...], ...]
    """Alternative options, each of which runs at least one pass."""


@cache
def samples_of_tests() -> tuple[Sample, ...]:
    """Return the samples from the tests' files, in the files' order."""
    if not TESTS.is_dir():
        raise UsageError("there are no files to mutate", remedy="run it in a checkout")
    paths = sorted(p for p in TESTS.rglob("*.mlir") if "Inputs" not in p.parts)
    return tuple(sample for path in paths for sample in _samples_of(path))


@cache
def samples_of_expressions() -> tuple[Sample, ...]:
    """Return each of `EXPRESSIONS` at each level; this imports torch."""
    import tilewright
    from tilewright.frontend.expression import parse_expression

    found: list[Sample] = []
    for text in EXPRESSIONS:
        program = parse_expression(text)
        captured = tilewright.capture(program.module, *program.args, **program.kwargs)
        for level, passes in _NEXT.items():
            module = tilewright.lower(captured, level, db=False)
            options = tuple(("-p", each) for each in passes)
            found.append(Sample(f"{text} at {level}", f"{module}\n", options))
    return tuple(found)


def _samples_of(path: Path) -> Iterator[Sample]:
    text = path.read_text()
    options = tuple(dict.fromkeys(_options(text))) or tuple(("-p", p) for p in _WITHOUT_PASSES)
    for part in _SPLIT.split(text):
        for piece in _pieces(_COMMENT.sub("", part)):
            yield Sample(str(path.relative_to(TESTS)), piece, options)


def _options(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the options of the first command in each RUN line, if it runs passes."""
    for line in _RUN.findall(_CONTINUED.sub("", text)):
        words = shlex.split(_NEXT_COMMAND.split(line)[0])
        words = words[1:] if words[:1] == ["not"] else words
        chosen = [w for w in words[1:] if w != "%s" and "diagnostics" not in w]
        chosen = [w for w in chosen if w != "--split-input-file"]
        takes_files = "-o" in chosen or any("%" in word for word in chosen)
        if words[0] == "opt-tool" and "-p" in chosen and not takes_files:
            yield tuple(chosen)


def _pieces(text: str) -> Iterator[str]:
    """Yield the text, or if it is too long, sequences of its top-level operations."""
    piece = ""
    for part in _TOP_LEVEL.split(text):
        if piece and len(piece) + len(part) > _MOST_CHARACTERS:
            yield piece
            piece = ""
        piece += part
    if piece.strip():
        yield piece

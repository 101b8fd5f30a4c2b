# SPDX-License-Identifier: Apache-2.0
"""Corpus of a rule: the programs in the repository's lit tests that have an op of its class."""

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import ParseError, VerifyException

from tilewright.errors import TilewrightError
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.verification import InvalidOpError, verify_module
from tilewright.tools.fuzz.ir_corpus import TESTS, Sample, samples_of_tests
from tilewright.tools.input.mlir_source import SourceParser
from tilewright.tools.output.diagnostics import PlacedParseError

_INVALID = (
    PlacedParseError,
    ParseError,
    VerifyException,
    InvalidOpError,
    TilewrightError,
    RecursionError,
)


def programs_with(
    ops: Sequence[type[Operation]], most: int | None = None
) -> Iterator[tuple[str, ModuleOp]]:
    """
    Yield the valid programs of the tests in which an op of these classes occurs, with their files.
    At most `most` texts are read, in even steps; there are none without a checkout.
    """
    names = tuple(op.name for op in ops)
    samples = [each for each in _samples() if _mentions(each.text, names)]
    step = 1 if most is None else max(1, len(samples) // max(1, most))
    for sample in samples[::step][:most]:
        if (module := parsed(sample)) is not None:
            yield sample.origin, module


def _samples() -> Sequence[Sample]:
    return samples_of_tests() if TESTS.is_dir() else ()


def _mentions(text: str, names: Sequence[str]) -> bool:
    return not names or any(name in text for name in names)


def parsed(sample: Sample) -> ModuleOp | None:
    """Return the module of a text; None if it is not valid, as that of tests of errors."""
    try:
        module = SourceParser(context(), sample.text, sample.origin).parse_module()
        verify_module(module)
    except _INVALID:
        return None
    return module

# SPDX-License-Identifier: Apache-2.0
"""
Corpus of rules: the programs in the repository's lit tests, also between the passes of their RUN
lines, where most patterns of passes match.
"""

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import ParseError, VerifyException

from tilewright.errors import TilewrightError
from tilewright.passes import get_all_passes
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipeline_string import parse_pipeline
from tilewright.passes.driver.pipelines import expanded
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

_MOST_CHARACTERS = 4000
"""Longest text that is read; the interpreters take long for larger programs."""


def samples(pass_name: str = "") -> Sequence[Sample]:
    """
    Return the texts of the tests, those that run the named pass first; none without a checkout.
    """
    found = samples_of_tests() if TESTS.is_dir() else ()
    short = [sample for sample in found if len(sample.text) <= _MOST_CHARACTERS]
    return sorted(short, key=lambda sample: not runs(sample, pass_name))


def runs(sample: Sample, pass_name: str) -> bool:
    """True if a RUN line of a text has the name of a pass."""
    return bool(pass_name) and any(pass_name in word for words in sample.options for word in words)


def programs_with(
    ops: Sequence[type[Operation]], most: int, pass_name: str = ""
) -> Iterator[tuple[str, ModuleOp]]:
    """
    Yield the valid programs of at most `most` texts in which an op of these classes occurs, with
    their files. Texts that run the named pass come first, with the programs between their passes.
    """
    found = samples(pass_name)
    first = [each for each in found if runs(each, pass_name)][: most // 2]
    for sample in first:
        for program in stages(sample):
            if _has(program, ops):
                yield sample.origin, program
    names = [op.name for op in ops]
    others = [each for each in found if each not in first and _mentions(each.text, names)]
    count = most - len(first)
    for sample in others[:: max(1, len(others) // max(1, count))][:count]:
        if (module := _parsed(sample)) is not None:
            yield sample.origin, module


def _mentions(text: str, names: Sequence[str]) -> bool:
    return not names or any(name in text for name in names)


def _has(module: ModuleOp, ops: Sequence[type[Operation]]) -> bool:
    return any(isinstance(op, tuple(ops) or Operation) for op in module.walk())


def stages(sample: Sample) -> Iterator[ModuleOp]:
    """Yield the program of a text, and after each pass of its first RUN line except the last."""
    module = _parsed(sample)
    if module is None:
        return
    yield module.clone()
    manager = PassManager(context())
    for step in _passes(sample)[:-1]:
        try:
            manager.run(module, [step])
        except Exception:  # an error that the test is about, of any pass
            return
        yield module.clone()


def _passes(sample: Sample) -> Sequence[ModulePass]:
    words = sample.options[0]
    if "-p" not in words:
        return ()
    try:
        return [*expanded(parse_pipeline(words[words.index("-p") + 1], get_all_passes()))]
    except TilewrightError:
        return ()


def _parsed(sample: Sample) -> ModuleOp | None:
    """Return the module of a text; None if it is not valid, as that of tests of errors."""
    try:
        module = SourceParser(context(), sample.text, sample.origin).parse_module()
        verify_module(module)
    except _INVALID:
        return None
    return module

# SPDX-License-Identifier: Apache-2.0
"""
Schedules: the passes that make a kernel fast, with their options. The passes need not exist.

A kernel keeps two schedules: the steps already applied, and the planned ones.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.arg_spec import ArgSpec
from xdsl.utils.arg_spec import parse_pipeline as parse_specs
from xdsl.utils.exceptions import ArgSpecParseError

from tilewright.errors import UsageError

_MODULE_ANCHOR = re.compile(r"\s*builtin\.module\((.*)\)\s*", re.DOTALL)
_OTHER_ANCHOR = re.compile(r"([\w.]+)\(")
_OPTIONS = re.compile(r"\{([^{}]*)\}")
_QUOTED_WORD = re.compile(r'"(?!true"|false")([A-Za-z_][\w-]*)"')
_VERBATIM = re.compile(r'("(?:\\.|[^"\\])*"|\[[^\]]*\])')  # "text", and mlir-opt[passes]


@lru_cache(maxsize=1 << 10)  # each pass reads the steps of all kernels
def parse_spec_list(text: str) -> tuple[ArgSpec, ...]:
    """
    Return the passes of a pipeline, with their options; the passes need not exist.

    Raises `UsageError` for malformed text.
    """
    text = _normalized(text)
    try:
        specs = tuple(parse_specs(text))
    except ArgSpecParseError as err:
        raise malformed(err) from err
    except RuntimeError as err:  # out of tokens: the parser's generator raised StopIteration
        raise UsageError(f"the pipeline ends too early: '{text}'") from err
    _check_once(text)
    return specs


def spec_text(spec: object) -> str:
    """Return the text of a pass with its options; only words that need quotes have them."""
    return _QUOTED_WORD.sub(r"\1", str(spec))


def _check_once(text: str) -> None:
    """Raise `UsageError` if a pass has an option twice: xDSL silently takes the last."""
    for options in _OPTIONS.findall(_VERBATIM.sub('""', text)):
        names = [option.partition("=")[0].replace("-", "_") for option in options.split()]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise UsageError(f"the option '{twice}' is given twice in '{{{options}}}'")


def malformed(err: ArgSpecParseError) -> UsageError:
    """Return a `UsageError` for xDSL's error about the text of a pipeline or target."""
    _, place, source, caret, message = str(err).splitlines()
    return UsageError(f"{message.strip()}\n{source}\n{caret}", where=place)


def _normalized(text: str) -> str:
    """
    Return the text of a pipeline without MLIR's anchor `builtin.module(...)`, and without white
    space that xDSL's grammar rejects.
    """
    if anchored := _MODULE_ANCHOR.fullmatch(text):
        text = anchored[1]
    pieces = _VERBATIM.split(text.strip())
    for i in range(0, len(pieces), 2):  # the odd pieces are verbatim
        if other := _OTHER_ANCHOR.search(pieces[i]):
            raise UsageError(
                f"cannot nest passes in '{other[1]}': all passes run on builtin.module"
            )
        pieces[i] = re.sub(r"\s*([,={}])\s*", r"\1", pieces[i])
    return "".join(pieces)


@irdl_attr_definition
class ScheduleAttr(Data[str]):
    """
    Steps of a schedule in canonical spelling: as for `opt-tool -p`, without redundant blanks and
    quotes.

    The passes may be unknown here.

    ```mlir
    loop.kernel @mm(...) -> (...) { ... } schedule "tileify,chunk-matmul-k{bk=16},mark-unroll"
    ```
    """

    name = "loop.schedule"

    @staticmethod
    def of(steps: Iterable[ArgSpec]) -> "ScheduleAttr":
        """Return the schedule that consists of `steps`."""
        return ScheduleAttr(",".join(map(spec_text, steps)))

    @staticmethod
    def parse(text: str) -> "ScheduleAttr":
        """Return the schedule of a text; malformed text is kept, and `steps` raises for it."""
        return _parsed(text)

    @property
    def steps(self) -> Sequence[ArgSpec]:
        """
        The passes with their options, in order.

        Raises `UsageError` if the text is malformed.
        """
        return parse_spec_list(self.data)

    def names(self, name: str) -> bool:
        """True if a step runs the pass called `name`."""
        return name in self.data and any(step.name == name for step in self.steps)

    def followed_by(self, step: str) -> "ScheduleAttr":
        """Return the schedule extended by `step`, which is in canonical spelling."""
        return ScheduleAttr(f"{self.data},{step}")

    def taken(self, name: str) -> tuple[ArgSpec | None, "ScheduleAttr | None"]:
        """
        Return the first step called `name`, and the schedule after that step.

        Return None and `self` if there is no step of that name. The second value is None if no
        steps follow.
        """
        return _taken(self, name)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """Parse the steps from a string literal, and return their canonical spelling."""
        return _parsed(parser.parse_str_literal()).data

    def print_parameter(self, printer: Printer) -> None:
        """Print the steps as a string literal."""
        printer.print_string_literal(self.data)


@lru_cache(maxsize=1 << 12)
def _parsed(text: str) -> ScheduleAttr:
    try:
        return ScheduleAttr.of(parse_spec_list(text))
    except UsageError:
        return ScheduleAttr(text)


@lru_cache(maxsize=1 << 12)  # many kernels have the same schedule
def _taken(schedule: ScheduleAttr, name: str) -> tuple[ArgSpec | None, ScheduleAttr | None]:
    steps = schedule.steps
    at = next((i for i, step in enumerate(steps) if step.name == name), None)
    if at is None:
        return None, schedule
    behind = steps[at + 1 :]
    return steps[at], ScheduleAttr.of(behind) if behind else None

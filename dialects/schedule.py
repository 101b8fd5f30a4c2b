# SPDX-License-Identifier: Apache-2.0
"""Schedules: the passes that make a kernel fast, with their options, as an attribute."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.arg_spec import ArgSpec

from tilewright.dialects.pass_specs import parse_spec_list, spec_text
from tilewright.errors import UsageError


@irdl_attr_definition
class ScheduleAttr(Data[str]):
    """
    Steps of a schedule, in their one spelling: as `opt-tool -p` takes them, without needless blanks
    and quotes. The passes may be unknown here.

    ```mlir
    loop.kernel @mm(...) -> (...) { ... } schedule "tileify,chunk-matmul-k{bk=16},mark-unroll"
    ```
    """

    name = "loop.schedule"

    @staticmethod
    def of(steps: Iterable[ArgSpec]) -> "ScheduleAttr":
        """The attribute of steps."""
        return ScheduleAttr(",".join(map(spec_text, steps)))

    @staticmethod
    def parse(text: str) -> "ScheduleAttr":
        """The attribute of a text; what is no pipeline stays as it is, and `steps` raises."""
        return _parsed(text)

    @property
    def steps(self) -> Sequence[ArgSpec]:
        """
        The passes with their options, in order.

        Raises `UsageError` if the text is no pipeline.
        """
        return parse_spec_list(self.data)

    def names(self, name: str) -> bool:
        """True if a step is of the pass of that name."""
        return name in self.data and any(step.name == name for step in self.steps)

    def followed_by(self, step: str) -> "ScheduleAttr":
        """These steps and one more, in its one spelling."""
        return ScheduleAttr(f"{self.data},{step}")

    def taken(self, name: str) -> tuple[ArgSpec | None, "ScheduleAttr | None"]:
        """The first step of that name, or None, and the steps behind it, if there are any."""
        return _taken(self, name)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """A string."""
        return _parsed(parser.parse_str_literal()).data

    def print_parameter(self, printer: Printer) -> None:
        """As a string."""
        printer.print_string_literal(self.data)


@lru_cache(maxsize=1 << 12)
def _parsed(text: str) -> ScheduleAttr:
    try:
        return ScheduleAttr.of(parse_spec_list(text))
    except UsageError:
        return ScheduleAttr(text)


@lru_cache(maxsize=1 << 12)  # many kernels are scheduled alike
def _taken(schedule: ScheduleAttr, name: str) -> tuple[ArgSpec | None, ScheduleAttr | None]:
    steps = schedule.steps
    at = next((i for i, step in enumerate(steps) if step.name == name), None)
    if at is None:
        return None, schedule
    behind = steps[at + 1 :]
    return steps[at], ScheduleAttr.of(behind) if behind else None

# SPDX-License-Identifier: Apache-2.0
"""Lines of ops in the text of their module, with values named as there."""

from io import StringIO

from xdsl.ir import Operation
from xdsl.printer import Printer


def lines_of(op: Operation) -> dict[Operation, str]:
    """Return the first line of each op in the module of `op`."""
    printer = _LinePrinter(StringIO())
    printer.print_op(_root(op))
    text = printer.text.getvalue()
    return {each: text[start:].partition("\n")[0] for each, start in printer.starts.items()}


class _LinePrinter(Printer):
    """Printer that remembers where the text of each op starts."""

    def __init__(self, text: StringIO):
        super().__init__(text)
        self.text, self.starts = text, dict[Operation, int]()

    def print_op(self, op: Operation) -> None:
        self.starts[op] = self.text.tell()
        super().print_op(op)


def _root(op: Operation) -> Operation:
    while (parent := op.parent_op()) is not None:
        op = parent
    return op

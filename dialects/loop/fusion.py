# SPDX-License-Identifier: Apache-2.0
"""
Fusion decisions for a program, made before passes run, as an attribute of the module.

    builtin.module attributes {loop.fusion = #loop.fusion<apart ["fuse-epilogue:linear>relu"]>} {

A decision is named `PASS:KERNEL>OTHERS`. PASS is the pass that makes it, KERNEL the kernel to be
fused into others (or that another kernel would be cut from). OTHERS are those others, joined by
`+`. Kernels are named as they are when the pass asks.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import chain

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

ATTRIBUTE = "loop.fusion"
"""Name of the attribute of a module."""

_DECISION = re.compile(r"[\w-]+:[\w.$-]+>[\w.$@-]+(\+[\w.$-]+)*")

_LISTS = ("fused", "apart", "met")


@irdl_attr_definition
class FusionAttr(ParametrizedAttribute):
    """
    Fusion decisions, by their required outcome.

    * `fused`: one kernel does it all, as `fuse-*`, `merge-*` and `inline-*` make it, and
      `cut-recompute` keeps it;
    * `apart`: the kernels stay, or become, separate;
    * `met`: decisions of both lists that passes have asked for and followed so far.

    ```mlir
    #loop.fusion<fused ["inline-elementwise:add>linear+mul"] apart ["fuse-epilogue:linear>relu"]>
    ```
    """

    name = ATTRIBUTE

    fused: ArrayAttr[StringAttr]
    apart: ArrayAttr[StringAttr]
    met: ArrayAttr[StringAttr]

    @staticmethod
    def get(
        *, fused: Iterable[str] = (), apart: Iterable[str] = (), met: Iterable[str] = ()
    ) -> "FusionAttr":
        """Return the attribute with these decisions; each list in alphabetical order."""
        return FusionAttr(*map(_strings, (fused, apart, met)))

    def prescribed(self, decision: str) -> bool | None:
        """
        Return the required outcome of a decision: True to fuse, False to keep apart, None if the
        pass may choose.
        """
        name = StringAttr(decision)
        return name in self.fused.data or (False if name in self.apart.data else None)

    def with_reached(self, decision: str) -> "FusionAttr":
        """Return the attribute with `decision` added to `met`."""
        return FusionAttr(self.fused, self.apart, _strings({*_texts(self.met), decision}))

    @property
    def unreached(self) -> list[str]:
        """Decisions of both lists that are not in `met`."""
        met = {*_texts(self.met)}
        return [each for each in _texts(self.fused) + _texts(self.apart) if each not in met]

    def verify(self) -> None:
        decisions = _texts(self.fused) + _texts(self.apart)
        for decision in decisions:
            if not _DECISION.fullmatch(decision):
                raise VerifyException(f"'{decision}' is not spelled as PASS:KERNEL>OTHERS")
        if len(set(decisions)) < len(decisions):
            raise VerifyException("a decision is listed twice")
        if not {*_texts(self.met)} <= {*decisions}:
            raise VerifyException("a decision that is met must be fused or apart, too")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        lists: dict[str, list[str]] = {}
        with parser.in_angle_brackets():
            for name in _LISTS:
                if parser.parse_optional_keyword(name) is not None:
                    lists[name] = parser.parse_comma_separated_list(
                        parser.Delimiter.SQUARE, parser.parse_str_literal
                    )
        return [_strings(lists.get(name, ())) for name in _LISTS]

    def print_parameters(self, printer: Printer) -> None:
        shown = zip(_LISTS, (self.fused, self.apart, self.met), strict=True)
        parts = chain.from_iterable((name, str(each)) for name, each in shown if each.data)
        with printer.in_angle_brackets():
            printer.print_string(" ".join(parts))


def _strings(texts: Iterable[str]) -> ArrayAttr[StringAttr]:
    return ArrayAttr(map(StringAttr, sorted(texts)))


def _texts(strings: ArrayAttr[StringAttr]) -> list[str]:
    return [each.data for each in strings]

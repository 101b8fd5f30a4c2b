# SPDX-License-Identifier: Apache-2.0
"""Terms before and after a wrong pass stand side by side, with their only difference."""

from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.tools.blame.comparison import Comparison
from tilewright.tools.blame.differing_terms import TermPair, differing_terms
from tilewright.tools.blame.first_pass import WrongPass

Parse = Callable[[str], ModuleOp]

PROGRAM = """\
func.func @main(%x: tensor<2xf32>, %y: tensor<2x9xf32>) -> tensor<2xf32> {
  %sum = prim.reduce add(%y) dims [1] : (tensor<2x9xf32>) -> tensor<2xf32>
  %0 = prim.elementwise exp(%x) : tensor<2xf32>
  %1 = prim.elementwise sub(%x, %0) : tensor<2xf32>
  %2 = prim.elementwise mul(%1, %sum) : tensor<2xf32>
  func.return %2 : tensor<2xf32>
}
"""


class AnyPass(ModulePass):
    """Pass that is named only."""

    name = "any"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Do nothing."""


def terms(before: ModuleOp, after: ModuleOp) -> TermPair | None:
    """Return the differing terms of two programs with different results."""
    wrong = Comparison()(before, after, "any")
    assert wrong is not None
    return differing_terms(WrongPass(AnyPass(), before, wrong), after)


def test_the_only_difference_is_shown(parse: Parse):
    found = terms(parse(PROGRAM), parse(PROGRAM.replace("exp(%x)", "neg(%x)")))
    assert found is not None
    at = found.inner_before.removeprefix("exp(x").removesuffix(")")
    assert found[2:] == (f"exp(x{at})", f"neg(x{at})")
    assert f"(x{at} - exp(x{at}))" in found.before
    assert "y[0, 4] + ... + y[0, 8]" in found.before.replace("y[1", "y[0")
    *_, title, columns = found.lines()
    assert title == "the only difference:"
    assert columns.split("|")[0].strip() == f"exp(x{at})"


def test_whole_terms_that_differ(parse: Parse):
    found = terms(parse(PROGRAM), parse(PROGRAM.replace("mul(%1", "add(%1")))
    assert found is not None
    assert found.inner_before == ""
    assert len({len(line.partition("|")[0]) for line in found.lines() if "|" in line}) == 1


def test_large_programs_have_no_terms(parse: Parse):
    text = PROGRAM.replace("2x9", "2x120000")
    assert terms(parse(text), parse(text.replace("exp(%x)", "neg(%x)"))) is None

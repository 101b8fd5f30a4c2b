# SPDX-License-Identifier: Apache-2.0
"""Within a wrong pass, the first wrong application is found: of patterns, of rewrites, or none."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import Rewriter

from tilewright.dialects import prim
from tilewright.dialects.scalar_function import ScalarFunction
from tilewright.passes.decompose.decompose import DecomposePass
from tilewright.passes.decompose.tensor import Tensor
from tilewright.passes.reporting.trace import Rule, rewriting
from tilewright.tools.blame.comparison import Comparison
from tilewright.tools.blame.first_pass import WrongPass
from tilewright.tools.blame.guilty import Guilty, guilty

Parse = Callable[[str], ModuleOp]

PROGRAM = """\
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = prim.elementwise add(%x, %y) : tensor<4xf32>
  %1 = prim.elementwise mul(%0, %y) : tensor<4xf32>
  %2 = prim.elementwise neg(%1) : tensor<4xf32>
  %3 = prim.elementwise sub(%2, %x) : tensor<4xf32>
  %4 = prim.elementwise mul(%3, %0) : tensor<4xf32>
  func.return %4 : tensor<4xf32>
}
"""

RULE = Rule("o", 99, "swap")


def swapped(op: Operation) -> prim.ElementwiseOp | None:
    """Return a function of two operands with the operands swapped, which is wrong for `sub`."""
    if not isinstance(op, prim.ElementwiseOp) or len(op.inputs) != 2:
        return None
    return prim.ElementwiseOp(op.function.data, [*reversed(op.inputs)], f32)


class Swap(RewritePattern):
    """Pattern that swaps operands."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Swap the operands."""
        if (new := swapped(op)) is not None:
            rewriter.replace(op, new)


@dataclass(frozen=True)
class PatternPass(ModulePass):
    """Pass that swaps operands by a pattern."""

    name = "swap"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Swap the operands of all ops."""
        PatternRewriteWalker(Swap(), apply_recursively=False).rewrite_module(op)


@dataclass(frozen=True)
class WalkingPass(ModulePass):
    """Pass that swaps operands in one walk, and reports each swap."""

    name = "swap"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Swap the operands of all ops."""
        for each in [*op.walk()]:
            if (new := swapped(each)) is not None:
                with rewriting(RULE, each):
                    Rewriter.replace_op(each, new)


@dataclass(frozen=True)
class SilentPass(ModulePass):
    """Pass that swaps operands in one walk, without a report."""

    name = "swap"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Swap the operands of all ops."""
        for each in [*op.walk()]:
            if (new := swapped(each)) is not None:
                Rewriter.replace_op(each, new)


@dataclass(frozen=True)
class TwicePass(ModulePass):
    """Pass that is wrong in two ways."""

    name = "swap"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Exponentiate in the place of negations, and swap operands."""
        PatternRewriteWalker(_Exponentiate(), apply_recursively=False).rewrite_module(op)
        PatternRewriteWalker(Swap(), apply_recursively=False).rewrite_module(op)


class _Exponentiate(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        if op.function.data is ScalarFunction.NEG:
            rewriter.replace(op, prim.ElementwiseOp(ScalarFunction.EXP, [op.inputs[0]], f32))


TORCH = """\
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = torch.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = torch.sigmoid %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = torch.relu %1 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}
"""


def unchanged(tensor: Tensor) -> Tensor:
    """Return the tensor."""
    return tensor


def found(step: ModulePass, module: ModuleOp) -> Guilty | None:
    """Return the guilty application of a pass that is wrong for a module."""
    after = module.clone()
    step.apply(Context(), after)
    wrong = Comparison()(module, after, step.name)
    assert wrong is not None
    return guilty(WrongPass(step, module, wrong))


def test_an_application_of_a_pattern(parse: Parse):
    module = parse(PROGRAM)
    culprit = found(PatternPass(), module)
    assert culprit is not None
    assert culprit[:3] == (3, 3, 4)
    ((rule, site, _),) = culprit.applications
    assert rule.startswith("o:099_swap, Swap of ")
    assert site == "%3 = prim.elementwise sub(%2, %x) : tensor<4xf32>"
    assert str(module) == str(parse(PROGRAM))


def test_patterns_are_as_before_afterwards(parse: Parse):
    original = vars(Swap)["match_and_rewrite"]
    found(PatternPass(), parse(PROGRAM))
    assert vars(Swap)["match_and_rewrite"] is original


def test_a_reported_rewrite(parse: Parse):
    culprit = found(WalkingPass(), parse(PROGRAM))
    assert culprit is not None
    assert culprit[:3] == (3, 3, 4)
    assert [*culprit.applications] == [("o:099_swap", "@main", "")]


def test_a_pass_of_one_walk_has_no_application(parse: Parse):
    assert found(SilentPass(), parse(PROGRAM)) is None


def test_applications_between_which_the_program_cannot_run(
    parse: Parse, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Tensor, "__neg__", unchanged)
    culprit = found(DecomposePass(), parse(TORCH))
    assert culprit is not None
    assert culprit[:3] == (1, 3, 3)
    sites = [application.site for application in culprit.applications]
    assert [site.split()[2] for site in sites] == ["torch.relu", "torch.sigmoid", "torch.relu"]


def test_the_first_of_several_wrong_applications(parse: Parse):
    culprit = found(TwicePass(), parse(PROGRAM))
    assert culprit is not None
    assert culprit[:3] == (1, 1, 5)
    assert culprit.applications[0].rule.startswith("o:099_swap, _Exponentiate of ")

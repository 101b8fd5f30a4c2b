# SPDX-License-Identifier: Apache-2.0
"""
Random kernels that no frontend would write, lowered by all passes to Kernel IR.

Each pass is checked by running the program before and after it, with floats and exactly.
"""

from dangling_uses import assert_no_dangling_uses
from draws import drawn
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.interpreters.check import check_pass, within_tolerance
from tilewright.interpreters.exact.comparison import ExactComparison
from tilewright.passes.driver.levels import Level, level_of
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipeline_string import parse_pipeline
from tilewright.passes.driver.pipelines import TO_LOOP, available_passes, expanded

from .launches import tile_kernels
from .plans import plans

FUSION = TO_LOOP.removeprefix("lift,") + ","
"""Passes on kernels after lifting."""

CLEANUP = "simplify-accesses,canonicalize,share-values,"


@st.composite
def schedules(draw: DrawFn) -> str:
    """Draw a pipeline from Loop IR to Kernel IR, with choices that the compiler would not make."""
    before = draw(st.sampled_from(["", CLEANUP, FUSION]))
    threads, rows = draw(st.sampled_from([(64, 1), (24, 3), (1, 32), (7, 5), (128, 2)]))
    n = draw(st.sampled_from([64, 21, 256, 1]))
    combine, part = (
        f"cooperative-reduce{{threads={threads} rows={rows}}}",
        f"blockify-launch{{n={n}}}",
    )
    tiled = draw(st.sampled_from([f"{part},{combine}", f"{combine},{part}", part, combine]))
    return f"{before}tileify,{tiled},simplify-accesses,to-kernel"


def lower_checked(text: str, pipeline: str, symbol: str) -> None:
    """Run `pipeline`; `@symbol` must compute the same after each pass, down to Kernel IR."""
    note(f"\nopt-tool -p '{pipeline}' --check=exact of\n{text}")
    ctx = context()
    module = Parser(ctx, text).parse_module()

    def check(before: ModuleOp, after: ModuleOp, name: str) -> None:
        for compare in (within_tolerance, exact := ExactComparison()):
            report = check_pass(before, after, name, compare=compare)
            assert (report.compared, report.notes) == ((symbol,), ())
        assert exact.notes == []
        assert_no_dangling_uses(after, name)

    passes = expanded(parse_pipeline(pipeline, available_passes()))
    PassManager(ctx, check_each=check).run(module, passes)
    assert level_of(module) is Level.KERNEL


@settings(max_examples=drawn(8), suppress_health_check=[HealthCheck.too_slow])
@given(plans(), schedules())
def test_drawn_plans_are_lowered_right(plan: str, schedule: str) -> None:
    lower_checked(plan, f"{FUSION}to-tile,to-kernel", "main")
    lower_checked(plan, schedule, "main")


@settings(max_examples=drawn(12), suppress_health_check=[HealthCheck.too_slow])
@given(tile_kernels())
def test_drawn_schedules_are_lowered_right(kernel: str) -> None:
    lower_checked(kernel, "convert-tile-to-kernel", "main")

# SPDX-License-Identifier: Apache-2.0
"""
The schedule of a program: the pipeline that lowers its Tensor IR to kernels, with the decisions
about fusion that differ from the default.

    decide-fusion{apart="fuse-epilogue:linear>relu"},to-loop

`to-loop` alone is the default.
"""

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import ArgSpec

from tilewright.dialects import loop
from tilewright.dialects.loop.fusion import ATTRIBUTE
from tilewright.dialects.schedule import parse_spec_list
from tilewright.errors import UsageError
from tilewright.passes.driver.pipeline_string import configure
from tilewright.passes.driver.pipelines import ToLoopPass
from tilewright.passes.loop.fusion.decide_fusion import DecideFusionPass

DEFAULT = ToLoopPass.name


def schedule_of(fusion: loop.FusionAttr) -> str:
    """Return the pipeline that prescribes the decisions in `fusion`."""
    lists = {"fused": fusion.fused, "apart": fusion.apart}
    options = {name: tuple(each.data for each in decided) for name, decided in lists.items()}
    spec = ArgSpec(DecideFusionPass.name, {name: each for name, each in options.items() if each})
    return f"{spec},{DEFAULT}" if spec.parameters else DEFAULT


def fusion_of(schedule: str) -> loop.FusionAttr:
    """
    Return the decisions of a pipeline. Raises `UsageError` if it is not a schedule of a program.
    """
    *before, last = parse_spec_list(schedule)
    if last.name != DEFAULT or [spec.name for spec in before] not in ([], [DecideFusionPass.name]):
        raise UsageError(f"'{schedule}' is not a schedule of a program")
    passes = [configure(DecideFusionPass, spec, "pass") for spec in before]
    return passes[0].fusion if passes else loop.FusionAttr.get()


def fused_by(program: ModuleOp, schedule: str) -> ModuleOp:
    """Return a copy of a program that prescribes the fusion decisions of the schedule."""
    return decided(program, fusion_of(schedule))


def decided(program: ModuleOp, fusion: loop.FusionAttr) -> ModuleOp:
    """Return a copy of a program that prescribes the decisions in `fusion`."""
    copy = program.clone()
    copy.attributes.pop(ATTRIBUTE, None)
    if fusion.unreached:
        copy.attributes[ATTRIBUTE] = fusion
    return copy

# SPDX-License-Identifier: Apache-2.0
"""
Kernels of rows with extreme inputs: an extreme element in each lane in turn, ties, numbers far from
zero.
"""

import pytest
from needs import needs_nvrtc

from tilewright import api
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.frontend.expression import parse_expression
from tilewright.tools.planted_bugs.judging import JudgedSets

pytestmark = needs_nvrtc

TARGET = "sm_90a"
TURNS = 6

ROWS = {
    "softmax": "F.softmax(torch.randn(16, 96), -1)",
    "softmax of a block": "F.softmax(torch.randn(4, 1500), -1)",
    "log-softmax": "F.log_softmax(torch.randn(16, 70), -1)",
    "argmax": "torch.argmax(torch.randn(16, 300), -1)",
    "minimum": "torch.amin(torch.randn(8, 130), -1)",
    "maximum of columns": "torch.amax(torch.randn(70, 40), 0)",
    "norm": "F.rms_norm(torch.randn(8, 520), (520,))",
    "sum": "torch.sum(torch.randn(8, 700), -1)",
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ROWS)
def test_rows_are_right_whatever_is_in_them(name: str):
    program = parse_expression(ROWS[name], fake=True)
    captured = api.capture(program.module, *program.args, kwargs=program.kwargs)
    plan = plan_of(api.lower(captured, "cuda", TARGET, db=False))
    backend = SimulatorBackend(TARGET)
    reference = api.lower(captured, "tensor", TARGET, db=False)
    judged = [*JudgedSets(reference, plan.inputs, turns=TURNS)]
    assert [each.what.partition(" ")[0] for each in judged][:5] == [
        "ordered",
        "normal",
        "low",
        "ties",
        "spikes",
    ]
    for each in judged:
        execution = backend.run(plan, each.inputs)
        assert execution.problems == [], each.what
        assert each.is_right(execution.results), each.what

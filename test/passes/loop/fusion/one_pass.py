# SPDX-License-Identifier: Apache-2.0
"""Programs whose rows count as too long to stay on chip, at each level and in the simulator."""

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor
from xdsl.dialects.builtin import ModuleOp

from tilewright import api
from tilewright.arrays import array_of
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects import loop
from tilewright.dialects.monoid import Monoid
from tilewright.interpreters import interpret
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipelines import TO_LOOP, passes_of

from ...decompose.conftest import assert_same

TARGET = "sm_90a"

Function = Callable[..., Any]
Inputs = Sequence[Tensor]


def loops_of(function: Function, inputs: Inputs, name: str, kept: int = 8) -> ModuleOp:
    """Return Loop IR; the pass `name` assumes that rows of `kept` elements stay on chip."""
    module = lower(api.capture(function, *inputs).module, Level.TENSOR)
    pipeline = TO_LOOP.replace(name, f"{name}{{kept={kept}}}")
    PassManager(context()).run(module, passes_of(pipeline))
    return module


def reductions(module: ModuleOp, monoid: Monoid) -> list[loop.ReduceOp]:
    """Return the reductions with `monoid` in a module."""
    found = [op for op in module.walk() if isinstance(op, loop.ReduceOp)]
    return [op for op in found if op.monoid.data is monoid]


def assert_right(module: ModuleOp, function: Function, inputs: Inputs) -> None:
    """Assert that Loop IR computes what `function` computes, as all IR that is made of it does."""
    arrays, expected = [*map(array_of, inputs)], function(*inputs)
    outputs = [expected] if isinstance(expected, Tensor) else expected
    for level in ("loop", "tile", "kernel"):
        lowered = api.lower(module.clone(), level, TARGET, db=False)
        for got, tensor in zip(interpret(lowered, *arrays), outputs, strict=True):
            assert_same(got, tensor)
    plan = plan_of(api.lower(module.clone(), "cuda", TARGET, db=False))
    execution = SimulatorBackend(TARGET).run(plan, arrays)
    assert execution.problems == []
    for got, tensor in zip(execution.results, outputs, strict=True):
        assert_same(got, tensor)


def shared_rows(join: str) -> str:
    """Return a schedule in which three blocks share each row, and join by `join`."""
    return (
        f"tileify,cooperative-reduce{{threads=64 rows=1 row=stage split=3 join={join}}},"
        "chunk-reduce{chunk=4},register-tile{vector=2 items=1 min_blocks=0},mark-unroll{limit=4}"
    )

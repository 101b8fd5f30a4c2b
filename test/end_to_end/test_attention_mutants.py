# SPDX-License-Identifier: Apache-2.0
"""
Bugs that are planted in the passes for attention, and in the Kernel IR that they make. The random
cases of attention find each of them.
"""

import inspect
from collections.abc import Callable
from textwrap import dedent
from typing import Any, NamedTuple

import pytest
from needs import needs_nvrtc
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.codegen.mutations.mutation import dropped
from tilewright.dialects import kernel
from tilewright.passes.facts import held_fragments
from tilewright.passes.kernel.matrix_fragments import FragmentLoads
from tilewright.passes.kernel.softmax_reduction import SoftmaxReductions
from tilewright.passes.tile import step_bounds
from tilewright.passes.tile.shared_chunk import SharedChunk

from .attention_runs import SEEDS, problems


class Mutant(NamedTuple):
    """Change of a function's text."""

    what: str
    owner: Any
    """Module or class of the function."""
    name: str
    old: str
    new: str

    def planted(self) -> Callable[..., Any]:
        """Return the function with the change."""
        function = getattr(self.owner, self.name)
        text = dedent(inspect.getsource(function))
        assert text.count(self.old) == 1, f"the mutant '{self.what}' does not fit {self.name}"
        names = {**function.__globals__}
        exec(f"from __future__ import annotations\n{text.replace(self.old, self.new)}", names)
        return names[self.name]


_BARRIERS = kernel.BarrierOp, kernel.WarpBarrierOp, kernel.NamedBarrierOp

_LARGEST = "[largest, largest]"

MUTANTS = [
    Mutant("sums not rescaled", SoftmaxReductions, "lower_largest", "in sums:", "in ():"),
    Mutant("total not rescaled", SoftmaxReductions, "lower_largest", "in sums:", "in sums[1:]:"),
    Mutant("values not rescaled", SoftmaxReductions, "lower_largest", "in sums:", "in sums[:1]:"),
    Mutant(
        "weights of the maximum before",
        SoftmaxReductions,
        "lower_largest",
        _LARGEST,
        "[largest, before]",
    ),
    Mutant(
        "weights of the maximum of the step alone",
        SoftmaxReductions,
        "lower_largest",
        _LARGEST,
        "[largest, self.values.at(op.results[0])]",
    ),
    Mutant(
        "mask after the maximum",
        SharedChunk,
        "results",
        "self._combined(masked, Monoid.MAX)",
        "self._combined(owned.value(score), Monoid.MAX)",
    ),
    Mutant(
        "rows that see no key divide by zero",
        SharedChunk,
        "_weight",
        "arith.SubfOp(masked, finite)",
        "arith.SubfOp(masked, largest)",
    ),
    Mutant("a chunk too few", step_bounds, "_limit", "// -factor + 1, True", "// -factor, True"),
    Mutant(
        "a first chunk too few", step_bounds, "_limit", "(others * -1 +", "(others * -1 + factor +"
    ),
    Mutant("tiles in the wrong order", held_fragments, "_tiles", "tiles[::-1]", "tiles"),
    Mutant("fragments swapped", FragmentLoads, "_take", "+ _D0 // 4", "+ 1 - _D0 // 4"),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.what)
def test_mutant_is_found(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutant.owner, mutant.name, mutant.planted())
    assert any(any(problems(seed, simulated=False)) for seed in SEEDS)


def drop_barriers(module: ModuleOp) -> None:
    """Drop the barrier after the weights of a step are stored, if there is one."""
    slabs = [op for op in module.walk() if isinstance(op, kernel.SharedOp)]
    for slab in [op for op in slabs if (op.results[0].name_hint or "").startswith("weights")]:
        op: Operation | None = slab
        while op is not None and not isinstance(op, _BARRIERS):
            op = op.next_op
        if op is not None:
            (mutation,) = dropped(op)
            mutation.change(op)


@needs_nvrtc
def test_missing_barrier_is_found() -> None:
    assert any(any(problems(seed, change=drop_barriers)) for seed in SEEDS)

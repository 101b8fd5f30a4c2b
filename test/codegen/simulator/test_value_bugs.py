# SPDX-License-Identifier: Apache-2.0
"""
Bugs in computed values that ordinary random inputs hide, and that at least one of the input sets
reveals.

A mutant that changes no result and causes no finding is not a bug, unless it changes the order of
threads.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from needs import needs_nvrtc

from tilewright.tools.planted_bugs.finders import WITHOUT_EFFECT, Finders
from tilewright.tools.planted_bugs.planted import Kernel, Mutant, load_kernel, planted

pytestmark = needs_nvrtc

TILE = Path(__file__).parent / "tile"


def _kernel(name: str) -> Kernel:
    return load_kernel(TILE / f"{name}.mlir", turns=1)


def _planted(kernel: Kernel, bug: str, line: str) -> list[Mutant]:
    found = [m for m in planted(kernel) if m.place.bug == bug and line in m.place.line]
    assert found
    return found


@pytest.mark.every_case
def test_every_lost_step_of_a_maximum_is_found_and_tame_inputs_hide_it():
    # All threads of a block read the same maximum: the softmax is right for any value of it, unless
    # `exp` overflows.
    kernel = _kernel("softmax_block")
    tame = [judged for judged in kernel.sets if judged.what == "normal"]
    finders = Finders(kernel)
    limited = Finders(replace(kernel, sets=tame))
    assert not finders.false_alarms
    for mutant in _planted(kernel, "skipped", "xor %max"):
        outcome, hidden = finders.run(mutant), limited.run(mutant)
        assert outcome is not None
        assert hidden is not None
        assert outcome.simulator == outcome.interpreter == {"wrong"}, mutant.place
        # No finding, and not even another bit in the results.
        assert not hidden.simulator, mutant.place
        assert not hidden.interpreter, mutant.place


def test_a_zero_too_many_in_a_maximum_is_found():
    kernel = _kernel("softmax_warp")
    finders = Finders(kernel)
    for mutant in _planted(kernel, "condition 0 lost", "loop.predicate [99 - %t * 4]"):
        outcome = finders.run(mutant)
        assert outcome is not None
        assert outcome.is_found
        assert outcome.kind == "wrong"


@pytest.mark.parametrize(
    ("name", "bug", "line", "kind"),
    [
        # Elements that are not loaded are zero, and their squares are zero, too.
        ("rms_norm", "condition 0 lost", "predicate [200 - %i * 64 - %t]", WITHOUT_EFFECT),
        # All lanes of a warp store the same value, which Kernel IR allows and CUDA does not.
        ("rms_norm", "always taken", "predicate [0 - %t mod 32]", "race"),
        # NVRTC sinks the load to the store of the result, which has that condition.
        ("rms_norm", "condition 0 lost", "load %weight", "reported"),
    ],
)
def test_kinds_of_mutants_that_change_no_result(name: str, bug: str, line: str, kind: str):
    kernel = _kernel(name)
    (mutant, *_) = _planted(kernel, bug, line)
    outcome = Finders(kernel).run(mutant)
    assert outcome is not None
    assert outcome.is_found
    assert outcome.kind == kind


def test_a_bug_of_order_is_one_whatever_the_results_are():
    kernel = _kernel("gated_matmul")
    (mutant, *_) = _planted(kernel, "moved before what precedes", "ring_release")
    assert not mutant.is_of_values
    outcome = Finders(replace(kernel, sets=[next(iter(kernel.sets))])).run(mutant)
    assert outcome is not None
    assert outcome.interpreter == frozenset()

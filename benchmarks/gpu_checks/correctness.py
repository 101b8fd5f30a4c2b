# SPDX-License-Identifier: Apache-2.0
"""
Stage `correctness`: results against PyTorch in float64, with the error limits of `tilewright run`.

The stage checks:

- the sample of `programs`,
- every case of suite84 at a small size, with the schedules of its full size,
- likewise the cases of suite-half, but those of Qwen only in float16,
- the first case of every operator,
- and the behaviour of calls (`behaviour`).
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from gpu_checks.device import Device
from gpu_checks.outcome import Outcome, Verdict, missing, right, wrong
from gpu_checks.places import HALF, ROOT, SUITE
from tilewright.tools.bench.suite import read_cases


def items(device: Device) -> list[str]:
    """Return the name of each check, as `KIND/NAME`."""
    return [f"{kind}/{name}" for kind, (names, _) in _KINDS.items() for name in names(device)]


def check(device: Device, item: str) -> Outcome:
    """Run the check called `KIND/NAME`, and return its outcome. Errors in the check are raised."""
    kind, _, name = item.partition("/")
    return _KINDS[kind][1](device, name)


def _program(device: Device, name: str) -> Outcome:
    """
    Call a program three times, and return the outcome of comparing its results with PyTorch's.

    The inputs have the memory layout that the program's name stands for.
    """
    from torch.utils import _pytree as pytree

    from gpu_checks.programs import parsed, way_of
    from tilewright import api
    from tilewright.arrays import array_of
    from tilewright.frontend.call import Call

    expression, lies = parsed(name), way_of(name)
    program = device.program(expression.module, *expression.args)
    kernel_ir = partial(api.lower, program.captured, "kernel", device.target)
    outcome = right("nothing to compute")
    for number in range(3):
        # Values and addresses differ in each call, which reveals stale caches.
        given = [lies(_varied(tensor, number).to(device.place)) for tensor in expression.args]
        results = pytree.tree_leaves(program(*given))
        device.synchronize()
        inputs = [*map(array_of, Call(program.captured, tuple(given), {}).values())]
        outcome = compared(program.captured, inputs, [*map(array_of, results)], kernel_ir)
        if outcome.verdict is not Verdict.RIGHT:
            break
    return outcome


def _varied(tensor: Any, number: int) -> Any:
    return tensor * (1 + number / 8) if tensor.is_floating_point() else tensor


def compared(
    captured: Any,
    inputs: Sequence[Any],
    results: Sequence[Any],
    kernel_ir: Callable[[], ModuleOp],
) -> Outcome:
    """
    Return the outcome of comparing results with PyTorch's in float64. A right outcome has the error
    that is nearest to its limit. `kernel_ir` returns the program's Kernel IR, whose own rounding
    counts if the error is large.
    """
    from tilewright.interpreters.comparison import compare
    from tilewright.tools.program import captured_program

    found = compare(captured_program(captured), inputs, results, kernel_ir)
    reasons = [f"output {n}: {c.reason}" for n, c in enumerate(found) if c.reason]
    if reasons:
        return wrong("; ".join(reasons))
    worst = max(found, key=lambda c: (c.error or 0.0) / (c.limit or 1.0))
    error, limit = worst.error or 0.0, worst.limit or 0.0
    return right(f"error {error:.2e}, allowed {limit:.2e}", error=error, limit=limit)


def _reduced(suite: Path, device: Device, name: str) -> Outcome:
    from reduced_suite import by_full_schedules

    from tilewright import api
    from tilewright.arrays import array_of
    from tilewright.codegen.host_function import plan_of

    case = next(case for case in read_cases(suite) if case.name == name)
    captured, scheduled = by_full_schedules(case, device.target)
    plan = plan_of(api.lower(scheduled, "cuda", device.target))
    inputs = [array_of(input.tensor) for input in captured.inputs]
    kernel_ir = partial(api.lower, scheduled, "kernel", device.target)
    return compared(captured, inputs, device.backend().run(plan, inputs).results, kernel_ir)


def _families(device: Device) -> list[str]:
    from tilewright.dialects import torch

    return [family.__name__ for family in torch.FAMILIES if torch.ops_of(family)]


def _ops(device: Device, name: str) -> Outcome:
    from importlib.util import find_spec

    if find_spec("pytest") is None:
        return missing("the operators' cases need pytest")
    sys.path.insert(0, str(ROOT / "test" / "passes"))
    from importlib import import_module

    programs: Any = import_module("decompose.programs")
    calls = programs.first_calls()[name]
    programs.Program(calls).check(device.backend(), device.target)
    return right(f"{len(calls)} operators")


def _behaviour(device: Device, name: str) -> Outcome:
    from gpu_checks.behaviour import ANYWHERE, ON_GPU

    behave = {**ANYWHERE, **ON_GPU}[name]
    behave(device)
    device.synchronize()
    return right((behave.__doc__ or "").strip())


def _behaviours(device: Device) -> list[str]:
    from gpu_checks.behaviour import ANYWHERE, ON_GPU

    return [*ANYWHERE, *(ON_GPU if device.is_gpu else ())]


def _samples(device: Device) -> list[str]:
    from gpu_checks.programs import PROGRAMS

    return [*PROGRAMS]


def _cases(device: Device) -> list[str]:
    return [case.name for case in read_cases(SUITE)]


def _half_cases(device: Device) -> list[str]:
    # in bfloat16, the kernels of Qwen are those of TinyLlama with other sizes
    names = [case.name for case in read_cases(HALF)]
    return [name for name in names if ".qwen." not in name or name.endswith(".fp16")]


_KINDS: Mapping[str, tuple[Callable[[Device], list[str]], Callable[[Device, str], Outcome]]] = {
    "program": (_samples, _program),
    "behaviour": (_behaviours, _behaviour),
    "suite": (_cases, partial(_reduced, SUITE)),
    "half": (_half_cases, partial(_reduced, HALF)),
    "ops": (_families, _ops),
}

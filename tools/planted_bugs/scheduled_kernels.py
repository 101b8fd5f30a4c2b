# SPDX-License-Identifier: Apache-2.0
"""
Kernels that the planner schedules for a suite's cases and for models, each once, at sizes that the
simulator can handle.

Kernels are equal if they compute the same at these sizes by the same schedule: one represents all.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen.host_function import plan_of
from tilewright.dialects import loop
from tilewright.errors import UnsupportedError
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.tools.bench.suite import read_cases
from tilewright.tools.options.bench import SHORT
from tilewright.tools.planted_bugs.equivalent import read_equivalent
from tilewright.tools.planted_bugs.input_sets import TURNS
from tilewright.tools.planted_bugs.judging import JudgedSets
from tilewright.tools.planted_bugs.planted import Kernel
from tilewright.tools.planted_bugs.reduced_kernel import reduced, steps_of
from tilewright.tuning.kernel_key import digest

TOKENS, ROWS = 128, 256
"""Number of tokens of a model's prompt, and number of rows of its key-value cache."""

FEW_STEPS = 300_000
"""
Number of loop steps up to which a kernel is judged with all sets of inputs, because runs are short.
"""

LEAST_BUDGET, STEP_BUDGET = 60_000_000, 36
"""
Parts of the maximum number of thread-instructions of a kernel. The maximum is `STEP_BUDGET` for
each loop step, but at least `LEAST_BUDGET`.

Partial tiles at the edges of small sizes take several times the work of their elements.
"""

LAYERS = 2
"""
Number of layers that models are captured with: two have all kernels within and between layers.
"""


@dataclass
class ScheduledKernel:
    """Kernel with the planner's schedule, at reduced sizes."""

    name: str
    """Names of the program and the kernel: `matmul.qwen.q_proj.s32: matmul`."""
    program: ModuleOp
    """Kernel at Loop IR, with the schedule as its `planned` steps."""
    schedule: str
    shapes: tuple[str, ...]
    """Types of the kernel's buffers, as text."""
    digest: str
    steps: int
    """Number of steps of the kernel's innermost loops."""
    folder: Path | None
    """Folder of its suite, which may contain an `equivalent.toml`; None for a kernel of a model."""
    others: list[str] = field(default_factory=list[str])
    """Names of further kernels that are equal to this one."""

    @property
    def kind(self) -> str:
        """Kernel's name and schedule, without numbers."""
        name = self.name.rpartition(" ")[2]
        return re.sub(r"\d+", "", f"{name} {self.schedule}")


@dataclass(frozen=True)
class ScheduledKernels:
    """All kernels that can be checked, and the reasons why others cannot."""

    kernels: Sequence[ScheduledKernel]
    refused: Sequence[str]


def scheduled_kernels(
    models: Sequence[str], suites: Sequence[str], only: str, target: str
) -> ScheduledKernels:
    """
    Return the distinct kernels of suites and models whose names contain `only`, in the order of
    checks.
    """
    kernels: dict[tuple[str, str], ScheduledKernel] = {}
    refused: dict[str, None] = {}
    for program, captured, folder in _programs(models, suites):
        for kernel, schedule in _scheduled(captured, target):
            name = f"{program}: {kernel.sym_name.data}"
            if only not in name:
                continue
            try:
                found = _scheduled_kernel(name, kernel, schedule, target, folder)
            except UnsupportedError as err:
                refused[f"{program}: {err}"] = None
                continue
            known = kernels.setdefault((found.digest, schedule), found)
            if known is not found:
                known.others.append(name)
    return ScheduledKernels(_one_of_each_kind_first([*kernels.values()]), [*refused])


def _one_of_each_kind_first(kernels: Sequence[ScheduledKernel]) -> list[ScheduledKernel]:
    """
    Return the kernels in another order: first one of each kind, then a second one of each kind, and
    so on; small kernels first.
    """
    seen = Counter[str]()
    ranks = list[int]()
    for kernel in kernels:
        ranks.append(seen[kernel.kind])
        seen[kernel.kind] += 1
    order = sorted(range(len(kernels)), key=lambda n: (ranks[n], kernels[n].steps))
    return [kernels[number] for number in order]


def _programs(
    models: Sequence[str], suites: Sequence[str]
) -> Iterator[tuple[str, Any, Path | None]]:
    """Yield the programs, captured without values, each with a name and its suite's folder."""
    capture = import_module("tilewright.frontend.capture").capture
    for suite in suites:
        for case in read_cases(suite):
            program = case.program(fake=True)
            captured = capture(program.module, program.args, program.kwargs)
            yield case.name, captured, Path(suite).parent
    for model in models:
        for name, captured in _programs_of_model(model):
            yield name, captured, None


def _programs_of_model(name: str) -> Iterator[tuple[str, Any]]:
    """Yield the program that reads a prompt and the program that generates a token."""
    from tilewright.models.config import find_model
    from tilewright.models.decode_step import capture_decode_step
    from tilewright.models.prefill import capture_prefill
    from tilewright.models.structure import build

    model = build(find_model(SHORT.get(name, name)).config, layers=LAYERS)
    yield f"{name} prefill", capture_prefill(model, TOKENS, ROWS)
    yield f"{name} decode", capture_decode_step(model, ROWS)


def _scheduled(captured: Any, target: str) -> Iterator[tuple[loop.KernelOp, str]]:
    """Yield the kernels of a program at Loop IR, with the planner's schedules."""
    nests = lower(captured.module, Level.LOOP, target=target)
    tiles = lower(nests, Level.TILE, target=target)
    for nest, tile in zip(_kernels(nests), _kernels(tiles), strict=True):
        if tile.schedule is not None:
            yield nest, tile.schedule.data


def _kernels(module: ModuleOp) -> list[loop.KernelOp]:
    return [op for op in module.ops if isinstance(op, loop.KernelOp)]


def _scheduled_kernel(
    name: str, kernel: loop.KernelOp, schedule: str, target: str, folder: Path | None
) -> ScheduledKernel:
    program = reduced(kernel, schedule, target)
    (smaller,) = _kernels(program)
    shapes = tuple(str(argument.type) for argument in smaller.body.block.args)
    return ScheduledKernel(
        name, program, schedule, shapes, digest(smaller), steps_of(smaller), folder
    )


def load_scheduled(scheduled: ScheduledKernel, target: str) -> Kernel:
    """Return the scheduled kernel at Kernel IR; its expected results are those of the Loop IR."""
    lowered = lower(scheduled.program, Level.KERNEL, target=target)
    plan = plan_of(lower(lowered, Level.CUDA, target=target))
    turns = TURNS if scheduled.steps <= FEW_STEPS else 1
    sets = JudgedSets(scheduled.program, plan.inputs, turns=turns)
    budget = max(LEAST_BUDGET, STEP_BUDGET * scheduled.steps)
    known = () if scheduled.folder is None else read_equivalent(scheduled.folder, scheduled.name)
    return Kernel(scheduled.name, lowered, plan, sets, target, known, budget)

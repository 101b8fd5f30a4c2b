# SPDX-License-Identifier: Apache-2.0
"""
The kernels that the planner makes of a suite's cases and of models, each once, at sizes that the
simulator takes.

Kernels are equal if they do the same by the same schedule at these sizes: one stands for all.
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
"""Tokens of a model's prompt, and rows of its cache of keys and values."""

FEW_STEPS = 300_000
"""Steps of a kernel's loops up to which runs are so short that it is judged with all sets."""

LEAST_BUDGET, STEP_BUDGET = 60_000_000, 36
"""Thread-instructions that a kernel, and a step of its loops, may take; tiles that are cut off at
the edges of small sizes take several times what they compute."""

LAYERS = 2
"""Layers of a model: what stands between two is there, and all others are equal."""


@dataclass
class ScheduledKernel:
    """A kernel of the planner, reduced."""

    name: str
    """The program and the kernel, `matmul.qwen.q_proj.s32: matmul`."""
    program: ModuleOp
    """The kernel at Loop IR, with the schedule as its `planned` steps."""
    schedule: str
    shapes: tuple[str, ...]
    """Types of its buffers."""
    digest: str
    steps: int
    """Steps that its loops take."""
    folder: Path | None
    """The folder of the suite that it is of, which may have an `equivalent.toml`."""
    others: list[str] = field(default_factory=list[str])
    """Kernels that are equal to it."""

    @property
    def kind(self) -> str:
        """The kernel's name and schedule, without sizes."""
        name = self.name.rpartition(" ")[2]
        return re.sub(r"\d+", "", f"{name} {self.schedule}")


@dataclass(frozen=True)
class ScheduledKernels:
    """All kernels, and the reasons for which some are not among them."""

    kernels: Sequence[ScheduledKernel]
    refused: Sequence[str]


def scheduled_kernels(
    models: Sequence[str], suites: Sequence[str], only: str, target: str
) -> ScheduledKernels:
    """Return the distinct kernels of suites and models with `only` in their names, in order."""
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
    """Return the kernels in an order in which little time shows much: small ones first, too."""
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
    """Return what is compiled, captured without values, each with a name and its suite's folder."""
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
    """Return the programs that read a prompt, and add a token."""
    from tilewright.models.config import find_model
    from tilewright.models.decode_step import capture_decode_step
    from tilewright.models.prefill import capture_prefill
    from tilewright.models.structure import build

    model = build(find_model(SHORT.get(name, name)).config, layers=LAYERS)
    yield f"{name} prefill", capture_prefill(model, TOKENS, ROWS)
    yield f"{name} decode", capture_decode_step(model, ROWS)


def _scheduled(captured: Any, target: str) -> Iterator[tuple[loop.KernelOp, str]]:
    """Return the kernels of a program at Loop IR, with the schedules that the planner makes."""
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
    """Return the kernel as the planner schedules it, which must give what its loops give."""
    lowered = lower(scheduled.program, Level.KERNEL, target=target)
    plan = plan_of(lower(lowered, Level.CUDA, target=target))
    turns = TURNS if scheduled.steps <= FEW_STEPS else 1
    sets = JudgedSets(scheduled.program, plan.inputs, turns=turns)
    budget = max(LEAST_BUDGET, STEP_BUDGET * scheduled.steps)
    known = () if scheduled.folder is None else read_equivalent(scheduled.folder, scheduled.name)
    return Kernel(scheduled.name, lowered, plan, sets, target, known, budget)

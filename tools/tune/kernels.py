# SPDX-License-Identifier: Apache-2.0
"""Which kernels are tuned: those of a program, or of all cases of a suite, each once."""

import argparse
import re
from collections.abc import Iterator
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.errors import UsageError
from tilewright.passes.levels import Level, level_of
from tilewright.passes.lowering import lower
from tilewright.tools.diagnostics import explain
from tilewright.tools.model_source import module_of
from tilewright.tools.suite import Case, read_cases
from tilewright.tuning.kernel_key import digest

_NOT_YET_SCHEDULED = (Level.TORCH, Level.TENSOR, Level.LOOP)


class Kernel(NamedTuple):
    """A kernel that can be scheduled in several ways."""

    op: loop.KernelOp
    digest: str
    origin: str
    """The expression that it is part of, as `-c` takes it; empty where there is none."""
    case: str = ""
    """The case of a suite that it is part of."""

    @property
    def name(self) -> str:
        """What people call it."""
        name = self.op.sym_name.data
        return f"{self.case}: {name}" if self.case else name

    @property
    def text(self) -> str:
        """It alone, as a module."""
        return str(ModuleOp([self.op.clone()]))


class Found(NamedTuple):
    """What there is to tune."""

    kernels: list[Kernel]
    failures: list[str]
    """What is said of cases of which there is no IR."""


def kernels_of(args: argparse.Namespace, target: str) -> Found:
    """Those that the arguments ask for. Raises `UsageError` where that is none."""
    is_suite = args.expression is None and args.file.endswith(".json")
    if args.filter is not None and not is_suite:
        raise UsageError("--filter is of the cases of a suite.json")
    found = _of_suite(args, target) if is_suite else _of_program(args, target)
    if not found.kernels and not found.failures:
        raise UsageError("there is nothing to tune: the program has no kernels")
    return found


def _of_program(args: argparse.Namespace, target: str) -> Found:
    module = module_of(args)
    if level_of(module) not in _NOT_YET_SCHEDULED:
        raise UsageError(
            f"'{args.file}' is scheduled already",
            remedy="schedules are searched for kernels at the level loop or above",
        )
    return Found(_unique(_kernels(module, target, args.expression or "")), [])


def _of_suite(args: argparse.Namespace, target: str) -> Found:
    found: list[Kernel] = []
    failures: list[str] = []
    for case in _cases(args):
        try:
            module = _module_of_case(case)
            found += _kernels(module, target, case.statements, case.name)
        except Exception as err:  # of whatever kind: the other cases are to be tuned all the same
            failures.append(explain(err)[0].replace("error: ", f"error: case '{case.name}': ", 1))
    return Found(_unique(found), failures)


def _cases(args: argparse.Namespace) -> list[Case]:
    """Those asked for. `UsageError` if there are none."""
    cases = list(read_cases(args.file))
    if args.filter is not None:
        cases = [case for case in cases if re.search(args.filter, case.name)]
    if not cases:
        raise UsageError(f"no case of '{args.file}' has a match of --filter in its name")
    return cases


def _module_of_case(case: Case) -> ModuleOp:
    import tilewright

    return tilewright.capture(case.function, *case.inputs()).module


def _kernels(module: ModuleOp, target: str, origin: str, case: str = "") -> Iterator[Kernel]:
    for op in lower(module, Level.LOOP, target=target).ops:
        if isinstance(op, loop.KernelOp):
            yield Kernel(op, digest(op), origin, case)


def _unique(kernels: Iterator[Kernel] | list[Kernel]) -> list[Kernel]:
    """Of those that differ in names alone the first."""
    first: dict[str, Kernel] = {}
    for kernel in kernels:
        first.setdefault(kernel.digest, kernel)
    return [*first.values()]

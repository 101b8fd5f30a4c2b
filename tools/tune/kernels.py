# SPDX-License-Identifier: Apache-2.0
"""
Kernels and programs to tune, from a program or all cases of a suite; equal kernels occur once.
"""

import argparse
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.errors import UsageError
from tilewright.passes.driver.levels import Level, level_of
from tilewright.passes.driver.lowering import lower
from tilewright.passes.tile.idle_steps import planned_kernels
from tilewright.tools.bench.suite import Case, read_cases
from tilewright.tools.input.schedules import warn_of_idle_steps, with_schedules
from tilewright.tools.input.source import ExpressionSource, set_precision, source_of
from tilewright.tools.output.diagnostics import explain_case
from tilewright.tuning import kernel_key, program_key
from tilewright.tuning.key import Key
from tilewright.tuning.operand_names import to_canonical

_NOT_YET_SCHEDULED = (Level.TORCH, Level.TENSOR, Level.LOOP)


class Kernel(NamedTuple):
    """Kernel that can be scheduled in several ways."""

    op: loop.KernelOp
    digest: str
    origin: str
    """Expression that contains the kernel, in the form of `-c`; empty if there is none."""
    case: str = ""
    """Case of a suite that contains the kernel."""
    how: str = ""
    """Suffix of the title for a kernel that the default fusion does not create."""

    @property
    def name(self) -> str:
        """Name of the kernel in the output."""
        name = self.op.sym_name.data
        return f"{self.case}: {name}" if self.case else name

    @property
    def text(self) -> str:
        """Text of a module with only this kernel, without planned steps."""
        copy = self.op.clone()
        copy.planned = None
        return str(ModuleOp([copy]))

    @property
    def pinned(self) -> str:
        """Pinned steps of its schedules, as the user gave them; empty if there are none."""
        return "" if self.op.planned is None else self.op.planned.data

    @property
    def identity(self) -> str:
        """Text that is equal for kernels to tune once: their digests and pins are equal."""
        names = kernel_key.input_names(self.op)
        return f"{self.digest} {to_canonical(self.pinned, names)}" if self.pinned else self.digest

    def key(self, target: str, evaluator: str, gpu: str | None = None, nvrtc: str = "") -> Key:
        """Return the database key of its measurements (`kernel_key`)."""
        return kernel_key.key_of(self.op, target, evaluator, gpu, nvrtc)


class Program(NamedTuple):
    """Program whose kernels can be fused in several ways."""

    module: ModuleOp
    """Program at Tensor IR."""
    digest: str
    origin: str
    """Expression that contains the program, in the form of `-c`; empty if there is none."""
    case: str = ""
    pinned: str = ""
    """Always empty: pins are of kernels."""

    @property
    def name(self) -> str:
        """Name of the program in the output."""
        return f"{self.case}: program" if self.case else "program"

    def key(self, target: str, evaluator: str, gpu: str | None = None, nvrtc: str = "") -> Key:
        """Return the database key of its times (`program_key`)."""
        return program_key.key_of(self.module, target, evaluator, gpu, nvrtc)

    def kernels(self, nests: ModuleOp, *, is_default: bool) -> Iterator[Kernel]:
        """
        Yield the kernels of the program at Loop IR; only those of the default fusion have an
        `origin`.
        """
        for op in nests.ops:
            if isinstance(op, loop.KernelOp):
                origin, how = (self.origin, "") if is_default else ("", "in another fusion")
                yield Kernel(op, kernel_key.digest(op), origin, self.case, how)


class Found(NamedTuple):
    """Kernels and programs to tune."""

    kernels: list[Kernel]
    """Distinct kernels of the default fusions."""
    programs: list[Program]
    """Programs above Loop IR, whose fusion can be tuned."""
    failures: list[str]
    """Error messages of the cases that could not be captured or lowered."""


class Tunable(NamedTuple):
    """Program, or cases of a suite, that the command line names for tuning."""

    module: ModuleOp | None
    origin: str
    cases: Sequence[Case]
    precision: str | None = None
    """Precision of float32 products of the cases; None for the default."""
    schedules: Sequence[str] = ()
    """Pins of kernels, as `--schedule` has them."""

    def kernels(self, target: str) -> Found:
        """
        Return the kernels and programs to tune for a target; raises `UsageError` if there are none.
        """
        if self.module is None:
            found = _of_suite(self.cases, target, self.precision)
        else:
            module = with_schedules(self.module, self.schedules, target)
            _check_pins(module, target)
            programs, kernels = _parts(module, target, self.origin)
            found = Found(_unique(kernels), programs, [])
        if not found.kernels and not found.failures:
            raise UsageError("there is nothing to tune: the program has no kernels")
        return found


def tunable_of(args: argparse.Namespace) -> Tunable:
    """
    Return the program, or the cases of the suite, that the arguments name. Raises `UsageError` if
    it cannot be tuned.
    """
    if args.file is not None and args.file.endswith(".json"):
        if args.schedule:
            raise UsageError("--schedule is for the kernels of one program, not of a suite")
        return Tunable(None, "", _cases(args), args.matmul_precision)
    if args.filter is not None:
        raise UsageError("--filter goes with a suite.json only")
    source = source_of(args)
    module = source.module()
    if level_of(module) not in _NOT_YET_SCHEDULED:
        raise UsageError(
            f"'{source.text}' is scheduled already",
            remedy="schedules are searched for kernels at the level loop or above",
        )
    origin = source.text if isinstance(source, ExpressionSource) else ""
    return Tunable(module, origin, (), schedules=args.schedule)


def _check_pins(module: ModuleOp, target: str) -> None:
    """Raise the error of a pin that is not possible; warn on stderr of pins without effect."""
    if any(planned_kernels(module)):
        warn_of_idle_steps(module, lower(module, Level.TILE, target=target), target)


def _of_suite(cases: Sequence[Case], target: str, precision: str | None) -> Found:
    kernels: list[Kernel] = []
    programs: list[Program] = []
    failures: list[str] = []
    for case in cases:
        try:
            module = _module_of_case(case, precision)
            program, found = _parts(module, target, case.statements, case.name)
        except Exception as err:  # any error: the other cases are still tuned
            failures.append(explain_case(err, case.name)[0])
            continue
        programs += program
        kernels += found
    return Found(_unique(kernels), programs, failures)


def _cases(args: argparse.Namespace) -> list[Case]:
    """Return the selected cases of the suite; raises `UsageError` if there are none."""
    cases = list(read_cases(args.file))
    if args.filter is not None:
        cases = [case for case in cases if args.filter.search(case.name)]
    if not cases:
        raise UsageError(f"no case of '{args.file}' has a match of --filter in its name")
    return cases


def _module_of_case(case: Case, precision: str | None) -> ModuleOp:
    import tilewright

    module = tilewright.capture(case.function, *case.inputs()).module
    set_precision(module, precision)
    return module


def _parts(
    module: ModuleOp, target: str, origin: str, case: str = ""
) -> tuple[list[Program], list[Kernel]]:
    """Return the program, unless it is already fused, and its kernels."""
    if level_of(module) not in (Level.TORCH, Level.TENSOR):
        found = [op for op in module.ops if isinstance(op, loop.KernelOp)]
        return [], [Kernel(op, kernel_key.digest(op), origin, case) for op in found]
    tensors = lower(module, Level.TENSOR, target=target)
    program = Program(tensors, program_key.digest(tensors), origin, case)
    nests = lower(tensors, Level.LOOP, target=target)
    return [program], [*program.kernels(nests, is_default=True)]


def _unique(kernels: Sequence[Kernel]) -> list[Kernel]:
    """Return the first of each group of kernels that differ only in names; pins may differ."""
    first: dict[str, Kernel] = {}
    for kernel in kernels:
        first.setdefault(kernel.identity, kernel)
    return [*first.values()]

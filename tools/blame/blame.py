# SPDX-License-Identifier: Apache-2.0
"""
Blame of a wrong result: the first wrong pass, its rule and match, and the smallest program on which
the pass fails by itself.

If all passes are right, PyTorch is compared with the captured Torch IR, and the simulated kernels
with the results that are right.
"""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen.simulator import SimulationTooLarge
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.structure import structure
from tilewright.errors import counted, one_line
from tilewright.interpreters.program import Program
from tilewright.passes.driver.levels import Level, level_of
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.verification import verify_module
from tilewright.passes.reporting.trace import site_name
from tilewright.tools.blame.comparison import Comparison
from tilewright.tools.blame.differing_terms import differing_terms
from tilewright.tools.blame.first_pass import Finder, Lowering, WrongPass, first_wrong_pass
from tilewright.tools.blame.guilty import Guilty, guilty
from tilewright.tools.blame.smaller_modules import smaller_modules
from tilewright.tools.blame.wrong_ends import (
    is_wrong_kernel,
    wrong_capture,
    wrong_kernel,
    wrong_kernels,
)
from tilewright.tools.output.minimal_diff import minimal_diff
from tilewright.tools.smallest import Attempts

_FILE = """\
// RUN: {command}
//
{comments}

{module!s}
"""

_NOTHING_RAN = "no kernels ran"

_UNKNOWN = "nothing could be checked; use smaller shapes"
"""Report of a program that is too large for every comparison."""

_LONGEST_DIFF = 40
"""Most lines of a diff in a report."""

_Smaller = Callable[[WrongPass, Attempts], WrongPass]
"""Function that makes a program smaller in which a pass is wrong, before its IR is made smaller."""


@dataclass(frozen=True)
class Subject:
    """Program whose result is wrong."""

    module: ModuleOp
    program: Callable[[], Program] | None
    """
    Function that returns the program with its right results; None if there is nothing to run.
    """
    called: Callable[[], list[Any] | None] | None = None
    """Function that calls the user's own function; None for IR."""
    smaller: _Smaller = lambda found, attempts: found


@dataclass(frozen=True)
class Blame:
    """Cause of a wrong result; `str()` is its report."""

    stage: str
    """Name of the wrong pass, or `capture` or `kernels`; empty if nothing is wrong."""
    report: Sequence[str]
    """Lines of the report."""
    mlir: str = ""
    """Text of a file that fails until the bug is mended; empty if there is none."""
    command: str = ""
    """Command that fails for this file, whose name is `%s`."""
    remarks: Sequence[str] = ()
    """Comparisons that were left out, with reasons."""
    is_unknown: bool = False
    """True if nothing was compared."""

    def __str__(self) -> str:
        return "\n".join(self.report)


def blamed(subject: Subject, lowering: Lowering, attempts: int) -> Blame:
    """Return the cause of a wrong result, with a program made smaller in a number of attempts."""
    finder, left = Finder(), Attempts(attempts)
    found = first_wrong_pass(subject.module, lowering, finder)
    if isinstance(found, WrongPass):
        return _of_pass(subject.smaller(found, left), left)
    remarks = [*finder.comparison.notes]
    if wrong := _wrong_capture(subject):
        return Blame("capture", ["wrong: capture", wrong], remarks=remarks)
    verdict = _NOTHING_RAN
    if subject.program is not None and level_of(found) is Level.KERNEL:
        try:
            wrong = wrong_kernels(subject.program(), found, lowering.target)
            verdict = "the simulated kernels are right"
        except SimulationTooLarge as err:
            remarks.append(f"no kernels are simulated: {err}")
    if wrong:
        return _of_kernels(wrong, found, lowering.target, left, remarks)
    if remarks and not finder.comparison.compared and verdict == _NOTHING_RAN:
        return Blame("", [_UNKNOWN], remarks=remarks, is_unknown=True)
    changed = f"{finder.comparison.compared} of {finder.passes} passes changed the program"
    left_out = counted(len(remarks), "comparison")
    head = f"nothing wrong was found, with {left_out} left out" if remarks else "nothing is wrong"
    return Blame("", [head, f"{changed} and are right; {verdict}"], remarks=remarks)


def _wrong_capture(subject: Subject) -> str:
    if subject.called is None or subject.program is None:
        return ""
    return wrong_capture(subject.program(), subject.called())


def _of_pass(found: WrongPass, attempts: Attempts) -> Blame:
    """Return the blame of a pass, after the IR before it is made smaller."""
    size = len(ops_in(found.before))
    small = attempts.smallest(
        found.before, smaller_modules, lambda module: _again(found, module) is not None, structure
    )
    found = _again(found, small) or found
    after = found.before.clone()
    found.step.apply(context(), after)
    wrong, terms = found.wrong, differing_terms(found, after)
    report = [
        f"wrong pass: {found.spec}, after {counted(found.number - 1, 'right one')}",
        *_rules(guilty(found), found.before, after),
        f"difference: {one_line(wrong.difference or wrong.error.message)}",
        f"smallest program: {len(ops_in(found.before))} of {size} ops",
        *(_diff(found.before, after) if terms is None else terms.lines()),
    ]
    command = f"opt-tool %s -p {shlex.quote(found.spec)} --check={wrong.check}"
    return Blame(found.step.name, report, _file(command, report, found.before), command)


def _diff(before: ModuleOp, after: ModuleOp) -> list[str]:
    """Return the diff of the IR, which is shown if there are no terms; empty if it is long."""
    lines = minimal_diff(str(before), str(after))
    return lines if len(lines) <= _LONGEST_DIFF else []


def _again(found: WrongPass, module: ModuleOp) -> WrongPass | None:
    """Return the wrong pass for another module, if it fails there in the same way."""
    try:
        verify_module(module)
        after = module.clone()
        found.step.apply(context(), after)
        verify_module(after)
        wrong = Comparison()(module, after, found.step.name)
    except Exception:  # any: a module made smaller may be nonsense
        return None
    if wrong is None or wrong.is_of_the_input or wrong.kind != found.wrong.kind:
        return None
    return replace(found, before=module, wrong=wrong)


def _rules(found: Guilty | None, before: ModuleOp, after: ModuleOp) -> list[str]:
    """Return the lines on the rule and the match."""
    if found is None:
        changed = ", ".join(f"@{name}" for name in _changed(before, after)) or "the module"
        return [f"rule: none, the pass is one walk; it changed {changed}"]
    numbers = f"{found.first}" if found.first == found.last else f"{found.first} to {found.last}"
    lines = [f"application: {numbers} of {found.total}"]
    for rule, site, place in found.applications:
        lines += [f"rule: {rule}", f"match: {site}{f', from {place}' if place else ''}"]
    return lines


def _changed(before: ModuleOp, after: ModuleOp) -> list[str]:
    """Return the symbols of the functions and kernels that a pass changed."""
    old = {site_name(op): structure(op) for op in before.ops}
    return [site_name(op) for op in after.ops if old.get(site_name(op)) != structure(op)]


def _of_kernels(
    wrong: str, lowered: ModuleOp, target: str, attempts: Attempts, remarks: Sequence[str]
) -> Blame:
    """Return the blame of kernels whose Kernel IR is right, with the smallest wrong kernel."""
    report = ["wrong: convert-kernel-to-cuda, or the text of its kernels; all passes are right"]
    report.append(f"difference: {wrong}")
    alone = wrong_kernel(lowered, target)
    if alone is None:
        return Blame("kernels", report, remarks=remarks)
    size = len(ops_in(alone))
    small = attempts.smallest(
        alone, smaller_modules, lambda module: is_wrong_kernel(module, target), structure
    )
    report.append(f"smallest program: {len(ops_in(small))} of {size} ops of one kernel")
    command = f"tilewright run %s --device sim --target {shlex.quote(target)}"
    return Blame("kernels", report, _file(command, report, small), command, remarks)


def _file(command: str, report: Sequence[str], module: ModuleOp) -> str:
    comments = "\n".join(f"// {line}".rstrip() for line in report)
    return _FILE.format(command=command, comments=comments, module=module)

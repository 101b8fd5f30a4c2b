# SPDX-License-Identifier: Apache-2.0
"""Programs to blame, by the command line's source or by a call in Python."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilewright import api
from tilewright.codegen.gpu import target_for
from tilewright.errors import UsageError
from tilewright.passes.driver.levels import Level, level_of
from tilewright.passes.rewriting.launching import with_main
from tilewright.tools.blame.blame import Blame, Subject, blamed
from tilewright.tools.blame.called import results_of_call
from tilewright.tools.blame.first_pass import Finder, Lowering, WrongPass, first_wrong_pass
from tilewright.tools.blame.smaller_sizes import smaller_sizes
from tilewright.tools.input.source import ExpressionSource, ModelSource, Source, TorchSource
from tilewright.tools.output.progress import ReportStage, ignore_stage
from tilewright.tools.program import captured_program, module_program
from tilewright.tools.smallest import Attempts
from tilewright.tuning.knowledge import Db


def blame(
    function: Any,
    *inputs: Any,
    kwargs: Mapping[str, Any] | None = None,
    target: str | None = None,
    db: Db = True,
    matmul_precision: str = "highest",
    attempts: int = 300,
) -> Blame:
    """
    Find the cause of a wrong result of a module or function, called with `inputs` and `kwargs`.

    `print` shows the first pass that changes the results, with its rule and match. The attribute
    `mlir` is the text of a file that fails until the bug is mended. `stage` is empty if nothing is
    wrong. A result of `torch.compile` is blamed as its original. At most `attempts` smaller
    programs are tried. Other arguments are those of `compile`.
    """
    if attempts < 0:
        raise UsageError(f"the number of attempts is at least 0, not {attempts}")
    original = getattr(function, "_orig_mod", function)
    original = getattr(original, "_torchdynamo_orig_callable", original)
    captured = api.capture(original, *inputs, kwargs=kwargs, matmul_precision=matmul_precision)
    subject = Subject(
        captured.module,
        cache(partial(captured_program, captured)),
        partial(results_of_call, original, inputs, dict(kwargs or {}), captured),
    )
    return blamed(subject, Lowering(target_for(target), db=db), attempts)


def blame_source(
    source: Source, lowering: Lowering, attempts: int, report_stage: ReportStage = ignore_stage
) -> Blame:
    """Find the cause of a wrong result of the program that a command line names."""
    return blamed(_subject(source, lowering, report_stage), lowering, attempts)


def _subject(source: Source, lowering: Lowering, report_stage: ReportStage) -> Subject:
    if not isinstance(source, TorchSource) or isinstance(source, ModelSource):
        return _of_ir(source.module(report_stage))
    loaded = source.load(fake=False, report_stage=report_stage)
    captured = source.capture(loaded)
    subject = Subject(
        captured.module,
        cache(partial(captured_program, captured)),
        partial(results_of_call, loaded.module, loaded.args, loaded.kwargs, captured),
    )
    if not isinstance(source, ExpressionSource):
        return subject
    return replace(subject, smaller=partial(_smaller, source, lowering))


def _of_ir(module: ModuleOp) -> Subject:
    """
    Return the subject of IR: its kernels run with random inputs, and the interpreter has the right
    results. A kernel alone gets a function that launches it.
    """
    if level_of(module) is Level.CUDA:
        raise UsageError(
            "CUDA IR has no interpreter: passes are compared from Torch IR to Kernel IR",
            remedy="tilewright simcheck checks kernels",
        )
    try:
        module = with_main(module)
    except UsageError:  # several kernels without a function that launches them
        return Subject(module, None)
    return Subject(module, cache(partial(module_program, module, None)))


def _smaller(
    source: ExpressionSource, lowering: Lowering, found: WrongPass, attempts: Attempts
) -> WrongPass:
    """Return the same wrong pass in an expression with smaller sizes."""

    def again(text: str) -> WrongPass | None:
        try:
            module = replace(source, text=text).module()
            smaller = first_wrong_pass(module, lowering, Finder())
        except Exception:  # any: sizes that do not fit are errors of all kinds
            return None
        if not isinstance(smaller, WrongPass) or smaller.step.name != found.step.name:
            return None
        return smaller if smaller.wrong.kind == found.wrong.kind else None

    text = attempts.smallest(source.text, smaller_sizes, lambda text: again(text) is not None, str)
    return (again(text) if text != source.text else None) or found

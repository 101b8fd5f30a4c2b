# SPDX-License-Identifier: Apache-2.0
"""Search for the first pass that changes what a program computes."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tilewright.dialects.target import DEFAULT_TARGET
from tilewright.errors import TilewrightError, one_line
from tilewright.passes.driver.levels import Level, level_of
from tilewright.passes.driver.lowering import context, lower
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipelines import expanded, passes_of
from tilewright.passes.targeted_pass import for_target
from tilewright.tools.blame.comparison import Comparison, Wrong
from tilewright.tools.input.schedules import with_schedules
from tilewright.tuning.knowledge import Db
from tilewright.tuning.known_schedules import with_known_schedules


@dataclass(frozen=True)
class WrongPass:
    """Pass that changes what a program computes, with the program before it."""

    step: ModulePass
    before: ModuleOp
    wrong: Wrong
    number: int = 1
    """Number of the pass, counted from 1."""

    @property
    def spec(self) -> str:
        """Pass with its options, as `opt-tool -p` takes it."""
        return str(self.step.pipeline_pass_spec())


@dataclass(frozen=True)
class Lowering:
    """Passes that take a program to Kernel IR, or those of a pipeline in their place."""

    target: str = DEFAULT_TARGET
    schedules: Sequence[str] = ()
    """Values of `--schedule`."""
    db: Db = False
    pipeline: str | None = None
    """Passes to run, in the syntax of `opt-tool -p`; None for all passes to Kernel IR."""

    def run(self, module: ModuleOp, manager: PassManager) -> ModuleOp:
        """Return `module` after the passes, which `manager` runs."""
        if self.pipeline is not None:
            after = module.clone()
            manager.run(
                after, [*expanded(for_target(p, self.target) for p in passes_of(self.pipeline))]
            )
            return after
        scheduled = with_schedules(module, self.schedules, self.target, manager, self.db)
        known = with_known_schedules(scheduled, self.target, self.db, manager)
        return known if level_of(known) is Level.KERNEL else self._to_kernel(known, manager)

    def _to_kernel(self, module: ModuleOp, manager: PassManager) -> ModuleOp:
        return lower(module, Level.KERNEL, manager, self.target)


class Finder(PassManager):
    """Pass manager that compares the program before and after each pass."""

    def __init__(self) -> None:
        super().__init__(context())
        self.comparison = Comparison()
        self.passes = 0
        """Number of passes that ran."""

    def run(self, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        """
        Run the passes; raise `_Found` after the first one that is wrong, and the error of a program
        that is wrong before it.
        """
        for step in passes:
            before = module.clone()
            self._run(module, step)
            self.passes += 1
            wrong = self.comparison(before, module, step.name)
            if wrong is not None and wrong.is_of_the_input:
                raise wrong.error
            if wrong is not None:
                raise _Found(WrongPass(step, before, wrong, self.passes))

    def _run(self, module: ModuleOp, step: ModulePass) -> None:
        try:
            super().run(module, [step])
        except (TilewrightError, PassFailedException, VerifyException):
            raise  # these say what is wrong, and where
        except Exception as err:
            message = f"pass '{step.name}' raises {type(err).__name__}: {one_line(err)}"
            remedy = f"opt-tool -p {step.name!r} on the IR before it shows the traceback"
            raise TilewrightError(message, remedy=remedy) from err


class _Found(Exception):
    def __init__(self, found: WrongPass):
        super().__init__(found.step.name)
        self.found = found


def first_wrong_pass(module: ModuleOp, lowering: Lowering, finder: Finder) -> WrongPass | ModuleOp:
    """Return the first wrong pass of a lowering, or the program after all passes."""
    try:
        return lowering.run(module, finder)
    except _Found as err:
        return err.found

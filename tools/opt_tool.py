# SPDX-License-Identifier: Apache-2.0
"""
`opt-tool FILE|- -p PASSES [-t TARGET]`: read IR, run passes over it, print it.

xDSL's driver with our dialects, passes and `cuda` target, MLIR's `--pass-pipeline`, and errors
that say what is wrong and where. Exit code 2: the input or the options are wrong; 1: a pass
failed; 130: interrupted. After every pass the IR must verify, SSA dominance included.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from io import StringIO
from typing import IO, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass, PassPipeline
from xdsl.printer import Printer
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import ArgSpecParseError
from xdsl.utils.lexer import Span
from xdsl.utils.target import Target
from xdsl.xdsl_opt_main import xDSLOptMain

import tilewright
from tilewright.dialects.schedule import spec_text
from tilewright.errors import UsageError, did_you_mean
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipeline_string import configure, parse_pipeline
from tilewright.passes.driver.pipelines import expanded
from tilewright.passes.driver.verification import InvalidOpError
from tilewright.tools.argument_parser import unknown_value, with_near_matches
from tilewright.tools.checks import Checker
from tilewright.tools.completion import complete, of_opt_tool
from tilewright.tools.entry import INTERRUPTED
from tilewright.tools.input.mlir_source import SourceParser, placed, read_bytes
from tilewright.tools.memory_limit import limit_memory
from tilewright.tools.options.opt_tool import add_options
from tilewright.tools.output.diagnostics import explain
from tilewright.tools.output.output_path import write_text
from tilewright.tools.output.streams import open_closed_streams
from tilewright.tools.output.warning_lines import warnings_of_one_line
from tilewright.tools.xdsl_targets import imported, reporting
from tilewright.universe import UNIVERSE

_DESCRIPTION = """\
Run Tilewright's and xDSL's passes over IR. It is printed without locations, by which comments in
CUDA text name PyTorch's operators, unless --print-debuginfo asks for them."""


class OptTool(xDSLOptMain):
    """The driver: everything `xdsl-opt` has, and what the module's docstring promises."""

    version_format = f"tilewright {tilewright.__version__} (xdsl {{xdsl_version}})"

    places: dict[Operation, Span]
    """Where the operations of the chunk at work stand in the source."""

    line_offset: int
    """How many lines of the file stand before that chunk."""

    held: "_HeldOutput | None"
    """The text for the file of `-o`."""

    target: Target
    """The target of `-t`, with its options."""

    def __init__(self, args: Sequence[str] | None = None):
        self.places, self.line_offset, self.held = {}, 0, None
        self.argv = args
        super().__init__(description=_DESCRIPTION, args=args)

    # Dialects, passes and targets are factories, imported when first used. Where Tilewright is
    # installed xDSL has found them by the entry point; in a bare checkout it has not.

    def register_all_dialects(self) -> None:
        """All dialects of xDSL and its plug-ins, and ours."""
        super().register_all_dialects()
        missing = UNIVERSE.all_dialects.keys() - set(self.ctx.registered_dialect_names)
        for name in sorted(missing):
            self.ctx.register_dialect(name, UNIVERSE.all_dialects[name])

    def register_all_passes(self) -> None:
        """All passes of xDSL and its plug-ins, and ours."""
        super().register_all_passes()
        self.available_passes |= UNIVERSE.all_passes

    def register_all_targets(self) -> None:
        """All targets of xDSL and its plug-ins, and ours."""
        super().register_all_targets()
        self.available_targets |= UNIVERSE.all_targets

    def register_all_frontends(self) -> None:
        """MLIR text, through the parser that remembers places."""
        self.available_frontends["mlir"] = self.parse_mlir

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        """Register the options of `xdsl-opt`, then ours."""
        arg_parser.prog = "opt-tool"
        arg_parser.usage = "opt-tool [FILE|-] [-p PASSES] [-t TARGET] [-o FILE] [options]"
        super().register_all_arguments(arg_parser)
        add_options(arg_parser)
        self._parse_first(arg_parser)

    def _parse_first(self, arg_parser: argparse.ArgumentParser) -> None:
        """Report mistakes with their near matches; the base class then parses without them."""
        ours = with_near_matches(arg_parser)
        complete(ours, of_opt_tool(self.available_passes, self.available_targets))
        text = ours.parse_args(self.argv).target
        if not text.strip():
            ours.error("argument -t/--target: a name is missing")
        target = parse_spec(text).name
        if target not in self.available_targets:
            known = [*self.available_targets]
            ours.error(f"argument -t/--target: {unknown_value('value', target, known)}")

    # Input and output.

    def get_input_name(self) -> str:
        """How messages call the input."""
        return "<stdin>" if self.args.input_file in (None, "-") else self.args.input_file

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        """
        Return the input, read at once so that `-o` may name the same file; no extension is MLIR.
        """
        path: str = self.args.input_file or "-"
        extension = os.path.splitext(path)[1].removeprefix(".") or "mlir"
        if extension not in self.available_frontends and not self.args.frontend:
            meant = did_you_mean(f".{extension}", [f".{each}" for each in self.available_frontends])
            remedy = f"{meant} -f mlir reads any file".lstrip()
            raise UsageError(f"unknown file extension '.{extension}'", remedy=remedy)
        return read_bytes(path), extension

    def parse_chunk(
        self, chunk: IO[bytes], file_extension: str, start_offset: int = 0
    ) -> ModuleOp | None:
        """Parse one chunk, which follows the first `start_offset` lines of the file."""
        self.line_offset = start_offset
        return super().parse_chunk(chunk, file_extension, start_offset)

    def parse_mlir(self, stream: IO[bytes]) -> ModuleOp:
        """Parse MLIR text; what stood where is kept in `places`."""
        text = stream.read().decode("utf-8")
        parser = SourceParser(self.ctx, text, self.get_input_name(), self.line_offset)
        self.places = parser.places
        return parser.parse_module(not self.args.no_implicit_module)

    def prepare_output(self) -> IO[str]:
        """Where results go. A file is written when all is done, so a failure leaves it alone."""
        if self.args.output_file is None:
            return sys.stdout
        self.held = _HeldOutput()
        return self.held

    def run(self) -> None:
        """Do what the arguments ask."""
        super().run()
        if self.held is not None:
            write_text(self.args.output_file, self.held.text)

    def output_resulting_program(self, prog: ModuleOp) -> str:
        """Return the program as the target prints it."""
        with reporting(self.target):
            return super().output_resulting_program(prog)

    # Passes.

    def setup_pipeline(self) -> None:
        """Understand the passes and the target before any work is done."""
        if self.args.only and not (self.args.remarks or self.args.trace):
            says = "--only chooses what --trace and --remarks print"
            raise UsageError(says, remedy="add --trace")
        passes = parse_pipeline(self.args.passes, self.available_passes)
        self.pipeline = PassPipeline(expanded(passes))
        target = parse_spec(self.args.target)
        factory = cast(Callable[[], type[Target]], self.available_targets[target.name])
        self.target = configure(imported(target.name, factory), target, "target")

    def apply_passes(self, prog: ModuleOp) -> None:
        """Run the pipeline, verifying the input and what each pass makes of it."""
        # Only files give schedules, and few do: what looks for them is imported for those alone.
        scheduled = prog.clone() if any("planned" in op.properties for op in prog.ops) else None
        try:
            with self.remarks():
                _Manager(self).run(prog, self.pipeline.passes)
        except InvalidOpError as err:
            raise placed(err, self.places) from err
        if scheduled is not None:
            _warn_of_idle_steps(scheduled, prog)

    def remarks(self) -> AbstractContextManager[None]:
        """Return what prints remarks and rewrites; it is imported only when they are printed."""
        if not (self.args.remarks or self.args.trace):
            return nullcontext()
        printers = import_module("tilewright.tools.output.trace_printer")
        kind = printers.TracePrinter if self.args.trace else printers.RemarkPrinter
        listening_to = import_module("tilewright.tools.output.trace_filter").listening_to
        return listening_to(kind(sys.stderr), self.args.only)


class _Manager(PassManager):
    """Runs passes as the options say."""

    def __init__(self, tool: OptTool):
        self.args, self.last = tool.args, next(reversed(tool.pipeline.passes), None)
        checkers = {self.args.check: Checker(self.args.check_limit)}
        super().__init__(tool.ctx, checkers.get("each"), checkers.get("end"))
        self.idle_steps = import_module("tilewright.passes.tile.idle_steps")

    def run(self, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        """Knowing what was scheduled before."""
        self.schedules = self.idle_steps.schedules(module)
        super().run(module, passes)

    def verify(self, module: ModuleOp, made_by: str) -> None:
        """Nothing with `--disable-verify`."""
        if not self.args.disable_verify:
            super().verify(module, made_by)

    def finished(self, step: ModulePass, module: ModuleOp, seconds: float) -> None:
        """What `--time-passes` and `--print-between-passes` show; options that came to nothing."""
        if self.idle_steps.is_idle(step, self.schedules, module):
            says = "has options, and did nothing in any kernel; --remarks says why"
            print(f"warning: '{spec_text(step)}' {says}", file=sys.stderr)
        self.schedules = self.idle_steps.schedules(module)
        if self.args.time_passes:
            print(f"Pass {step.name} took {seconds:.6f} seconds", file=sys.stderr)
        if self.args.print_between_passes and step is not self.last:
            print_ir(f"IR after {step.name}:", module)


def _warn_of_idle_steps(before: ModuleOp, after: ModuleOp) -> None:
    """Name scheduled steps with options that are neither done nor still to come."""
    idle_steps = import_module("tilewright.passes.tile.idle_steps")
    to_come = idle_steps.steps_to_come(after)
    for kernel, steps in idle_steps.planned_and_idle(before, after).items():
        for step in steps:
            if step.parameters and step not in to_come.get(kernel, ()):
                says = f"planned for @{kernel} did nothing; --remarks says why"
                print(f"warning: '{spec_text(step)}' {says}", file=sys.stderr)


def print_ir(title: str, prog: ModuleOp) -> None:
    """Show the IR as it is now, on stderr."""
    print(title, file=sys.stderr)
    Printer(sys.stderr).print_op(prog)
    print("\n", file=sys.stderr)


class _HeldOutput(StringIO):
    """Text for a file, which outlives its being closed."""

    text = ""

    def close(self) -> None:
        self.text = self.text or self.getvalue()
        super().close()


def _progress(tool: OptTool) -> AbstractContextManager[None]:
    """Return the progress line; nothing is imported for it unless there is a terminal."""
    if not sys.stderr.isatty():
        return nullcontext()
    return import_module("tilewright.tools.output.progress").progress_line()


def main(argv: Sequence[str] | None = None) -> int:
    """`opt-tool`'s exit code for the arguments `argv`, by default those of the process."""
    open_closed_streams()
    if argv is None:
        limit_memory()
    try:
        tool = OptTool(argv)
        with _progress(tool), warnings_of_one_line():
            tool.run()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has left, `head` for one
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (Exception, ArgSpecParseError) as err:
        message, code = explain(err)
        print(message, file=sys.stderr)
        return code
    return 0


if __name__ == "__main__":
    sys.exit(main())

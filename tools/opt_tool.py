# SPDX-License-Identifier: Apache-2.0
"""
Command `opt-tool FILE|- -p PASSES [-t TARGET]`: read IR, run passes over it, print it.

The command is xDSL's driver with our dialects, passes and `cuda` target, MLIR's `--pass-pipeline`,
and errors with a place and a reason. Exit code 2: the input or the options are wrong; 1: a pass
failed; 130: interrupted. After every pass the IR is verified, including SSA dominance.
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
from tilewright.tools.checks import checkers
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
Run Tilewright's and xDSL's passes over IR, and print the result. Source locations, from which
comments in CUDA text take the names of PyTorch's operators, are printed with --print-debuginfo."""


COMMANDS = {
    "prove-rule": "tilewright.tools.rules.prove_rule",
    "lint-rules": "tilewright.tools.rules.lint_rules",
}
"""Modules of the commands that check rewrite rules, by the first word of the command line."""


class OptTool(xDSLOptMain):
    """Driver with everything that `xdsl-opt` has, and the additions of this module's docstring."""

    version_format = f"tilewright {tilewright.__version__} (xdsl {{xdsl_version}})"

    places: dict[Operation, Span]
    """Place in the source of each operation of the current chunk."""

    line_offset: int
    """Number of lines of the file before the current chunk."""

    held: "_HeldOutput | None"
    """Text for the file of `-o`, or None if the output goes to stdout."""

    target: Target
    """Target of `-t`, with its options."""

    def __init__(self, args: Sequence[str] | None = None):
        self.places, self.line_offset, self.held = {}, 0, None
        self.argv = args
        super().__init__(description=_DESCRIPTION, args=args)

    # Dialects, passes and targets are factories, imported when first used. xDSL finds them by the
    # entry point where Tilewright is installed, but not in a bare checkout.

    def register_all_dialects(self) -> None:
        """Register all dialects of xDSL, its plug-ins and Tilewright."""
        super().register_all_dialects()
        missing = UNIVERSE.all_dialects.keys() - set(self.ctx.registered_dialect_names)
        for name in sorted(missing):
            self.ctx.register_dialect(name, UNIVERSE.all_dialects[name])

    def register_all_passes(self) -> None:
        """Register all passes of xDSL, its plug-ins and Tilewright."""
        super().register_all_passes()
        self.available_passes |= UNIVERSE.all_passes

    def register_all_targets(self) -> None:
        """Register all targets of xDSL, its plug-ins and Tilewright."""
        super().register_all_targets()
        self.available_targets |= UNIVERSE.all_targets

    def register_all_frontends(self) -> None:
        """Register MLIR text, with the parser that remembers the places of operations."""
        self.available_frontends["mlir"] = self.parse_mlir

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        """Register the options of `xdsl-opt`, then those of `opt-tool`."""
        arg_parser.prog = "opt-tool"
        arg_parser.usage = (
            "opt-tool [FILE|-] [-p PASSES] [-t TARGET] [-o FILE] [options]\n"
            "       opt-tool prove-rule | lint-rules ..."
        )
        super().register_all_arguments(arg_parser)
        add_options(arg_parser)
        self._parse_first(arg_parser)

    def _parse_first(self, arg_parser: argparse.ArgumentParser) -> None:
        """
        Parse the arguments once before the base class does, to report wrong ones in one line with
        near matches.
        """
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
        """Return the input's name for messages."""
        return "<stdin>" if self.args.input_file in (None, "-") else self.args.input_file

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        """
        Return the whole input and its extension; without an extension it is MLIR. The input is read
        at once, so that `-o` may name the same file.
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
        """
        Parse and return the module of one chunk, which follows the first `start_offset` lines of
        the file.
        """
        self.line_offset = start_offset
        return super().parse_chunk(chunk, file_extension, start_offset)

    def parse_mlir(self, stream: IO[bytes]) -> ModuleOp:
        """
        Parse and return the module of an MLIR text, and keep the places of its operations in
        `places`.
        """
        text = stream.read().decode("utf-8")
        parser = SourceParser(self.ctx, text, self.get_input_name(), self.line_offset)
        self.places = parser.places
        return parser.parse_module(not self.args.no_implicit_module)

    def prepare_output(self) -> IO[str]:
        """
        Return the stream for results. A file is written only at the end, so that a failure does not
        change it.
        """
        if self.args.output_file is None:
            return sys.stdout
        self.held = _HeldOutput()
        return self.held

    def run(self) -> None:
        """Run the passes over the input, and print or write the result."""
        super().run()
        if self.held is not None:
            write_text(self.args.output_file, self.held.text)

    def output_resulting_program(self, prog: ModuleOp) -> str:
        """Return the program as the target prints it."""
        with reporting(self.target):
            return super().output_resulting_program(prog)

    # Passes.

    def setup_pipeline(self) -> None:
        """Parse the passes and the target, before the input is read."""
        if self.args.only and not (self.args.remarks or self.args.trace):
            raise UsageError("--only filters --trace and --remarks", remedy="add --trace")
        passes = parse_pipeline(self.args.passes, self.available_passes)
        self.pipeline = PassPipeline(expanded(passes))
        target = parse_spec(self.args.target)
        factory = cast(Callable[[], type[Target]], self.available_targets[target.name])
        self.target = configure(imported(target.name, factory), target, "target")

    def apply_passes(self, prog: ModuleOp) -> None:
        """Run the pipeline, and verify the input and the output of each pass."""
        # Only files can contain schedules, and few do: the check of idle steps is imported only for
        # them.
        scheduled = prog.clone() if any("planned" in op.properties for op in prog.ops) else None
        try:
            with self.remarks():
                _Manager(self).run(prog, self.pipeline.passes)
        except InvalidOpError as err:
            raise placed(err, self.places) from err
        if scheduled is not None:
            _warn_of_idle_steps(scheduled, prog)

    def remarks(self) -> AbstractContextManager[None]:
        """
        Return a context that prints remarks and rewrites, whose printers are imported only if
        requested.
        """
        if not (self.args.remarks or self.args.trace):
            return nullcontext()
        printers = import_module("tilewright.tools.output.trace_printer")
        kind = printers.TracePrinter if self.args.trace else printers.RemarkPrinter
        listening_to = import_module("tilewright.tools.output.trace_filter").listening_to
        return listening_to(kind(sys.stderr), self.args.only)


class _Manager(PassManager):
    """Pass manager with the options of the command line."""

    def __init__(self, tool: OptTool):
        self.args, self.last = tool.args, next(reversed(tool.pipeline.passes), None)
        super().__init__(tool.ctx, *checkers(self.args.check, self.args.check_limit))
        self.idle_steps = import_module("tilewright.passes.tile.idle_steps")

    def run(self, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        """Run the passes, after noting the schedules of the kernels."""
        self.schedules = self.idle_steps.schedules(module)
        super().run(module, passes)

    def verify(self, module: ModuleOp, made_by: str) -> None:
        """
        Raise an error unless the module is well-formed; do nothing if `--disable-verify` is given.
        """
        if not self.args.disable_verify:
            super().verify(module, made_by)

    def finished(self, step: ModulePass, module: ModuleOp, seconds: float) -> None:
        """
        Print the output of `--time-passes` and `--print-between-passes`, and warn if a pass with
        options did nothing.
        """
        if self.idle_steps.is_idle(step, self.schedules, module):
            message = "has options, but did nothing in any kernel; --remarks prints the reason"
            print(f"warning: '{spec_text(step)}' {message}", file=sys.stderr)
        self.schedules = self.idle_steps.schedules(module)
        if self.args.time_passes:
            print(f"Pass {step.name} took {seconds:.6f} seconds", file=sys.stderr)
        if self.args.print_between_passes and step is not self.last:
            print_ir(f"IR after {step.name}:", module)


def _warn_of_idle_steps(before: ModuleOp, after: ModuleOp) -> None:
    """
    Print a warning for each planned step with options that did nothing, unless it is still planned.
    """
    idle_steps = import_module("tilewright.passes.tile.idle_steps")
    to_come = idle_steps.steps_to_come(after)
    for kernel, steps in idle_steps.planned_and_idle(before, after).items():
        for step in steps:
            if step.parameters and step not in to_come.get(kernel, ()):
                message = f"planned for @{kernel} did nothing; --remarks prints the reason"
                print(f"warning: '{spec_text(step)}' {message}", file=sys.stderr)


def print_ir(title: str, prog: ModuleOp) -> None:
    """Print a title and the IR on stderr."""
    print(title, file=sys.stderr)
    Printer(sys.stderr).print_op(prog)
    print("\n", file=sys.stderr)


class _HeldOutput(StringIO):
    """
    Stream in memory for the text of a file; its `text` can be read after the stream is closed.
    """

    text = ""

    def close(self) -> None:
        self.text = self.text or self.getvalue()
        super().close()


def _progress(tool: OptTool) -> AbstractContextManager[None]:
    """
    Return a context that shows the progress line; it is imported only if stderr is a terminal.
    """
    if not sys.stderr.isatty():
        return nullcontext()
    return import_module("tilewright.tools.output.progress").progress_line()


def _run_command(name: str, *args: str) -> int:
    """Run a command that checks rules; its module is imported only then."""
    code = import_module(COMMANDS[name]).main(args)
    sys.stdout.flush()
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run `opt-tool` with the arguments `argv`, by default those of the process; return its exit code.
    """
    open_closed_streams()
    if argv is None:
        limit_memory()
    words = sys.argv[1:] if argv is None else argv
    try:
        if words and words[0] in COMMANDS:
            return _run_command(*words)
        tool = OptTool(argv)
        with _progress(tool), warnings_of_one_line():
            tool.run()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has exited, for example `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (Exception, ArgSpecParseError) as err:
        message, code = explain(err)
        print(message, file=sys.stderr)
        return code
    return 0


if __name__ == "__main__":
    sys.exit(main())

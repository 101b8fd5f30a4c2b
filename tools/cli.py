# SPDX-License-Identifier: Apache-2.0
"""
`tilewright compile | run | explain | bench | ops | simcheck | doctor`: the options of each command,
and how it ends.

Exit code 0: done, and right. 1: something failed, or a result is wrong. 2: the command line, the
expression or the file cannot be understood. 130: interrupted.

Commands are imported when they run: help and wrong options cost neither torch nor xDSL.
"""

import argparse
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TextIO

import tilewright

AddParser = Callable[..., argparse.ArgumentParser]

LEVELS = ("torch", "tensor", "loop", "tile", "kernel", "cuda")
BACKENDS = ("eager", "compile", "max-autotune")
"""Whom `bench` compares with: those of `tools/bench/contestants.py`, which are PyTorch's."""

_EXPRESSION = """\
An EXPR is a PyTorch expression, or statements that end in one; torch, nn, F and math are known:
  tilewright {} -c "torch.nn.RMSNorm(2048)(torch.randn(1, 32, 2048))"
  tilewright {} -c "x = torch.randn(4, 8); F.softmax(x, -1)"
A FILE is model.pt2, which torch.export.save wrote; or file.py:NAME, a module, a function, or what
makes a module, with its arguments as NAME.example_inputs or example_inputs in the file; or IR at
any level, - for the standard input."""


def main(argv: Sequence[str] | None = None) -> int:
    """`tilewright`'s exit code for the arguments `argv`, by default those of the process."""
    try:
        args = parser().parse_args(_joined(sys.argv[1:] if argv is None else argv))
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            code: int = import_module(f"tilewright.tools.{args.command}").run(args)
        sys.stdout.flush()
        return code
    except SystemExit as err:  # argparse has said all there is to say
        return err.code if isinstance(err.code, int) else 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read our output has left, `head` for one
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as err:  # files have had their say: what is left is a full disk behind stdout
        print(f"error: cannot write: {err.strerror}", file=sys.stderr)
        return 1
    except BaseException as err:
        return _explained(err)


def _joined(argv: Sequence[str]) -> list[str]:
    """Arguments with `-c -x.exp()` as one, which argparse takes for two options."""
    joined: list[str] = []
    for argument in argv:
        if joined[-1:] == ["-c"] and re.match(r"-.*\(", argument, re.DOTALL):
            joined[-1] += argument
        else:
            joined.append(argument)
    return joined


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """One line, and the place only if it is in the user's text rather than in a library."""
    place = f"{filename}:{lineno}: " if filename == "<-c>" else ""
    print(f"{place}warning: {' '.join(str(message).split())}", file=file or sys.stderr)


def _explained(err: BaseException) -> int:
    message, code = import_module("tilewright.tools.diagnostics").explain(err)
    print(message, file=sys.stderr)
    return code


def parser() -> argparse.ArgumentParser:
    """What is known of the command line."""
    parser = argparse.ArgumentParser(
        prog="tilewright",
        description="Compile PyTorch to CUDA through six IRs, and run it.",
        allow_abbrev=False,
    )
    version = f"tilewright {tilewright.__version__}"
    parser.add_argument("--version", action="version", version=version)
    add_parser = parser.add_subparsers(metavar="COMMAND", required=True).add_parser
    _add_compile(add_parser)
    _add_run(add_parser)
    _add_ops(add_parser)
    _add_explain(add_parser)
    _add_bench(add_parser)
    _add_simcheck(add_parser)
    _add_doctor(add_parser)
    return parser


def _command(
    add_parser: AddParser,
    name: str,
    module: str,
    help: str,
    epilog: str = "",
) -> argparse.ArgumentParser:
    """A command, which lies in `tilewright.tools.<module>`."""
    parser = add_parser(
        name,
        help=help,
        description=help[0].upper() + help[1:] + ".",
        epilog=epilog.format(name, name),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(command=module)
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours: auto is on a terminal only, and never if NO_COLOR is set",
    )
    return parser


def _add_program(parser: argparse.ArgumentParser) -> None:
    """What is compiled: an expression, a model or a file."""
    program = parser.add_mutually_exclusive_group(required=True)
    program.add_argument("file", metavar="FILE", nargs="?", help="model.pt2, file.py:NAME, or IR")
    program.add_argument("-c", dest="expression", metavar="EXPR", help="a PyTorch expression")
    parser.add_argument(
        "--target", metavar="ARCH", help="GPU architecture; default: the GPU present, else sm_90a"
    )
    parser.add_argument(
        "--schedule",
        metavar="[KERNEL=]PASSES",
        action="append",
        default=[],
        help="do a kernel with these passes and options, as `explain` prints them; once for each",
    )


def _add_compile(add_parser: AddParser) -> None:
    help = "print the IR of a program at a level, or its CUDA source"
    parser = _command(add_parser, "compile", "compile_command", help, _EXPRESSION)
    _add_program(parser)
    parser.add_argument("--ir", choices=LEVELS, default="cuda", help="the level; default: cuda")
    parser.add_argument("-o", dest="output", metavar="FILE", help="write to a file, - for stdout")
    parser.add_argument(
        "--plan",
        metavar="FILE",
        help="also write the launch plan: .txt, .md (Mermaid), .dot (Graphviz); "
        "- prints it in the place of the IR",
    )
    parser.add_argument(
        "--host",
        action="store_true",
        help="write a whole CUDA program to -o FILE.cu, whose main runs and times the kernels and "
        "compares the results; its data goes to FILE.bin",
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help="print what the machine code tells of each kernel, in the place of the IR",
    )
    parser.add_argument(
        "--json", metavar="FILE", help="write that report to a file as JSON, - for stdout"
    )
    parser.add_argument(
        "-v",
        dest="verbosity",
        action="count",
        default=0,
        help="say on stderr what passes left alone; -vv prints every rewrite before the IR",
    )


def _add_run(add_parser: AddParser) -> None:
    help = "compile a program, run its kernels and compare the results"
    parser = _command(add_parser, "run", "run_command", help, _EXPRESSION)
    _add_program(parser)
    parser.add_argument(
        "--device",
        choices=("auto", "gpu", "sim"),
        default="auto",
        help="a GPU or the simulator; auto takes what there is",
    )
    parser.add_argument(
        "--blocks",
        type=_blocks,
        metavar="N",
        help="simulate at most about N blocks of each kernel, spread over its grid",
    )
    inputs = parser.add_mutually_exclusive_group()
    inputs.add_argument(
        "--seed", type=_seed, default=0, metavar="N", help="of the random inputs; default: 0"
    )
    inputs.add_argument(
        "--inputs", metavar="FILE", help="inputs of a FILE of IR by name, as safetensors"
    )
    parser.add_argument(
        "--against", metavar="FILE", help="another file of IR, whose results must be the same"
    )
    parser.add_argument(
        "--check",
        choices=("each", "end", "none"),
        default="none",
        help="also run the IR before and after each pass, or at both ends, and compare",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write the report to a file as JSON; - is stdout, and the tables go to stderr",
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help="also say what the machine code tells of each kernel, as compile --report does",
    )
    parser.add_argument(
        "--bench",
        action="store_true",
        help="then measure it against PyTorch, on a GPU, as bench does",
    )
    _add_backends(parser)
    parser.add_argument(
        "--profile",
        action="store_true",
        help="then print what Nsight Compute (ncu) counts in each kernel, where it is installed",
    )


def _blocks(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"'{text}' is no positive number of blocks")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**64:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 0 to 2**64 - 1")
    return int(text)


def _add_ops(add_parser: AddParser) -> None:
    help = "list the operators that can be compiled, and those that are refused"
    parser = _command(add_parser, "ops", "ops_command", help)
    parser.add_argument(
        "names", metavar="NAME", nargs="*", help="an operator or overload, as softmax or add.Tensor"
    )
    parser.add_argument("--unsupported", action="store_true", help="only those that are refused")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON")
    form.add_argument("--markdown", action="store_true", help="as the page docs/ops.md")


def _add_explain(add_parser: AddParser) -> None:
    help = "say how each kernel is scheduled, and why"
    parser = _command(add_parser, "explain", "explain_command", help, _EXPRESSION)
    _add_program(parser)
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="also write all of it as JSON; - is stdout, and the text goes to stderr",
    )


_BENCH = """\
Every case is computed by Tilewright and by PyTorch, eager and compiled, each as a CUDA graph. First
results are compared with float64, then all are timed in turns. Losses come first in the table. No
ratio is shown where a result is wrong, a time is not possible, or noise exceeds the difference.

  tilewright {} benchmarks/suite84.json --json results.json --plot results.png
  tilewright {} benchmarks/suite84.json --static      without a GPU

exit code: 0 if all that was measured is right, 1 if not; docs/benchmarking.md says more
"""


def _add_bench(add_parser: AddParser) -> None:
    help = "measure the cases of a suite against PyTorch"
    parser = _command(add_parser, "bench", "bench_command", help, _BENCH)
    parser.add_argument("suite", metavar="SUITE", help="cases, as benchmarks/suite84.json has them")
    parser.add_argument(
        "--static",
        action="store_true",
        help="what keeps kernels from being as fast as they could be, from their machine code; "
        "no GPU is needed, and nothing is timed",
    )
    names = parser.add_mutually_exclusive_group()
    names.add_argument("--only", metavar="TEXT", default="", help="cases with TEXT in their name")
    names.add_argument(
        "--filter", type=_regex, metavar="RE", help="cases whose name has a match of RE in it"
    )
    parser.add_argument("--target", metavar="ARCH", help="with --static; default: sm_90a")
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="also write all figures, - for stdout; times that are in FILE already are not taken "
        "again, if they are of the same GPU, versions, sources and backends",
    )
    _add_backends(parser)
    parser.add_argument("--plot", metavar="FILE", help="draw a bar chart: .png, .svg or .pdf")
    parser.add_argument(
        "--limit",
        type=_seconds,
        metavar="SECONDS",
        default=180.0,
        help="what compiles or runs for longer is killed; default: 180",
    )
    parser.add_argument(
        "--stop-after",
        type=_seconds,
        metavar="SECONDS",
        help="begin no case after so long; the same command goes on from there",
    )
    parser.add_argument(
        "--retry", action="store_true", help="also measure again what gave nothing, or was wrong"
    )


def _add_backends(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--backends",
        type=_backends,
        metavar="A,B",
        default=BACKENDS,
        help=f"whom to compare with, of {', '.join(BACKENDS)}; default: all",
    )


def _backends(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name for name in text.split(",") if name))
    if unknown := [name for name in names if name not in BACKENDS]:
        known = ", ".join(BACKENDS)
        raise argparse.ArgumentTypeError(f"unknown backend '{unknown[0]}'; known: {known}")
    return names


def _regex(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as err:
        raise argparse.ArgumentTypeError(f"'{text}' is no regular expression: {err}") from err


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds")
    return value


_SIMCHECK = """\
Each kernel is run as it is, when nothing may be found and its result is right, and then with each
bug. The table has the bugs planted in it, how many were found, and as what: a kind of finding,
`wrong` results, outputs left `unwritten`, an `endless` run, or `reported` by the interpreter of
Kernel IR alone. What was missed, or said without cause, is listed on stderr.

exit code: 0 if all was found and nothing else; 1 if not; 2 for folders that cannot be understood

  tilewright {} --quick           some bugs of each kernel
  tilewright {} my/kernels        your own; docs/simulator.md says how they are written
"""


def _add_simcheck(add_parser: AddParser) -> None:
    help = "plant bugs in kernels, and see that the simulator finds them"
    parser = _command(add_parser, "simcheck", "simcheck", help, _SIMCHECK)
    parser.add_argument(
        "folders",
        metavar="FOLDER",
        nargs="*",
        default=["test/codegen/simulator/kernels", "test/codegen/simulator/tile"],
        help="of NAME.cu with NAME.toml, and NAME.mlir; default: the kernels of a checkout",
    )
    parser.add_argument("--quick", action="store_true", help="some bugs of each kernel only")


def _add_doctor(add_parser: AddParser) -> None:
    _command(add_parser, "doctor", "doctor", "say what is installed, and what works with it")


if __name__ == "__main__":
    sys.exit(main())

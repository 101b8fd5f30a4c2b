# SPDX-License-Identifier: Apache-2.0
"""Options of `tilewright blame`."""

from tilewright.tools.options.command import AddParser, command
from tilewright.tools.options.numbers import natural
from tilewright.tools.options.program import EXPRESSION, add_program

_EPILOG = f"""\
{EXPRESSION};
its weights are random here.
The program is interpreted before and after each pass: exactly where possible, else in float64. The
first pass that changes a result is named, with its rule and the op that it matched. -o writes the
smallest program on which it fails, as a file that fails until the bug is mended.

exit code: 0 if nothing is wrong; 1 if something is; 2 if nothing could be checked

  tilewright {{}} -c "F.softmax(torch.randn(5, 33), -1)"
  tilewright {{}} wrong.mlir -p to-loop,to-tile -o smallest.mlir"""


def add(add_parser: AddParser) -> None:
    """Add the command `blame` and its options to the command line."""
    help = "find the pass, the rule and the match that make a result wrong"
    parser = command(add_parser, "blame", help, _EPILOG)
    add_program(parser)
    parser.add_argument(
        "-p",
        "--passes",
        metavar="PASSES",
        help="passes to run, as opt-tool's -p; default: all passes to Kernel IR, then kernels in "
        "the simulator",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default="blame.mlir",
        help="file for the smallest program; - is stdout, and the report then goes to stderr; "
        "default: blame.mlir",
    )
    parser.add_argument(
        "--attempts",
        type=natural("number of attempts"),
        default=300,
        metavar="N",
        help="try at most N smaller programs; default: 300",
    )

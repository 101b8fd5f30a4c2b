# SPDX-License-Identifier: Apache-2.0
"""Options of `tilewright prove`."""

from tilewright.tools.options.command import AddParser, command
from tilewright.tools.options.program import EXPRESSION, add_program

_EPILOG = f"""\
{EXPRESSION}.
Each kernel is lowered to Tile IR. z3 proves its obligations for all steps at once (docs/proofs.md),
or refutes them by a step. --json has unknown obligations as SMT-LIB text.

exit code: 0 if every kernel is proved; 1 if not"""


def add(add_parser: AddParser) -> None:
    """Add the command `prove` and its options to the command line."""
    help = "prove that kernels access memory rightly, for all of their steps"
    parser = command(add_parser, "prove", help, _EPILOG)
    add_program(parser)
    parser.add_argument(
        "--same",
        action="store_true",
        help="also prove that each kernel stores the values of its loop nest in Loop IR, over the "
        "real numbers; for programs and for IR above the Tile level",
    )
    parser.add_argument(
        "--kernel",
        action="store_true",
        help="also prove the Kernel IR of each kernel: accesses by each thread, races between "
        "threads in shared memory (not in global memory), and rings; a FILE of Kernel IR is "
        "proved without this",
    )
    parser.add_argument(
        "--indices",
        action="store_true",
        help="also prove that the index arithmetic of each kernel's CUDA IR fits its C++ types",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="also write a certificate of each kernel as JSON; - is stdout, and the text then goes "
        "to stderr",
    )

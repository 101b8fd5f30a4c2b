# SPDX-License-Identifier: Apache-2.0
"""Options of `tilewright explain`."""

from tilewright.tools.options.command import AddParser, command
from tilewright.tools.options.program import BARE, add_program


def add(add_parser: AddParser) -> None:
    """Add the command `explain` and its options to the command line."""
    help = "print how each kernel is scheduled, and why"
    parser = command(add_parser, "explain", help, BARE)
    add_program(parser)
    parser.add_argument(
        "--clock",
        action="store_true",
        help="also compile the kernels and simulate their machine code: where warps wait, and what "
        "would have to change; needs NVRTC and nvdisasm, no GPU",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="also write the explanation as JSON; - is stdout, and the text then goes to stderr",
    )

# SPDX-License-Identifier: Apache-2.0
"""Options of `tilewright ops`."""

from tilewright.tools.options.command import AddParser, command


def add(add_parser: AddParser) -> None:
    """Add the command `ops` and its options to the command line."""
    help = "list the operators that can be compiled, and the refused operators"
    parser = command(add_parser, "ops", help)
    parser.add_argument(
        "names",
        metavar="NAME",
        nargs="*",
        help="operator or overload, for example softmax or add.Tensor; default: all",
    )
    parser.add_argument(
        "--unsupported", action="store_true", help="list only the refused operators"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--markdown", action="store_true", help="print the page docs/ops.md")

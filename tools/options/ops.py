# SPDX-License-Identifier: Apache-2.0
"""The options of `tilewright ops`."""

from tilewright.tools.options.command import AddParser, command


def add(add_parser: AddParser) -> None:
    """Add them to the command line."""
    help = "list the operators that can be compiled, and those that are refused"
    parser = command(add_parser, "ops", help)
    parser.add_argument(
        "names", metavar="NAME", nargs="*", help="an operator or overload, as softmax or add.Tensor"
    )
    parser.add_argument("--unsupported", action="store_true", help="only those that are refused")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON")
    form.add_argument("--markdown", action="store_true", help="as the page docs/ops.md")

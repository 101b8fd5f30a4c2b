# SPDX-License-Identifier: Apache-2.0
"""Parser of one command: its name, a sentence on what it does, and the option `--color`."""

import argparse
from collections.abc import Callable

AddParser = Callable[..., argparse.ArgumentParser]

Options = argparse._ActionsContainer  # pyright: ignore[reportPrivateUsage]  # has no other name
"""Type that options are added to: the parser of a command, or a group of its options."""


def command(
    add_parser: AddParser,
    name: str,
    help: str,
    epilog: str = "",
) -> argparse.ArgumentParser:
    """Add the parser of the command in `tilewright.tools.commands.<name>`, and return it."""
    parser = add_parser(
        name,
        help=help,
        description=help[0].upper() + help[1:] + ".",
        epilog=epilog.replace("{}", name),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(command=name)
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colour the output; auto: only on a terminal, and only if NO_COLOR is not set",
    )
    return parser

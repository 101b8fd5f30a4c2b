# SPDX-License-Identifier: Apache-2.0
"""The options of `tilewright cache`."""

from tilewright.tools.options.command import AddParser, command

EPILOG = """\
Programs that were compiled before, by tilewright run, generate or Python, start from the cache: of
equal graphs, targets, databases and versions. The environment's TILEWRIGHT_CACHE is another folder,
or off.
"""


def add(add_parser: AddParser) -> None:
    """Add them to the command line."""
    help = "print what the cache of compiled programs holds, or clear it"
    parser = command(add_parser, "cache", help, EPILOG)
    parser.add_argument(
        "action",
        nargs="?",
        choices=("ls", "clear"),
        default="ls",
        help="print what there is, the default, or delete it",
    )

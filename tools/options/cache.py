# SPDX-License-Identifier: Apache-2.0
"""Options of `tilewright cache`."""

from tilewright.tools.options.command import AddParser, command

EPILOG = """\
tilewright run, tilewright generate and the Python API keep compiled programs in the cache. They
reuse a program if its graph, target, database and versions are equal. The environment variable
TILEWRIGHT_CACHE names another folder, or is "off" to disable the cache.
"""


def add(add_parser: AddParser) -> None:
    """Add the command `cache` and its options to the command line."""
    help = "list or clear the cache of compiled programs"
    parser = command(add_parser, "cache", help, EPILOG)
    parser.add_argument(
        "action",
        nargs="?",
        choices=("ls", "clear"),
        default="ls",
        help="ls lists the contents, clear deletes them; default: ls",
    )

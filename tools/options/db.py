# SPDX-License-Identifier: Apache-2.0
"""The options of `tilewright db`."""

import argparse
from collections.abc import Callable

from tilewright.tools.options.command import AddParser, command

_EPILOG = """\
  tilewright {} ls                               what is known, a line for each kernel and device
  tilewright {} export | gzip > mine.jsonl.gz    to carry it to another machine

Unless --db says otherwise it is the user's own database. docs/tuning-database.md says more.
exit code: 1 for a database that is not there or cannot be used, 2 for wrong usage
"""


def add(add_parser: AddParser) -> None:
    """Add them to the command line."""
    help = "look at the database of measurements, and carry it from one machine to another"
    parser = command(add_parser, "db", help, _EPILOG)
    actions = parser.add_subparsers(metavar="ACTION", dest="action", required=True)

    def action(name: str, help: str) -> argparse.ArgumentParser:
        added = actions.add_parser(
            name, help=help, description=f"{help[0].upper()}{help[1:]}.", allow_abbrev=False
        )
        added.add_argument("--db", metavar="FILE", help="the database; default: the user's own")
        return added

    ls = action("ls", "list the kernels that are known, and on what")
    show = action("show", "print all that is known of a kernel")
    show.add_argument("kernel", metavar="KERNEL", help="its name or its key, as `db ls` lists them")
    best = action("best", "print the best schedules, one for each kernel and device")
    best.add_argument("kernel", metavar="KERNEL", nargs="?", help="only of this name or key")
    for each in (ls, show, best):
        each.add_argument("--json", action="store_true", help="as JSON")
    _add_exchange(action)


def _add_exchange(action: Callable[[str, str], argparse.ArgumentParser]) -> None:
    """What carries measurements from one place to another."""
    export = action("export", "write all measurements as JSON, an object a line")
    where = export.add_mutually_exclusive_group()
    where.add_argument("exported", metavar="FILE", nargs="?", default="-", help="default: stdout")
    where.add_argument(
        "--goldens",
        metavar="FOLDER",
        help="write the best schedules of each GPU to a file in FOLDER instead, as they lie in "
        "tuning/goldens/; what such a file says of other kernels stays",
    )
    read = action("import", "add what `export` has written")
    read.set_defaults(reads={"files": "file"})
    read.add_argument("files", metavar="FILE", nargs="+", help="- for stdin")
    merge = action("merge", "add what is in other databases")
    merge.add_argument("files", metavar="FILE", nargs="+", help="a database")

# SPDX-License-Identifier: Apache-2.0
"""Options of `tilewright db`."""

import argparse
from collections.abc import Callable

from tilewright.tools.options.command import AddParser, command

_EPILOG = """\
  tilewright {} ls                               list kernels, a line for each kernel and device
  tilewright {} export | gzip > mine.jsonl.gz    save all measurements for another machine

Without --db, an action uses the user's own database. See docs/tuning-database.md.
exit code: 1 if a database does not exist or cannot be used, 2 for wrong usage
"""


def add(add_parser: AddParser) -> None:
    """Add the command `db` and its actions to the command line."""
    help = "list, export, import and merge the measurements of the tuning database"
    parser = command(add_parser, "db", help, _EPILOG)
    actions = parser.add_subparsers(metavar="ACTION", dest="action", required=True)

    def action(name: str, help: str) -> argparse.ArgumentParser:
        added = actions.add_parser(
            name, help=help, description=f"{help[0].upper()}{help[1:]}.", allow_abbrev=False
        )
        added.add_argument("--db", metavar="FILE", help="tuning database; default: the user's own")
        return added

    ls = action("ls", "list the measured kernels, with their targets and devices")
    show = action("show", "print a kernel and all its measurements")
    show.add_argument("kernel", metavar="KERNEL", help="name or key, as `db ls` lists them")
    best = action("best", "print the best schedule of each kernel on each device")
    best.add_argument("kernel", metavar="KERNEL", nargs="?", help="only this name or key")
    for each in (ls, show, best):
        each.add_argument("--json", action="store_true", help="print JSON")
    _add_exchange(action)


def _add_exchange(action: Callable[[str, str], argparse.ArgumentParser]) -> None:
    """Add the actions that move measurements between machines: `export`, `import` and `merge`."""
    export = action("export", "write all measurements as JSON, one object per line")
    where = export.add_mutually_exclusive_group()
    where.add_argument("exported", metavar="FILE", nargs="?", default="-", help="default: stdout")
    where.add_argument(
        "--goldens",
        metavar="FOLDER",
        help="instead write the best schedules of each GPU to a file in FOLDER, in the format of "
        "tuning/goldens/; entries of other kernels stay in the file",
    )
    read = action("import", "add the measurements in files that `export` wrote")
    read.set_defaults(reads={"files": "file"})
    read.add_argument("files", metavar="FILE", nargs="+", help="file to read, - for stdin")
    merge = action("merge", "add the measurements of other databases")
    merge.add_argument("files", metavar="FILE", nargs="+", help="database to read")

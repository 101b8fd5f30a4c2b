# SPDX-License-Identifier: Apache-2.0
"""Options of commands that look up schedules: the tuning database to use, or none."""

import argparse

_LOOKED_UP = (
    "tuning database in which the schedules of kernels are looked up; default: the user's own, if "
    "it exists"
)
_NOT_LOOKED_UP = "ignore the database and the shipped goldens: the planner schedules every kernel"


def add_database(
    parser: argparse.ArgumentParser,
    db: str = _LOOKED_UP,
    no_db: str = _NOT_LOOKED_UP,
    *,
    is_written: bool = False,
) -> None:
    """
    Add `--db` and `--no-db` with these help texts; a command that writes a database may create it.
    """
    parser.set_defaults(needs_db=not is_written)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--db", metavar="FILE", help=db)
    where.add_argument("--no-db", dest="uses_db", action="store_false", help=no_db)


def database_of(args: argparse.Namespace) -> str | bool:
    """Return the database that the arguments name, in the form of `tilewright.compile(db=...)`."""
    return args.uses_db if args.db is None else args.db


def database_argv(db: str | bool) -> list[str]:
    """Return the arguments of a command in another process that select the database `db`."""
    if isinstance(db, str):
        return ["--db", db]
    return [] if db else ["--no-db"]

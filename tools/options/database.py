# SPDX-License-Identifier: Apache-2.0
"""The options of commands that look up schedules: where, or not at all."""

import argparse

_LOOKED_UP = (
    "the database of measurements that kernels' schedules are looked up in; default: the user's "
    "own, if there is one"
)
_NOT_LOOKED_UP = "look up nothing, neither there nor in the goldens: the planner schedules all"


def add_database(
    parser: argparse.ArgumentParser,
    db: str = _LOOKED_UP,
    no_db: str = _NOT_LOOKED_UP,
    *,
    is_written: bool = False,
) -> None:
    """Add them to a command, with what they are for; one that writes a database may make it."""
    parser.set_defaults(needs_db=not is_written)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--db", metavar="FILE", help=db)
    where.add_argument("--no-db", dest="uses_db", action="store_false", help=no_db)


def database_of(args: argparse.Namespace) -> str | bool:
    """What they say, as `tilewright.compile(db=...)` takes it."""
    return args.uses_db if args.db is None else args.db


def database_argv(db: str | bool) -> list[str]:
    """Return the same as arguments of a command, for another process."""
    if isinstance(db, str):
        return ["--db", db]
    return [] if db else ["--no-db"]

# SPDX-License-Identifier: Apache-2.0
"""The options of commands that look up schedules: where, or not at all."""

import argparse


def add_database(parser: argparse.ArgumentParser) -> None:
    """Add them to a command."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--db",
        metavar="FILE",
        help="the database of measurements that kernels' schedules are looked up in; default: the "
        "user's own, if there is one",
    )
    where.add_argument(
        "--no-db",
        dest="uses_db",
        action="store_false",
        help="look up nothing, neither there nor in the goldens: the planner schedules all",
    )


def database_of(args: argparse.Namespace) -> str | bool:
    """What they say, as `tilewright.compile(db=...)` takes it."""
    return args.uses_db if args.db is None else args.db


def database_argv(db: str | bool) -> list[str]:
    """The same as arguments of a command, for another process."""
    if isinstance(db, str):
        return ["--db", db]
    return [] if db else ["--no-db"]

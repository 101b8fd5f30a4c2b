# SPDX-License-Identifier: Apache-2.0
"""Parsers of options whose value is a number."""

import argparse
from collections.abc import Callable
from typing import Any


def seconds(text: str) -> float:
    """Return a positive, finite number of seconds; raises `ArgumentTypeError` for other texts."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds")
    return value


def positive(what: str) -> Callable[[str], int]:
    """Return a parser of integers above zero; `what` names the number in an error message."""

    def number(text: str) -> int:
        if not text.isdecimal() or not int(text):
            raise argparse.ArgumentTypeError(f"'{text}' is not a {what}")
        return int(text)

    return number


def number_of(what: str) -> dict[str, Any]:
    """
    Return the arguments of `add_argument` for an option that takes a number of `what` above zero.
    """
    return {"type": positive(f"positive number of {what}"), "metavar": "N"}


def natural(what: str) -> Callable[[str], int]:
    """Return a parser of integers from zero on; `what` names the number in an error message."""

    def number(text: str) -> int:
        if not text.isdecimal():
            raise argparse.ArgumentTypeError(f"'{text}' is not a {what}")
        return int(text)

    return number


def several(what: str) -> Callable[[str], tuple[int, ...]]:
    """
    Return a parser of lists such as `32,128`, which drops duplicates; `what` names one number in an
    error.
    """
    one = positive(what)

    def numbers(text: str) -> tuple[int, ...]:
        try:
            return tuple(dict.fromkeys(map(one, text.split(","))))
        except argparse.ArgumentTypeError as err:
            raise argparse.ArgumentTypeError(f"{err}, in '{text}'") from None

    return numbers


def seed(text: str) -> int:
    """Return the seed of a random number generator, an integer from 0 to 2**64 - 1."""
    if not text.isdecimal() or int(text) >= 2**64:
        raise argparse.ArgumentTypeError(f"'{text}' is not an integer from 0 to 2**64 - 1")
    return int(text)

# SPDX-License-Identifier: Apache-2.0
"""Numbers as options have them."""

import argparse
from collections.abc import Callable
from typing import Any


def seconds(text: str) -> float:
    """Return a time that is over some day."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds")
    return value


def positive(what: str) -> Callable[[str], int]:
    """One or more of something; `what` is what a mistake is not."""

    def number(text: str) -> int:
        if not text.isdecimal() or not int(text):
            raise argparse.ArgumentTypeError(f"'{text}' is no {what}")
        return int(text)

    return number


def number_of(what: str) -> dict[str, Any]:
    """
    Return the type of an option that says how many, one or more, and what help calls its value.
    """
    return {"type": positive(f"positive number of {what}"), "metavar": "N"}


def natural(what: str) -> Callable[[str], int]:
    """Any number of something, none included; `what` is what a mistake is not."""

    def number(text: str) -> int:
        if not text.isdecimal():
            raise argparse.ArgumentTypeError(f"'{text}' is no {what}")
        return int(text)

    return number


def several(what: str) -> Callable[[str], tuple[int, ...]]:
    """One or more of something, several times: `32,128`; `what` is what a mistake is not."""
    one = positive(what)

    def numbers(text: str) -> tuple[int, ...]:
        try:
            return tuple(dict.fromkeys(map(one, text.split(","))))
        except argparse.ArgumentTypeError as err:
            raise argparse.ArgumentTypeError(f"{err}, as in '{text}'") from None

    return numbers


def seed(text: str) -> int:
    """What a generator of random numbers begins with."""
    if not text.isdecimal() or int(text) >= 2**64:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 0 to 2**64 - 1")
    return int(text)

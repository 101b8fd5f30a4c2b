# SPDX-License-Identifier: Apache-2.0
"""Patterns of names as options have them."""

import argparse
import re


def regex(text: str) -> re.Pattern[str]:
    """Return a regular expression."""
    try:
        return re.compile(text)
    except re.error as err:
        raise argparse.ArgumentTypeError(f"'{text}' is no regular expression: {err}") from err

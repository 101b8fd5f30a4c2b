# SPDX-License-Identifier: Apache-2.0
"""Parser of options whose value is a pattern of names."""

import argparse
import re


def regex(text: str) -> re.Pattern[str]:
    """Return the compiled regular expression; raises `ArgumentTypeError` if it is malformed."""
    try:
        return re.compile(text)
    except re.error as err:
        raise argparse.ArgumentTypeError(f"'{text}' is not a regular expression: {err}") from err

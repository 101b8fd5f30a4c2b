# SPDX-License-Identifier: Apache-2.0
"""The errors that a user can meet: each is one sentence that names what is wrong and where."""


class TilewrightError(Exception):
    """
    A user-facing failure: printed as `error: MESSAGE`, never as a traceback.

    `where` names the place when there is one (`file:line:col` or an FX node); `remedy` says what
    to do about it. `exit_code` is 1 for something that went wrong, 2 for wrong usage.
    """

    exit_code = 1

    def __init__(self, message: str, *, where: str = "", remedy: str = ""):
        self.message = message
        self.where = where
        self.remedy = remedy
        super().__init__(str(self))

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text} ({self.remedy})" if self.remedy else text


class UsageError(TilewrightError):
    """Wrong usage: an option, an expression or a file that cannot be understood."""

    exit_code = 2


class UnsupportedError(TilewrightError):
    """Understood, but outside what the compiler supports: an op, an argument, a dtype."""

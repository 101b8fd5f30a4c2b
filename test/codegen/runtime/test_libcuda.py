# SPDX-License-Identifier: Apache-2.0
"""Calls of `LibCuda` with older drivers."""

from typing import Any

import pytest

from tilewright.codegen.runtime.libcuda import LibCuda


class Driver:
    """Stand-in for a driver, which logs its functions' names with the number of their arguments."""

    def __init__(self, *functions: str):
        self.asked = list[tuple[str, int]]()
        for name in functions:
            setattr(self, name, self.function(name))

    def function(self, name: str) -> Any:
        """Return a function that is logged and always succeeds."""

        def call(*arguments: Any) -> int:
            self.asked.append((name, len(arguments)))
            return 0

        return call


@pytest.mark.parametrize(
    ("functions", "asked"),
    [
        (("v2", "v3"), ("cuStreamGetCaptureInfo_v3", 7)),  # CUDA 12.3 and later
        (("v2",), ("cuStreamGetCaptureInfo_v2", 6)),
    ],
)
def test_the_newest_capture_function_is_called(functions: tuple[str, ...], asked: tuple[str, int]):
    lib = LibCuda.__new__(LibCuda)
    driver = Driver(*(f"cuStreamGetCaptureInfo_{version}" for version in functions))
    lib.library = driver  # pyright: ignore[reportAttributeAccessIssue]
    assert lib.capture(7) == 0
    assert driver.asked == [asked]

# SPDX-License-Identifier: Apache-2.0
"""
The pytest plug-in that runs `.mlir` files with RUN lines as tests, also in your own project:

    [tool.pytest.ini_options]
    addopts = ["-p", "tilewright.pytest_plugin"]

The lines run inside pytest's process, twenty times as fast as lit.
"""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tilewright.tools.run_lines import RunLineError, run_file


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """
    Return the collector of a `.mlir` file; None for other files, and for inputs of other tests.
    """
    if file_path.suffix != ".mlir" or "Inputs" in file_path.parts:
        return None
    return MlirFile.from_parent(  # pyright: ignore[reportUnknownMemberType]
        parent, path=file_path
    )


class MlirFile(pytest.File):
    """Collector of a `.mlir` file with RUN lines."""

    def collect(self) -> Iterable[pytest.Item]:
        """Yield the one test of the file."""
        yield RunLines.from_parent(  # pyright: ignore[reportUnknownMemberType]
            self, name="RUN"
        )


class RunLines(pytest.Item):
    """Test that runs the RUN lines of a file."""

    def runtest(self) -> None:
        """Run the lines in order, with a folder for temporary files."""
        with TemporaryDirectory() as temporary:
            run_file(self.path, Path(temporary))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the output of a failed command; only a crash shows a traceback."""
        if isinstance(excinfo.value, RunLineError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the file, and its path as the name of the test."""
        return self.path, 0, str(self.path)

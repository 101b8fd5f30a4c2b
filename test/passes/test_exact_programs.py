# SPDX-License-Identifier: Apache-2.0
"""Lit programs that are checked by `--check=each` are equal by `--check=exact`, too."""

import re
import shlex
from pathlib import Path

import pytest
from xdsl.parser import Parser

from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipeline_string import parse_pipeline
from tilewright.passes.driver.pipelines import available_passes, expanded
from tilewright.tools.exact_check import ExactChecker

_RUN = re.compile(r"^// RUN: (opt-tool %s .*-p .*--check=each.*)$", re.MULTILINE)

FILES = [
    path for path in sorted(Path(__file__).parent.rglob("*.mlir")) if _RUN.search(path.read_text())
]


@pytest.mark.every_case
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_checked_programs_are_equal_exactly(path: Path, capsys: pytest.CaptureFixture[str]):
    text = path.read_text()
    for line in _RUN.findall(text):
        words = shlex.split(line)
        pipeline = expanded(parse_pipeline(words[words.index("-p") + 1], available_passes()))
        for part in text.split("// -----") if "--split-input-file" in words else [text]:
            module = Parser(context(), part).parse_module()
            PassManager(context(), check_each=ExactChecker()).run(module, [*pipeline])
    assert "not compared exactly" not in capsys.readouterr().err

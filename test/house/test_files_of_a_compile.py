# SPDX-License-Identifier: Apache-2.0
"""
A compile runs a bounded number of files, which a reader with a debugger has to open.

A file runs if one of its functions does, or in the first compile of a process, if it is imported.
"""

import json
import subprocess
import sys
from pathlib import Path
from types import FrameType

from xdsl.parser import Parser

import tilewright
from tilewright import api
from tilewright.codegen.printer import cuda_source
from tilewright.dialects.faster_xdsl.verify_once import verify_op
from tilewright.passes.driver.lowering import context

_ROOT = Path(tilewright.__file__).parents[1]

MOST_FILES = 200
"""
Most files that run between the captured graph of an RMSNorm and its CUDA text, imports included.
"""

MOST_AFTERWARDS = 188
"""Most files that run in the same compile after another one, which has imported what it needs."""


RMS_NORM = """
func.func public @main(%x: tensor<8x64xf32>, %weight: tensor<64xf32>) -> tensor<8x64xf32> {
  %out = torch.rms_norm %x normalized_shape [64] weight %weight :
    (tensor<8x64xf32>, tensor<64xf32>) -> tensor<8x64xf32>
  func.return %out : tensor<8x64xf32>
}
"""


def files_of_compiles(number: int) -> list[list[str]]:
    """Compile one program `number` times; return the files that ran in each compile."""
    captured = Parser(context(), RMS_NORM).parse_module()
    for op in captured.walk():
        verify_op(op)  # as a capture does
    found: list[list[str]] = []
    for _ in range(number):
        files: set[str] = set()

        def note(frame: FrameType, event: str, _argument: object, files: set[str] = files) -> None:
            if event == "call":
                files.add(frame.f_code.co_filename)

        sys.setprofile(note)
        try:
            cuda_source(api.lower(captured, "cuda", "sm_90a", db=False))
        finally:
            sys.setprofile(None)
        found.append(sorted(filter(_is_ours, files)))
    return found


def _is_ours(file: str) -> bool:
    return file.startswith(str(_ROOT)) and not {".venv", "test"} & {*Path(file).parts}


def test_one_compile_runs_few_files() -> None:
    done = subprocess.run(
        [sys.executable, __file__], check=True, capture_output=True, text=True, cwd=_ROOT
    )
    first, second = json.loads(done.stdout)
    assert {*second} < {*first}
    assert 100 < len(first) <= MOST_FILES, first
    assert 100 < len(second) <= MOST_AFTERWARDS, second


if __name__ == "__main__":  # in a process that has compiled nothing
    print(json.dumps(files_of_compiles(2)))

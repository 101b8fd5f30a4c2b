# SPDX-License-Identifier: Apache-2.0
"""A compile runs a bounded number of files, which a reader with a debugger has to open."""

import sys
from pathlib import Path
from types import FrameType

import torch

import tilewright
from tilewright import api
from tilewright.codegen.printer import cuda_source

_ROOT = str(Path(tilewright.__file__).parents[1])

MOST_FILES = 204
"""
Most files with a function that runs between the captured graph of an RMSNorm and its CUDA text.
"""


def _rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.rms_norm(x, (64,), weight)


def test_one_compile_runs_few_files() -> None:
    captured = api.capture(_rms_norm, torch.ones(8, 64), torch.ones(64))

    def compile() -> None:
        cuda_source(api.lower(captured, "cuda", "sm_90a", db=False))

    compile()  # the first run imports modules, which runs functions, too
    files: set[str] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            files.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        compile()
    finally:
        sys.setprofile(None)
    ours = {f for f in files if f.startswith(_ROOT) and ".venv" not in f and "/test/" not in f}
    assert 0 < len(ours) <= MOST_FILES, sorted(ours)

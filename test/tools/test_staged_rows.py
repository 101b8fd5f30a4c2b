# SPDX-License-Identifier: Apache-2.0
"""RMSNorm with staged rows, requested by a schedule of `cooperative-reduce` only."""

import json
from pathlib import Path

from needs import needs_nvrtc

from tilewright.tools.run_lines import run_in_terminal

from .conftest import Tilewright

NORM = "nn.RMSNorm(2048)(torch.randn(1,32,2048))"
STAGED = ["-c", NORM, "--schedule", "cooperative-reduce{row=stage}", "--target", "sm_90a"]


def printed(tilewright: Tilewright, *argv: str) -> str:
    code, out, err = tilewright("compile", *STAGED, *argv)
    assert (code, err) == (0, "")
    return out


def test_awk_cuts_out_how_the_row_is_staged() -> None:
    shown = run_in_terminal(
        f"tilewright compile -c '{NORM}' --schedule 'cooperative-reduce{{row=stage}}' "
        "--target sm_90a -vv | awk '/^>>> t:007/,/^<<< t:007/'"
    )
    assert shown.code == 0
    lines = shown.out.decode().splitlines()
    assert (lines[0], lines[-1]) == (">>> t:007_stage_inputs", "<<< t:007_stage_inputs")
    assert "   tile.launch (%rb = block 32 row, %t = thread 256 k) {" in lines
    assert sum(line.startswith("+") and "loop.load %t0[" in line for line in lines) == 1
    assert sum(line.startswith("-") and "loop.load %t0[" in line for line in lines) == 2
    assert sum(line.startswith("+") and "loop.load %t0s[" in line for line in lines) == 2


def test_all_threads_remain_at_every_level(tilewright: Tilewright) -> None:
    launch = "tile.launch (%rb = block 32 row, %t = thread 256 k) {"
    assert launch in printed(tilewright, "--ir", "tile")
    assert "kernel.func grid 32 block 256 @rms_norm(" in printed(tilewright, "--ir", "kernel")
    assert "// grid 32, block 256\n" in printed(tilewright)


def test_a_row_comes_from_memory_once_and_is_read_twice(tilewright: Tilewright) -> None:
    source = printed(tilewright)
    assert source.count("&t0[") == 1
    assert source.count(" = t0s[") == 2


@needs_nvrtc
def test_it_runs_and_is_right(tilewright: Tilewright, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    code, _, err = tilewright("run", *STAGED, "--device", "sim", "--json", str(path))
    assert (code, err) == (0, f"wrote {path}\n")
    (kernel,) = json.loads(path.read_text())["kernels"]
    assert (kernel["grid"], kernel["block"]) == (32, 256)

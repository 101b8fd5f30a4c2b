# SPDX-License-Identifier: Apache-2.0
"""The trace that `-vv` prints, and its parts."""

import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.errors import UsageError
from tilewright.passes.reporting.trace import Listener, Rule, listening, skipped
from tilewright.tools.opt_tool import main
from tilewright.tools.output.minimal_diff import minimal_diff
from tilewright.tools.output.trace_printer import NO_CHANGE, RemarkPrinter, TracePrinter

RMS_NORM = """\
func.func @main(%x: tensor<32x2048xf32>) -> tensor<32x2048xf32> {
  %sq = prim.elementwise mul(%x, %x) : tensor<32x2048xf32>
  %sum = prim.reduce add(%sq) dims [1] : (tensor<32x2048xf32>) -> tensor<32xf32>
  %r = prim.elementwise rsqrt(%sum) : tensor<32xf32>
  %rb = prim.index_map %r by affine_map<(d0, d1) -> (d0)> : tensor<32xf32> -> tensor<32x2048xf32>
  %y = prim.elementwise mul(%x, %rb) : tensor<32x2048xf32>
  func.return %y : tensor<32x2048xf32>
}
"""

COPY = """\
loop.kernel @copy(%x: memref<1000xf32>) -> (%out: memref<1000xf32>) {
  loop.for %i in 1000 {
    %0 = loop.load %x[%i] : memref<1000xf32>
    loop.store %0, %out[%i] : memref<1000xf32>
  }
}
"""


def printed(tmp_path: Path, text: str, pipeline: str, listener: Listener[Any]) -> None:
    source = tmp_path / "input.mlir"
    source.write_text(text)
    with listening(listener):
        assert main([str(source), "-p", pipeline, "-o", str(tmp_path / "output.mlir")]) == 0


def trace(tmp_path: Path, text: str, pipeline: str) -> str:
    stream = StringIO()
    printed(tmp_path, text, pipeline, TracePrinter(stream))
    return stream.getvalue()


def test_a_rewrite_is_a_diff_between_markers_with_its_cost(tmp_path: Path):
    assert (
        trace(tmp_path, COPY, "tileify,blockify-launch{n=128}")
        == """\
>>> t:001_tileify
@@ matched at copy @@
@@ -1,4 +1,4 @@
 loop.kernel @copy(%x: memref<1000xf32>) -> (%out: memref<1000xf32>) {
-  loop.for %i in 1000 {
+  tile.launch (%i = block 1000) {
     %0 = loop.load %x[%i] : memref<1000xf32>
     loop.store %0, %out[%i] : memref<1000xf32>
ledger: blocks 1000, threads 1, occupancy 32 blocks/SM
<<< t:001_tileify
>>> t:005_blockify_launch
@@ matched at copy @@
@@ -1,6 +1,6 @@
 loop.kernel @copy(%x: memref<1000xf32>) -> (%out: memref<1000xf32>) {
-  tile.launch (%i = block 1000) {
-    %0 = loop.load %x[%i] : memref<1000xf32>
-    loop.store %0, %out[%i] : memref<1000xf32>
+  tile.launch (%b = block 8, %t = thread 128) {
+    %0 = loop.load %x[%b * 128 + %t] where [999 - %b * 128 - %t] : memref<1000xf32>
+    loop.store %0, %out[%b * 128 + %t] where [999 - %b * 128 - %t] : memref<1000xf32>
   }
 } schedule "tileify"
ledger: blocks 1000 -> 8, threads 1 -> 128, registers 18 -> 19, occupancy 32 -> 16 blocks/SM
<<< t:005_blockify_launch
"""
    )


def cut(text: str, rule: str) -> str:
    """Return the output of `awk '/^>>> RULE/,/^<<< RULE/'`."""
    kept: list[str] = []
    inside = False
    for line in text.splitlines():
        inside = inside or re.match(f">>> {rule}", line) is not None
        kept += [line] if inside else []
        inside = inside and re.match(f"<<< {rule}", line) is None
    return "\n".join(kept)


def test_awk_cuts_out_one_rewrite(tmp_path: Path):
    whole = trace(tmp_path, RMS_NORM, "to-loop,to-tile,to-kernel")
    cooperative = cut(whole, "t:004").splitlines()
    assert cooperative[0] == ">>> t:004_cooperative_reduce"
    assert cooperative[-1] == "<<< t:004_cooperative_reduce"
    assert sum(line.startswith((">>>", "<<<")) for line in cooperative) == 2
    assert cooperative[-2].startswith("ledger: accessed 768 KiB -> 512 KiB, smem 0 -> 256 B")


def test_every_rewrite_is_closed_and_has_one_ledger(tmp_path: Path):
    whole = trace(tmp_path, RMS_NORM, "to-loop,to-tile,to-kernel").splitlines()
    opened = [line[4:] for line in whole if line.startswith(">>> ")]
    closed = [line[4:] for line in whole if line.startswith("<<< ")]
    assert opened == closed
    assert len([line for line in whole if line.startswith("ledger: ")]) == len(opened)
    assert list(dict.fromkeys(opened)) == [
        "l:001_lift",
        "f:002_fuse_epilogue",
        "f:001_inline_elementwise",
        "f:003_fuse_reduction",
        "f:005_normalize_kernels",
        "t:000_plan_schedules",
        "t:001_tileify",
        "t:004_cooperative_reduce",
        "t:008_register_tile",
        "k:001_convert_tile_to_kernel",
        "k:003_vectorize",
    ]


def test_a_fusion_shows_the_kernels_that_it_joins(tmp_path: Path):
    whole = trace(tmp_path, RMS_NORM, "lift,fuse-epilogue")
    fusion = cut(whole, "f:002")
    assert "-  loop.kernel @sum(" in fusion
    assert "-    loop.launch @sum(" in fusion
    assert "ledger: kernels 4 -> 3, " in fusion


def test_remarks_are_printed_before_their_rewrite(tmp_path: Path):
    whole = trace(tmp_path, RMS_NORM, "lift,fuse-epilogue").splitlines()
    weighed = "--- f:002_fuse_epilogue chosen at sum: compute rsqrt (5 instructions) where 32 "
    at = next(line for line, text in enumerate(whole) if text.startswith(weighed))
    assert whole[at].endswith("elements are stored: 2.32 us against 4.32 us apart, saves 256 B")
    assert whole[at + 1] == ">>> f:002_fuse_epilogue"


def test_the_trace_is_the_same_every_time(tmp_path: Path):
    runs = {trace(tmp_path, RMS_NORM, "to-loop,to-tile,to-kernel") for _ in range(2)}
    assert len(runs) == 1
    assert " at 0x" not in runs.pop()


def test_equal_remarks_are_printed_once():
    rule = Rule("t", 8, "register_tile")
    for kind in (TracePrinter, RemarkPrinter):
        stream = StringIO()
        with listening(kind(stream)):
            for reason in ("no contraction", "no contraction", "another"):
                skipped(rule, _module(), reason)
        assert stream.getvalue() == (
            "--- t:008_register_tile skipped at module: no contraction\n"
            "--- t:008_register_tile skipped at module: another\n"
        )


def test_a_step_that_changes_nothing_is_printed(tmp_path: Path):
    whole = trace(tmp_path, COPY, "tileify,blockify-launch,mark-unroll").splitlines()
    assert whole[-1] == f"--- t:016_mark_unroll matched at copy: {NO_CHANGE}"


def test_patterns_that_match_without_change_are_not_printed(tmp_path: Path):
    whole = trace(tmp_path, RMS_NORM, "to-loop").splitlines()
    assert whole
    assert not [line for line in whole if line.endswith(NO_CHANGE)]


def test_remarks_alone(tmp_path: Path):
    stream = StringIO()
    printed(tmp_path, COPY, "tileify,tileify,cooperative-reduce", RemarkPrinter(stream))
    assert stream.getvalue() == (
        "--- t:001_tileify skipped at copy: it is a launch already\n"
        "--- t:004_cooperative_reduce skipped at copy: its rows are short: 0 steps\n"
    )


def test_opt_tool_prints_remarks_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "copy.mlir").write_text(COPY)
    assert main([str(tmp_path / "copy.mlir"), "-p", "tileify,cooperative-reduce", "--remarks"]) == 0
    out, err = capsys.readouterr()
    assert err == "--- t:004_cooperative_reduce skipped at copy: its rows are short: 0 steps\n"
    assert "tile.launch" in out


def test_an_unknown_target_is_refused():
    with pytest.raises(UsageError, match="unknown target 'sm_1'"):
        TracePrinter(StringIO(), target="sm_1")


def test_a_new_op_does_not_renumber_the_lines_below():
    before = "f @f() {\n  %0 = a\n  %1 = b %0\n  c %1\n}\nf @g() {\n  %0 = d\n}"
    after = "f @f() {\n  %0 = new\n  %1 = a\n  %2 = b %1\n  c %2\n}\nf @g() {\n  %0 = d\n}"
    assert minimal_diff(before, after, context=0) == ["@@ -1,0 +2 @@", "+  %2 = new"]


def test_a_swapped_operand_is_a_change():
    before = "f @f() {\n  %0 = a\n  %1 = a\n  c %0, %1\n}"
    after = "f @f() {\n  %0 = a\n  %1 = a\n  c %1, %0\n}"
    assert minimal_diff(before, after, context=0) == [
        "@@ -4 +4 @@",
        "-  c %0, %1",
        "+  c %1, %0",
    ]


def _module() -> ModuleOp:
    return ModuleOp([])

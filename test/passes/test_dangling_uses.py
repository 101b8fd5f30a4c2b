# SPDX-License-Identifier: Apache-2.0
"""
Passes leave no dangling uses.

An op that is built and not inserted, or detached and not erased, would still count as a user of its
operands. Patterns that require a single use would then not match.
"""

import pytest
from dangling_uses import assert_no_dangling_uses
from xdsl.context import Context
from xdsl.dialects import get_all_dialects as get_xdsl_dialects
from xdsl.parser import Parser

from tilewright.dialects import get_all_dialects
from tilewright.passes.driver.pipeline_string import parse_pipeline
from tilewright.passes.driver.pipelines import available_passes, expanded

LAYER_NORM = """
func.func @main(%x: tensor<33x100xf32>, %w: tensor<100xf32>) -> tensor<33x100xf32> {
  %sum = prim.reduce add(%x) dims [1] : (tensor<33x100xf32>) -> tensor<33xf32>
  %n = prim.constant 0.01 : f32 -> tensor<33xf32>
  %mean = prim.elementwise mul(%sum, %n) : tensor<33xf32>
  %mb = prim.index_map %mean by affine_map<(d0, d1) -> (d0)> : tensor<33xf32> -> tensor<33x100xf32>
  %d = prim.elementwise sub(%x, %mb) : tensor<33x100xf32>
  %sq = prim.elementwise mul(%d, %d) : tensor<33x100xf32>
  %var = prim.reduce add(%sq) dims [1] : (tensor<33x100xf32>) -> tensor<33xf32>
  %r = prim.elementwise rsqrt(%var) : tensor<33xf32>
  %rb = prim.index_map %r by affine_map<(d0, d1) -> (d0)> : tensor<33xf32> -> tensor<33x100xf32>
  %y = prim.elementwise mul(%d, %rb) : tensor<33x100xf32>
  func.return %y : tensor<33x100xf32>
}
"""

LINEAR = """
func.func @main(%x: tensor<33x65xf32>, %w: tensor<65x17xf32>, %b: tensor<17xf32>)
    -> tensor<33x17xf32> {
  %l = prim.index_map %x by affine_map<(d0, d1, d2) -> (d0, d1)>
    : tensor<33x65xf32> -> tensor<33x65x17xf32>
  %r = prim.index_map %w by affine_map<(d0, d1, d2) -> (d1, d2)>
    : tensor<65x17xf32> -> tensor<33x65x17xf32>
  %p = prim.elementwise mul(%l, %r) : tensor<33x65x17xf32>
  %s = prim.reduce add(%p) dims [1] : (tensor<33x65x17xf32>) -> tensor<33x17xf32>
  %bb = prim.index_map %b by affine_map<(d0, d1) -> (d1)> : tensor<17xf32> -> tensor<33x17xf32>
  %y = prim.elementwise add(%s, %bb) : tensor<33x17xf32>
  func.return %y : tensor<33x17xf32>
}
"""

ROW_SUM = """
func.func @main(%x: tensor<5x100xf32>) -> tensor<5xf32> {
  %sum = prim.reduce add(%x) dims [1] : (tensor<5x100xf32>) -> tensor<5xf32>
  func.return %sum : tensor<5xf32>
}
"""

REPEATED = """
func.func @main(%x: tensor<2x5xf32>) -> tensor<8xf32> {
  %r = prim.index_map %x by affine_map<(d0, d1) -> (d0 floordiv 4, d1)>
    : tensor<2x5xf32> -> tensor<8x5xf32>
  %sum = prim.reduce add(%r) dims [1] : (tensor<8x5xf32>) -> tensor<8xf32>
  func.return %sum : tensor<8xf32>
}
"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("text", [LAYER_NORM, LINEAR, ROW_SUM, REPEATED])
def test_every_use_is_in_the_module(text: str):
    context = Context()
    for name, factory in {**get_xdsl_dialects(), **get_all_dialects()}.items():
        context.register_dialect(name, factory)
    module = Parser(context, text).parse_module()
    pipeline = parse_pipeline("to-loop,to-tile,to-kernel,to-cuda", available_passes())
    for step in expanded(pipeline):
        step.apply(context, module)
        assert_no_dangling_uses(module, step.name)

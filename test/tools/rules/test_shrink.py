# SPDX-License-Identifier: Apache-2.0
"""Programs are shrunk to the ops and sizes that a failure needs."""

from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.dialects import prim
from tilewright.dialects.types import shape_of
from tilewright.passes.driver.lowering import context
from tilewright.tools.rules.shrink import can_shrink, shrunk

PROGRAM = """\
func.func @main(%x: tensor<6x4xf32>, %y: tensor<24xf32>) -> (tensor<24xf32>, tensor<6xf32>) {
  %0 = prim.elementwise exp(%x) : tensor<6x4xf32>
  %1 = prim.index_map %0 by affine_map<(i) -> (i floordiv 4, i mod 4)> : tensor<6x4xf32> -> tensor<24xf32>
  %2 = prim.elementwise add(%1, %y) : tensor<24xf32>
  %3 = prim.reduce add(%0) dims [1] : (tensor<6x4xf32>) -> tensor<6xf32>
  func.return %2, %3 : tensor<24xf32>, tensor<6xf32>
}
"""  # noqa: E501


def parsed(text: str) -> ModuleOp:
    """Return the module of a text."""
    return Parser(context(), text).parse_module()


def has(module: ModuleOp, name: str) -> bool:
    """True if a module has an op of a name."""
    return any(op.name == name for op in module.walk())


def test_a_program_keeps_the_op_that_fails():
    found = shrunk(parsed(PROGRAM), lambda module: has(module, "prim.reduce"))
    assert [op.name for op in found.walk()][2:] == ["prim.reduce", "func.return"]
    assert "tensor<1x1xf32>) -> tensor<1xf32>" in str(found)


def test_sizes_of_a_reshape_shrink_together():
    found = shrunk(parsed(PROGRAM), lambda module: has(module, "prim.index_map"))
    found.verify()
    (op,) = [op for op in found.walk() if isinstance(op, prim.IndexMapOp)]
    assert max(shape_of(op.result)) < 24


def test_only_functions_of_tensor_ir_are_shrunk():
    assert can_shrink(parsed(PROGRAM))
    assert not can_shrink(parsed(PROGRAM + PROGRAM.replace("main", "other")))

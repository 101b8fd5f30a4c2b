# SPDX-License-Identifier: Apache-2.0
"""
A program at Loop IR with float64 in the place of float32: a reference that a GPU can compute.

    %1 = arith.extf %0 : f16 to f32             %1 = arith.extf %0 : f16 to f64
    %2 = arith.extf %1 : f32 to f64     -->
    %3 = math.exp %2 : f64                      %3 = math.exp %1 : f64

Half types stay: they are loaded and stored only, and arithmetic is in what they are extended to.
"""

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import FloatAttr, FunctionType, MemRefType, ModuleOp, f32, f64
from xdsl.ir import Attribute, Operation
from xdsl.rewriter import Rewriter

from tilewright.passes.driver.verification import verify_module


def widened(module: ModuleOp) -> ModuleOp:
    """A copy that computes in float64."""
    wide = module.clone()
    for op in [*wide.walk()]:
        _widen(op)
    for op in [*wide.walk()]:
        if isinstance(op, arith.ExtFOp | arith.TruncFOp) and op.input.type == op.result.type:
            Rewriter.replace_op(op, (), (op.input,))
    verify_module(wide)
    return wide


def _widen(op: Operation) -> None:
    """Give all that an operation defines its type, and its attributes the values in it."""
    blocks = [block for region in op.regions for block in region.blocks]
    for value in [*op.results, *(argument for block in blocks for argument in block.args)]:
        hint, type = value.name_hint, _wide(value.type)
        if type != value.type:
            Rewriter.replace_value_with_new_type(value, type).name_hint = hint
    for name, attribute in op.properties.items():
        op.properties[name] = _wide(attribute)
    if isinstance(op, func.FuncOp):
        types = op.function_type
        widths = [map(_wide, each) for each in (types.inputs, types.outputs)]
        op.function_type = FunctionType.from_lists(*map(list, widths))


def _wide(attribute: Attribute) -> Attribute:
    match attribute:
        case FloatAttr() if attribute.type == f32:
            return FloatAttr(attribute.value.data, f64)
        case MemRefType() if attribute.element_type == f32:
            shape, layout = attribute.get_shape(), attribute.layout
            return MemRefType(f64, shape, layout, attribute.memory_space)
        case _:
            return f64 if attribute == f32 else attribute

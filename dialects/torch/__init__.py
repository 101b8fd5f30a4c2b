# SPDX-License-Identifier: Apache-2.0
"""
The Torch dialect: the functional ATen graph, one op per ATen overload with all its arguments.

    func.func @main(%x : tensor<4x8xf32>, %weight : tensor<8xf32> {torch.name = "weight", ...}) {
      %rms_norm = torch.rms_norm %x normalized_shape [8] weight %weight : (...) -> tensor<4x8xf32>
      %softmax = torch.softmax.int %rms_norm dim -1 : (tensor<4x8xf32>) -> tensor<4x8xf32>

An argument that the module provides has attributes: `torch.name` is its path in the module,
`torch.kind` is "parameter", "buffer" or "constant". A result with `torch.mutates` is the new value
of the input or buffer of that name, written in place. The argument's `torch.becomes` is the
position of that result (see `updates`). An argument with `torch.layout` is permuted when it is
loaded (see `parameter_layout`).

The ops of each family are in one module, and all of them can be imported from here.
"""

from types import ModuleType

from xdsl.ir import Dialect

from tilewright.dialects.torch import (
    activation,
    adaptive_pooling,
    attention,
    binary,
    bits,
    channel_norm,
    channels,
    comparison,
    concatenation,
    contraction,
    convolution,
    creation,
    division,
    elementary,
    extremum,
    filling,
    index_writing,
    indexing,
    interpolation,
    layout,
    loss,
    normalization,
    padding,
    pooling,
    power,
    product,
    reduction,
    scan,
    scatter,
    selection,
    slicing,
    statistics,
    ternary,
    unary,
)
from tilewright.dialects.torch.activation import *  # noqa: F403
from tilewright.dialects.torch.adaptive_pooling import *  # noqa: F403
from tilewright.dialects.torch.attention import *  # noqa: F403
from tilewright.dialects.torch.binary import *  # noqa: F403
from tilewright.dialects.torch.bits import *  # noqa: F403
from tilewright.dialects.torch.channel_norm import *  # noqa: F403
from tilewright.dialects.torch.channels import *  # noqa: F403
from tilewright.dialects.torch.comparison import *  # noqa: F403
from tilewright.dialects.torch.concatenation import *  # noqa: F403
from tilewright.dialects.torch.contraction import *  # noqa: F403
from tilewright.dialects.torch.convolution import *  # noqa: F403
from tilewright.dialects.torch.creation import *  # noqa: F403
from tilewright.dialects.torch.division import *  # noqa: F403
from tilewright.dialects.torch.elementary import *  # noqa: F403
from tilewright.dialects.torch.extremum import *  # noqa: F403
from tilewright.dialects.torch.filling import *  # noqa: F403
from tilewright.dialects.torch.index_writing import *  # noqa: F403
from tilewright.dialects.torch.indexing import *  # noqa: F403
from tilewright.dialects.torch.interpolation import *  # noqa: F403
from tilewright.dialects.torch.layout import *  # noqa: F403
from tilewright.dialects.torch.loss import *  # noqa: F403
from tilewright.dialects.torch.normalization import *  # noqa: F403
from tilewright.dialects.torch.op import *  # noqa: F403
from tilewright.dialects.torch.op import TorchOp
from tilewright.dialects.torch.padding import *  # noqa: F403
from tilewright.dialects.torch.pooling import *  # noqa: F403
from tilewright.dialects.torch.power import *  # noqa: F403
from tilewright.dialects.torch.product import *  # noqa: F403
from tilewright.dialects.torch.reduction import *  # noqa: F403
from tilewright.dialects.torch.scan import *  # noqa: F403
from tilewright.dialects.torch.scatter import *  # noqa: F403
from tilewright.dialects.torch.selection import *  # noqa: F403
from tilewright.dialects.torch.slicing import *  # noqa: F403
from tilewright.dialects.torch.statistics import *  # noqa: F403
from tilewright.dialects.torch.ternary import *  # noqa: F403
from tilewright.dialects.torch.unary import *  # noqa: F403

FAMILIES: tuple[ModuleType, ...] = (
    unary,
    elementary,
    activation,
    binary,
    division,
    power,
    selection,
    ternary,
    comparison,
    bits,
    reduction,
    extremum,
    statistics,
    scan,
    normalization,
    channel_norm,
    loss,
    contraction,
    product,
    attention,
    convolution,
    pooling,
    adaptive_pooling,
    interpolation,
    layout,
    channels,
    slicing,
    padding,
    concatenation,
    filling,
    creation,
    indexing,
    scatter,
    index_writing,
)


def ops_of(family: ModuleType) -> list[type[TorchOp]]:
    """Return the ops that a module defines, in order of definition."""
    classes = [c for c in vars(family).values() if isinstance(c, type) and issubclass(c, TorchOp)]
    return [c for c in classes if c.__module__ == family.__name__ and "ATEN" in vars(c)]


OPS: list[type[TorchOp]] = [op for family in FAMILIES for op in ops_of(family)]

Torch = Dialect("torch", [*OPS])


def torch_op_names() -> list[str]:
    """Return the names of all ops, as they are spelled in the IR, in alphabetical order."""
    return sorted(op.name for op in OPS)

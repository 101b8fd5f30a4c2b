# SPDX-License-Identifier: Apache-2.0
"""
The Torch dialect: the functional ATen graph, one op per ATen overload with all its arguments.

    func.func @main(%x : tensor<4x8xf32>, %weight : tensor<8xf32> {torch.name = "weight", ...}) {
      %rms_norm = torch.rms_norm %x normalized_shape [8] weight %weight : (...) -> tensor<4x8xf32>
      %softmax = torch.softmax.int %rms_norm dim -1 : (tensor<4x8xf32>) -> tensor<4x8xf32>

An argument of the function that is not the user's says where it comes from: `torch.name` is its
path in the module, `torch.kind` is "parameter", "buffer" or "constant". A result with
`torch.mutates` is the new value of the input or buffer of that name, written in place; the argument
says by `torch.becomes` which result that is (see `updates`). An argument with `torch.layout` is
permuted when it is loaded (see `parameter_layout`).

The ops stand in one module per family, and all of them can be had from here.
"""

from types import ModuleType

from xdsl.ir import Dialect

from tilewright.dialects import (
    torch_activation,
    torch_adaptive_pooling,
    torch_attention,
    torch_binary,
    torch_bits,
    torch_channel_norm,
    torch_channels,
    torch_comparison,
    torch_contraction,
    torch_convolution,
    torch_creation,
    torch_division,
    torch_elementary,
    torch_extremum,
    torch_filling,
    torch_index_writing,
    torch_indexing,
    torch_interpolation,
    torch_joining,
    torch_layout,
    torch_loss,
    torch_normalization,
    torch_padding,
    torch_pooling,
    torch_power,
    torch_product,
    torch_reduction,
    torch_scan,
    torch_scatter,
    torch_selection,
    torch_slicing,
    torch_statistics,
    torch_ternary,
    torch_unary,
)
from tilewright.dialects.torch_activation import *  # noqa: F403
from tilewright.dialects.torch_adaptive_pooling import *  # noqa: F403
from tilewright.dialects.torch_attention import *  # noqa: F403
from tilewright.dialects.torch_binary import *  # noqa: F403
from tilewright.dialects.torch_bits import *  # noqa: F403
from tilewright.dialects.torch_channel_norm import *  # noqa: F403
from tilewright.dialects.torch_channels import *  # noqa: F403
from tilewright.dialects.torch_comparison import *  # noqa: F403
from tilewright.dialects.torch_contraction import *  # noqa: F403
from tilewright.dialects.torch_convolution import *  # noqa: F403
from tilewright.dialects.torch_creation import *  # noqa: F403
from tilewright.dialects.torch_division import *  # noqa: F403
from tilewright.dialects.torch_elementary import *  # noqa: F403
from tilewright.dialects.torch_extremum import *  # noqa: F403
from tilewright.dialects.torch_filling import *  # noqa: F403
from tilewright.dialects.torch_index_writing import *  # noqa: F403
from tilewright.dialects.torch_indexing import *  # noqa: F403
from tilewright.dialects.torch_interpolation import *  # noqa: F403
from tilewright.dialects.torch_joining import *  # noqa: F403
from tilewright.dialects.torch_layout import *  # noqa: F403
from tilewright.dialects.torch_loss import *  # noqa: F403
from tilewright.dialects.torch_normalization import *  # noqa: F403
from tilewright.dialects.torch_op import *  # noqa: F403
from tilewright.dialects.torch_op import TorchOp
from tilewright.dialects.torch_padding import *  # noqa: F403
from tilewright.dialects.torch_pooling import *  # noqa: F403
from tilewright.dialects.torch_power import *  # noqa: F403
from tilewright.dialects.torch_product import *  # noqa: F403
from tilewright.dialects.torch_reduction import *  # noqa: F403
from tilewright.dialects.torch_scan import *  # noqa: F403
from tilewright.dialects.torch_scatter import *  # noqa: F403
from tilewright.dialects.torch_selection import *  # noqa: F403
from tilewright.dialects.torch_slicing import *  # noqa: F403
from tilewright.dialects.torch_statistics import *  # noqa: F403
from tilewright.dialects.torch_ternary import *  # noqa: F403
from tilewright.dialects.torch_unary import *  # noqa: F403

FAMILIES: tuple[ModuleType, ...] = (
    torch_unary,
    torch_elementary,
    torch_activation,
    torch_binary,
    torch_division,
    torch_power,
    torch_selection,
    torch_ternary,
    torch_comparison,
    torch_bits,
    torch_reduction,
    torch_extremum,
    torch_statistics,
    torch_scan,
    torch_normalization,
    torch_channel_norm,
    torch_loss,
    torch_contraction,
    torch_product,
    torch_attention,
    torch_convolution,
    torch_pooling,
    torch_adaptive_pooling,
    torch_interpolation,
    torch_layout,
    torch_channels,
    torch_slicing,
    torch_padding,
    torch_joining,
    torch_filling,
    torch_creation,
    torch_indexing,
    torch_scatter,
    torch_index_writing,
)


def ops_of(family: ModuleType) -> list[type[TorchOp]]:
    """The ops that a module defines, in its order."""
    classes = [c for c in vars(family).values() if isinstance(c, type) and issubclass(c, TorchOp)]
    return [c for c in classes if c.__module__ == family.__name__ and "ATEN" in vars(c)]


OPS: list[type[TorchOp]] = [op for family in FAMILIES for op in ops_of(family)]

Torch = Dialect("torch", [*OPS])


def torch_op_names() -> list[str]:
    """The names of all ops, as they are spelled in the IR."""
    return sorted(op.name for op in OPS)

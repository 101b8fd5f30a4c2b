# SPDX-License-Identifier: Apache-2.0
"""What searches ask for, as the space that they search knows it."""

from tilewright.dialects import loop
from tilewright.tuning import space
from tilewright.tuning.search import tree


def kernel_of(leaf: tree.Node, of: space.Space) -> loop.KernelOp:
    """The kernel with the schedule of a leaf of a space; not to be changed."""
    assert isinstance(leaf, space.Node)
    return of.kernel(leaf)

# SPDX-License-Identifier: Apache-2.0
"""Roles of the axes around a reduction."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.dialects.axes import Role
from tilewright.passes.facts.nest import nest_block
from tilewright.passes.facts.roles import axis_roles

Parse = Callable[[str], ModuleOp]

# With `softmax`, scores are one side, and values the other.
KERNEL = """
loop.kernel @k(%q: memref<6x5x8xf32>, %key: memref<6x7x8xf32>, %v: memref<6x7x9xf32>)
    -> (%out: memref<6x5x9xf32>) {
  loop.for %h in 6, %i in 5, %e in 9 {
    %m, %l, %o = loop.reduce %k in 7 with softmax {
      %s = loop.reduce %d in 8 with add {
        %0 = loop.load %q[%h, %i, %d] : memref<6x5x8xf32>
        %1 = loop.load %key[%h, %k, %d] : memref<6x7x8xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      %one = arith.constant 1.0 : f32
      %3 = loop.load %v[%h, %k, %e] : memref<6x7x9xf32>
      loop.yield %s, %one, %3 : f32, f32, f32
    } : f32, f32, f32
    %4 = arith.divf %o, %l : f32
    loop.store %4, %out[%h, %i, %e] : memref<6x5x9xf32>
  }
}"""


@pytest.mark.parametrize(
    ("old", "new", "roles"),
    [
        ("", "", [Role.BATCH, Role.M, Role.N]),
        ("%v[%h, %k", "%v[%h floordiv 2, %k", [Role.BATCH, Role.M, Role.N]),
        ("%v[%h, %k", "%v[0, %k", [Role.M, Role.M, Role.N]),
        ("%v[%h, %k, %e]", "%v[%h, %k, 0]", [Role.ROW] * 3),  # no columns
        ("%q[%h, %i, %d]", "%q[%h, 0, %d]", [Role.ROW] * 3),  # no rows
    ],
)
def test_roles(parse: Parse, old: str, new: str, roles: list[Role]) -> None:
    assert old in KERNEL
    (kernel,) = (
        op for op in parse(KERNEL.replace(old, new, 1)).walk() if isinstance(op, loop.KernelOp)
    )
    assert axis_roles(nest_block(kernel)) == roles


DIAGONAL = """
loop.kernel @k(%d: memref<7xf32>, %w: memref<7x9xf32>) -> (%out: memref<7x9xf32>) {
  loop.for %i in 7, %j in 9 {
    %sum = loop.reduce %k in 7 with add {
      %0 = loop.load %d[%i] where [%k - %i, %i - %k] : memref<7xf32>
      %1 = loop.load %w[%k, %j] : memref<7x9xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<7x9xf32>
  }
}"""


@pytest.mark.parametrize(
    ("old", "new", "roles"),
    [
        ("", "", [Role.M, Role.N]),
        ("%d[%i]", "%d[%k]", [Role.M, Role.N]),
        ("where [%k - %i, %i - %k]", "where [%i - 2]", [Role.ROW] * 2),  # the same in all steps
        ("where [%k - %i, %i - %k]", "where [%k - %j, %i - %k]", [Role.ROW] * 2),  # no left side
    ],
)
def test_a_factor_may_vary_by_its_mask(parse: Parse, old: str, new: str, roles: list[Role]) -> None:
    assert old in DIAGONAL
    (kernel,) = (
        op for op in parse(DIAGONAL.replace(old, new, 1)).walk() if isinstance(op, loop.KernelOp)
    )
    assert axis_roles(nest_block(kernel)) == roles

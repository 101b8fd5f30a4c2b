# SPDX-License-Identifier: Apache-2.0
"""
Any permutation of any parameter folds to load time, and the program computes the same results.
"""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from xdsl.parser import Parser

from tilewright.interpreters.check import check_pass
from tilewright.passes.driver.lowering import context
from tilewright.passes.tensor.compose_index_maps import ComposeIndexMapsPass
from tilewright.passes.tensor.fold_parameter_layouts import FoldParameterLayoutsPass


@st.composite
def permuted(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Draw a shape, also with axes of one step or none, and the argument of `permute`."""
    shape = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    return shape, draw(st.permutations(range(len(shape))))


def tensor(shape: Sequence[int]) -> str:
    """Return the tensor type of a shape."""
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


@given(permuted())
def test_any_permutation(drawn: tuple[list[int], list[int]]) -> None:
    shape, axes = drawn
    dims = [f"d{n}" for n in range(len(shape))]
    subscripts = [f"d{axes.index(n)}" for n in range(len(shape))]
    result = tensor([shape[axis] for axis in axes])
    module = Parser(
        context(),
        f"""
        func.func @main(%w: {tensor(shape)} {{torch.name = "w", torch.kind = "parameter"}})
            -> {result} {{
          %0 = prim.index_map %w by affine_map<({", ".join(dims)}) -> ({", ".join(subscripts)})>
            : {tensor(shape)} -> {result}
          %1 = prim.elementwise exp(%0) : {result}
          func.return %1 : {result}
        }}
        """,
    ).parse_module()
    before = module.clone()
    ComposeIndexMapsPass().apply(context(), module)
    FoldParameterLayoutsPass().apply(context(), module)
    module.verify()
    assert "prim.index_map" not in str(module)
    assert check_pass(before, module, "fold").compared == ("main",)

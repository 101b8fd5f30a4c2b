# SPDX-License-Identifier: Apache-2.0
"""Random expressions in the ops that the compiler supports, as `-c` takes them."""

from collections.abc import Callable
from math import prod

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

Shape = tuple[int, ...]

# Arguments stay where the function is well-behaved: near a pole, a float32 result means nothing.
_UNARY = (
    "torch.neg({})",
    "torch.exp({})",
    "torch.tanh({})",
    "torch.erf({})",
    "torch.sigmoid({})",
    "F.relu({})",
    "F.silu({})",
    "F.gelu({})",
    "F.gelu({}, approximate='tanh')",
    "torch.log(0.5 + ({}).abs())",
    "torch.sqrt(1 + ({}).abs())",
    "torch.rsqrt(0.5 + ({}).abs())",
    "torch.pow({}, 2)",
    "torch.pow(({}).abs() + 1, 0.7)",
)
_BINARY = (
    "({} + {})",
    "({} - {})",
    "({} * {})",
    "({} / (({}).abs() + 0.5))",
    "torch.add({}, {}, alpha=0.5)",
    "torch.maximum({}, {})",
    "torch.minimum({}, {})",
)
_REDUCTIONS = (
    "torch.sum({}, {})",
    "torch.mean({}, {})",
    "torch.amax({}, {})",
    "torch.amin({}, {})",
    "torch.logsumexp({}, {})",
    "torch.norm({}, dim={})",
)

sizes = st.one_of(st.sampled_from([1, 2, 17, 31, 32, 33, 64, 65]), st.integers(1, 70))
shapes = st.lists(sizes, min_size=0, max_size=3).filter(lambda s: prod(s) <= 20_000).map(tuple)


@st.composite
def expressions(draw: DrawFn, shape: Shape, depth: int) -> str:
    """Return an expression whose value has `shape`, with at most `depth` nested operations."""
    if depth == 0:
        return draw(leaves(shape))
    fitting = [make for rank, make in _MAKERS if len(shape) >= rank]
    return draw(draw(st.sampled_from(fitting))(shape, depth - 1))


@st.composite
def leaves(draw: DrawFn, shape: Shape) -> str:
    """Return a random tensor, possibly expanded to `shape`."""
    if not shape or draw(st.booleans()):
        return _randn(shape)
    narrow = tuple(draw(st.sampled_from([size, 1])) for size in shape)
    return f"{_randn(narrow)}.expand({shape})"


def _randn(shape: Shape) -> str:
    return f"torch.randn({shape})"


@st.composite
def _unary(draw: DrawFn, shape: Shape, depth: int) -> str:
    return draw(st.sampled_from(_UNARY)).format(draw(expressions(shape, depth)))


@st.composite
def _binary(draw: DrawFn, shape: Shape, depth: int) -> str:
    missing = draw(st.integers(0, len(shape)))
    other = tuple(draw(st.sampled_from([size, 1])) for size in shape[missing:])
    left, right = draw(expressions(shape, depth)), draw(expressions(other, depth))
    return draw(st.sampled_from(_BINARY)).format(left, right)


@st.composite
def _row_function(draw: DrawFn, shape: Shape, depth: int) -> str:
    inner, last = draw(expressions(shape, depth)), shape[-1]
    dim = draw(st.integers(-len(shape), len(shape) - 1))
    forms = [
        f"F.softmax({inner}, {dim})",
        f"F.log_softmax({inner}, {dim})",
        f"torch.cumsum({inner}, {dim})",
        f"F.rms_norm({inner}, ({last},), torch.randn({last}), 1e-3)",
        f"F.layer_norm({inner}, ({last},), torch.randn({last}), torch.randn({last}), 1e-2)",
    ]
    return draw(st.sampled_from(forms))


@st.composite
def _reduction(draw: DrawFn, shape: Shape, depth: int) -> str:
    axis = draw(st.integers(0, len(shape)))
    inner = (*shape[:axis], draw(sizes), *shape[axis:])
    return draw(st.sampled_from(_REDUCTIONS)).format(draw(expressions(inner, depth)), axis)


@st.composite
def _contraction(draw: DrawFn, shape: Shape, depth: int) -> str:
    k = draw(sizes)
    rows, columns = shape[:-1], shape[-1]
    left = draw(expressions((*rows, k), depth))
    weight, bias = _randn((columns, k)), _randn((columns,))
    forms = [
        f"F.linear({left}, {weight}, {bias})",
        f"torch.matmul({left}, {draw(expressions((k, columns), depth))})",
    ]
    if len(shape) == 3:
        forms.append(f"torch.bmm({left}, {draw(expressions((shape[0], k, columns), depth))})")
    return draw(st.sampled_from(forms))


@st.composite
def _view(draw: DrawFn, shape: Shape, depth: int) -> str:
    order = draw(st.permutations(range(len(shape))))
    unordered = tuple(shape[order.index(axis)] for axis in range(len(shape)))
    axis = draw(st.integers(0, len(shape) - 1))
    forms = [
        f"({draw(expressions(unordered, depth))}).permute({tuple(order)})",
        f"({draw(expressions((prod(shape),), depth))}).reshape({shape})",
        f"({draw(expressions(shape, depth))}).unsqueeze({axis}).squeeze({axis})",
    ]
    if len(shape) >= 2:
        swapped = (*shape[:-2], shape[-1], shape[-2])
        forms.append(f"({draw(expressions(swapped, depth))}).transpose(-1, -2)")
    return draw(st.sampled_from(forms))


# The lowest rank of a result that each kind of operation needs, and the function that draws it.
_MAKERS: tuple[tuple[int, Callable[[Shape, int], SearchStrategy[str]]], ...] = (
    (0, _unary),
    (0, _binary),
    (0, _reduction),
    (1, _row_function),
    (1, _view),
    (2, _contraction),
)

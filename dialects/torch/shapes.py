# SPDX-License-Identifier: Apache-2.0
"""Shape rules of PyTorch, as the Torch dialect's verifier checks them."""

from collections.abc import Sequence
from math import prod

from xdsl.utils.exceptions import VerifyException


def shown(shape: Sequence[int]) -> str:
    """Return the text of a shape: `16x64`, or `scalar` for a tensor without dimensions."""
    return "x".join(map(str, shape)) or "scalar"


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """
    Return the shape to which PyTorch broadcasts `shapes`.

    Dimensions are aligned at the last one, and size 1 is repeated. Raises `VerifyException` if they
    do not fit.
    """
    rank = max(map(len, shapes))
    result: list[int] = []
    for sizes in zip(*((1,) * (rank - len(s)) + s for s in shapes), strict=True):
        stretched = {size for size in sizes if size != 1} or {1}
        if len(stretched) > 1:
            both = " and ".join(map(shown, shapes))
            raise VerifyException(f"{both} do not broadcast: sizes must be equal or 1")
        result.append(stretched.pop())
    return tuple(result)


def check_expands(shape: Sequence[int], target: Sequence[int], what: str) -> None:
    """Raise `VerifyException` unless `shape` can be broadcast to exactly `target`."""
    tail = target[len(target) - len(shape) :] if len(shape) <= len(target) else ()
    if len(tail) < len(shape) or any(s not in (1, t) for s, t in zip(shape, tail, strict=True)):
        raise VerifyException(f"{what} of shape {shown(shape)} does not expand to {shown(target)}")


def wrap_dim(dim: int, rank: int, what: str = "dim") -> int:
    """
    Return `dim` counted from the front; as in PyTorch, a scalar counts as having one dimension.
    """
    rank = max(rank, 1)
    if not -rank <= dim < rank:
        raise VerifyException(
            f"{what} {dim} is out of range for rank {rank}: use {-rank} to {rank - 1}"
        )
    return dim % rank


def wrap_dims(dims: Sequence[int], rank: int, what: str = "dim") -> tuple[int, ...]:
    """Return `dims` counted from the front; raise `VerifyException` if one occurs twice."""
    wrapped = tuple(wrap_dim(dim, rank, what) for dim in dims)
    if len({*wrapped}) < len(wrapped):
        raise VerifyException(f"{what} {list(dims)} names a dimension twice")
    return wrapped


def resolve_size(size: Sequence[int], numel: int) -> tuple[int, ...]:
    """Return `size` with -1, if any, replaced by the size that makes `numel` elements in total."""
    known = prod(s for s in size if s != -1)
    resolved = tuple(numel // known if s == -1 and known else s for s in size)
    if list(size).count(-1) > 1 or any(s < 0 for s in resolved) or prod(resolved) != numel:
        raise VerifyException(f"{numel} elements cannot take shape {list(size)}")
    return resolved

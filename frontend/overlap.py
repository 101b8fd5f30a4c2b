# SPDX-License-Identifier: Apache-2.0
"""Elements of tensors and arrays that lie in the same memory, and cannot be written separately."""

from collections.abc import Sequence
from math import prod
from typing import Any, cast

_MOST_WORK = 1_000_000
"""
Number of candidates that NumPy tries before it gives up: the problem is NP-hard for arbitrary
strides.
"""


def share_elements(one: Any, other: Any) -> bool:
    """True if two tensors or arrays share an element, or if that is too hard to decide."""
    import numpy as np
    import torch
    from torch._subclasses.fake_tensor import FakeTensor

    if any(isinstance(value, FakeTensor) for value in (one, other)):
        return False  # it has no memory, and cannot be run with
    devices = {
        v.device if isinstance(v, torch.Tensor) else torch.device("cpu") for v in (one, other)
    }
    if len(devices) > 1:
        return False
    try:
        return np.shares_memory(_addresses(one), _addresses(other), cast(Any, _MOST_WORK))
    except np.exceptions.TooHardError:
        return True


def overlaps_itself(value: Any) -> bool:
    """True if two elements of a tensor or array share a byte."""
    item, strides = _bytes_of(value)
    sizes = [*value.shape]
    if 0 in sizes:
        return False
    steps = sorted((abs(step), size) for step, size in zip(strides, sizes, strict=True) if size > 1)
    if _steps_over(steps, item):
        return False
    span = item + sum(step * (size - 1) for step, size in steps)
    return prod(sizes) * item > span or _meets(steps, item)


def _steps_over(steps: Sequence[tuple[int, int]], item: int) -> bool:
    """
    True if elements cannot overlap by their strides alone: each stride is at least the extent of
    all axes with smaller strides.

    `steps` are pairs of stride in bytes and size, by increasing stride; `item` is the size of an
    element in bytes.
    """
    end = item
    for step, size in steps:
        if step < end:
            return False
        end += step * (size - 1)
    return True


def _meets(steps: Sequence[tuple[int, int]], item: int) -> bool:
    """True if two elements overlap, found by listing the positions of all elements in bytes."""
    import numpy as np

    places: Any = np.zeros(1, np.int64)
    for step, size in steps:
        places = np.asarray(np.add.outer(places, np.arange(size) * step)).reshape(-1)
    places.sort()
    return bool((places[1:] - places[:-1] < item).any())


def _bytes_of(value: Any) -> tuple[int, list[int]]:
    """Return the size of an element, and the stride of each axis, in bytes."""
    import torch

    if not isinstance(value, torch.Tensor):
        return value.itemsize, list(value.strides)
    size = value.element_size()
    return size, [size * stride for stride in value.stride()]


def _addresses(value: Any) -> Any:
    """
    Return an array over the bytes of a tensor or array. Only its addresses are used; it is never
    read.
    """
    import numpy as np

    if isinstance(value, np.ndarray):
        return cast(Any, value)
    return np.asarray(_Extent(value))


class _Extent:
    """Memory of a tensor, on any device, in NumPy's array interface."""

    def __init__(self, tensor: Any):
        size, strides = _bytes_of(tensor)
        self.__array_interface__ = {
            "version": 3,
            "data": (tensor.data_ptr(), True),
            "shape": tuple(tensor.shape),
            "strides": tuple(strides),
            "typestr": f"|V{size}",
        }

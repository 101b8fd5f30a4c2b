# SPDX-License-Identifier: Apache-2.0
"""Conversion of tensors to NumPy arrays and back, bit for bit; bfloat16 uses `ml_dtypes`."""

from collections.abc import Mapping
from typing import Any, cast

from tilewright.errors import UsageError

ROUNDOFF: Mapping[str, float] = {
    "float64": 2.0**-53,
    "float32": 2.0**-24,
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
}
"""Unit roundoff by dtype: the largest relative error of rounding a number to the dtype."""

SMALLEST: Mapping[str, float] = {
    "float64": 2.0**-1074,
    "float32": 2.0**-149,
    "float16": 2.0**-24,
    "bfloat16": 2.0**-133,
}
"""
Smallest positive (subnormal) number by dtype, which is the distance of the dtype's numbers next to
zero.
"""

MAX_RANK = 64
"""Most dimensions of a NumPy array (NumPy 2, `NPY_MAXDIMS`)."""


def dtype_named(name: str) -> Any:
    """Return NumPy's dtype of that name; bfloat16 comes from `ml_dtypes`."""
    import numpy as np

    if name != "bfloat16":
        return np.dtype(name)
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16)


def array_of(tensor: Any) -> Any:
    """Return a tensor's elements as an array of the same dtype; bfloat16 comes from `ml_dtypes`."""
    import torch

    values = tensor.detach().resolve_neg().cpu()
    if values.dtype != torch.bfloat16:
        return values.numpy()
    return values.contiguous().view(torch.int16).numpy().view(dtype_named("bfloat16"))


def tensor_of(value: Any) -> Any:
    """
    Return an array's elements as a CPU tensor of the same dtype; a tensor is returned unchanged.

    Raises `UsageError` for a masked array, and for a dtype that PyTorch does not have.
    """
    import numpy as np
    import torch

    if isinstance(value, torch.Tensor):
        return value
    array = as_array(value)
    array = array if array.flags.writeable and _has_tensor_strides(array) else array.copy()
    if is_bfloat16 := array.dtype.name == "bfloat16":
        array = array.view(np.int16)
    try:
        # as_tensor would use the user's default device
        tensor = cast(Any, torch).from_numpy(array)
    except (TypeError, ValueError) as err:
        raise UsageError(f"PyTorch has no tensors of NumPy's dtype {array.dtype}") from err
    return tensor.view(torch.bfloat16) if is_bfloat16 else tensor


def _has_tensor_strides(array: Any) -> bool:
    """
    True if PyTorch can share the array: its strides are non-negative multiples of the element size.
    """
    return all(step >= 0 and step % array.itemsize == 0 for step in array.strides)


def as_array(value: Any) -> Any:
    """
    Return an array for a tensor, an array, or another value that `numpy.asarray` takes.

    Raises `UsageError` for a masked array, because `numpy.asarray` would drop its mask.
    """
    import numpy as np
    import torch

    if isinstance(value, torch.Tensor):
        return array_of(value)
    if isinstance(value, np.ma.MaskedArray):
        raise UsageError(
            "a masked array has no counterpart in PyTorch",
            remedy="pass its filled() elements, and the mask as an input of its own",
        )
    return cast(Any, np.asarray(value))

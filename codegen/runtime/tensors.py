# SPDX-License-Identifier: Apache-2.0
"""
Tensors of a plan: inputs in the layout that kernels read, and new memory from PyTorch's allocator.

Kernels read row-major arrays without gaps, at aligned addresses. A tensor with this layout is
passed without a copy; any other is copied.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

from tilewright.codegen.launch_plan import ArrayType, Plan
from tilewright.dialects.buffer_plan import ALIGNMENT


class Stream(NamedTuple):
    """A stream on which PyTorch queues work."""

    handle: int
    is_capturing: bool
    """True if the user's CUDA graph captures the stream's work."""


_OF_CPU = Stream(0, False)


def current_stream(device: str) -> Stream:
    """Return PyTorch's current stream of a device."""
    if device == "cpu":
        return _OF_CPU
    import torch

    handle: int = _stream_number()(_ordinal(device))
    return Stream(handle, torch.cuda.is_current_stream_capturing())


@cache
def _stream_number() -> Callable[[int], int]:
    """
    Return PyTorch's function from the number of a GPU to its current stream. Code that
    torch.compile writes calls it, too. The public `torch.cuda.current_stream` makes an object.
    """
    from importlib import import_module

    return import_module("torch._C")._cuda_getCurrentRawStream


@cache
def _ordinal(device: str) -> int:
    """Return the number of a GPU, named as in PyTorch: `cuda:1`."""
    import torch

    return torch.device(device).index


def new_tensor(type: ArrayType, device: str) -> Any:
    """Return a new uninitialised tensor at an address that is a multiple of 256 bytes."""
    return aligned(maker(type, device)(), type)


def maker(type: ArrayType, device: str) -> Callable[[], Any]:
    """Return a function that makes a new uninitialised tensor at each call."""
    import torch

    # `empty_like` is faster than `empty`, which parses a shape, a dtype and a device. It needs no
    # memory of the other tensor.
    like = torch.empty(type.shape, dtype=getattr(torch, type.dtype.name), device=device)
    like.untyped_storage().resize_(0)
    return partial(torch.empty_like, like)


def aligned(tensor: Any, type: ArrayType) -> Any:
    """Return a new tensor, or another if its address is not a multiple of 256 bytes."""
    import torch

    if not tensor.data_ptr() % ALIGNMENT:
        return tensor
    room = torch.empty(type.bytes + ALIGNMENT, dtype=torch.uint8, device=tensor.device)
    start = -room.data_ptr() % ALIGNMENT
    return room[start : start + type.bytes].view(tensor.dtype).view(type.shape)


class Fit(NamedTuple):
    """Properties of the tensors that kernels can read as an input, without a copy."""

    shape: Any
    """Shape, as a `torch.Size`; None if all tensors are copied."""
    dtype: Any
    device: Any
    alignment: int
    """Number of bytes of which the address is a multiple."""

    def takes(self, tensor: Any) -> bool:
        """True if `tensor` has these properties, and no gaps, and its values as they are stored."""
        return (
            tensor.shape == self.shape
            and tensor.dtype is self.dtype
            and not tensor.data_ptr() % self.alignment
            and tensor.is_contiguous()
            and tensor.device == self.device
            and not tensor.is_neg()
        )


def loaders(plan: Plan, device: str) -> list["Loader"]:
    """Return the loader of each input of a plan."""
    return [Loader(plan, number, device) for number in range(len(plan.inputs))]


class Loader:
    """
    Converter of the tensors given for one input to the layout that kernels read.

    A tensor that does not have this layout is copied. The copy of a module's parameter, or of a
    permuted input, is cached until the tensor is at another address, or PyTorch counts a change of
    it. PyTorch does not count writes through `.data`. A user's CUDA graph uses the copy of the time
    of its capture, which is then never freed.
    """

    def __init__(self, plan: Plan, number: int, device: str):
        import torch

        self._plan, self._number = plan, number
        self._type = plan.inputs[number]
        self._shape = torch.Size(self._type.shape)
        self._dtype = getattr(torch, self._type.dtype.name)
        self._device = torch.device(device)
        self._axes = plan.permuted.get(number)
        shape = self._shape if self._axes is None else None
        self.fit = Fit(shape, self._dtype, self._device, plan.alignments[number])
        is_own = number in plan.source_names or number in plan.permuted
        self._is_cached = is_own and number not in plan.written
        self._cached: _CachedCopy | None = None
        self._captured: list[_CachedCopy] = []

    def load(self, tensor: Any) -> Any:
        """
        Return `tensor` if kernels can read it, else a copy. Raises `UsageError` for another shape
        or dtype.
        """
        return tensor if self.fit.takes(tensor) else self.copy_of(tensor)

    def copy_of(self, tensor: Any, is_capturing: bool = False) -> Any:
        """Return a copy that kernels can read. Raises `UsageError` for another shape or dtype."""
        if tensor.shape != self._shape or tensor.dtype is not self._dtype:
            given = f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
            raise self._plan.mismatch(self._number, given)
        if not self._is_cached or tensor.is_inference():
            return self._copied(tensor)
        cached, key = self._cached, _key(tensor)
        if cached is not None and cached.key == key:
            if is_capturing:
                self._captured.append(cached)
            return cached.copy
        copy = self._copied(tensor)
        if is_capturing:
            return copy  # the copy is not done yet, so no other call may use it
        self._synchronize()
        self._cached = _CachedCopy(key, tensor.detach(), copy)
        return copy

    def _synchronize(self) -> None:
        """
        Wait until the device is idle: calls on all streams share a cached copy, so the new copy
        must be complete and the old one unused.
        """
        import torch

        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)

    def _copied(self, tensor: Any) -> Any:
        axes = range(tensor.dim()) if self._axes is None else self._axes
        source = tensor.detach().permute(tuple(axes))
        type = ArrayType(tuple(source.shape), self._type.dtype)
        return new_tensor(type, str(self._device)).copy_(source)


class _CachedCopy(NamedTuple):
    key: tuple[Any, ...]
    tensor: Any
    """The tensor itself, which is kept so that its address is not reused by another tensor."""
    copy: Any


def _key(tensor: Any) -> tuple[Any, ...]:
    """
    Return a key that changes if the tensor's values may have changed, or it is another tensor.
    """
    return tensor.data_ptr(), tensor._version, tensor.stride(), tensor.device

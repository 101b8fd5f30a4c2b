# SPDX-License-Identifier: Apache-2.0
"""Checks that kernels need no more memory, parameters and hardware units than the target has."""

from collections.abc import Iterable
from typing import NamedTuple

from tilewright.codegen.launch_plan import Launch
from tilewright.dialects import cuda
from tilewright.dialects.target import PARAMETER_BYTES, target
from tilewright.errors import UnsupportedError

_HOPPER = 90
"""First architecture with a tensor memory accelerator and clusters (PTX ISA, sm_90)."""

_POINTER_BYTES, _TENSOR_MAP_BYTES = 8, 128
"""Bytes of a pointer and of a tensor map among the parameters (CUDA Driver API, CUtensorMap)."""


def check_launches(launches: Iterable[Launch], name: str) -> None:
    """Raise `UnsupportedError` for the first launch that the target called `name` cannot run."""
    for launch in launches:
        buffers = len(launch.inputs) + len(launch.outputs)
        needs = _Needs(launch.shared_bytes, buffers, len(launch.tensor_maps), launch.cluster)
        _check(launch.kernel, needs, name)


def check_kernels(kernels: Iterable[cuda.FuncOp], name: str) -> None:
    """
    Raise `UnsupportedError` for the first kernel of CUDA IR that the target called `name` cannot
    run.
    """
    for kernel in kernels:
        buffers, maps = len(kernel.buffers), len(kernel.tensor_maps)
        needs = _Needs(kernel.shared_bytes, buffers, maps, kernel.blocks_in_cluster)
        _check(kernel.sym_name.data, needs, name)


class _Needs(NamedTuple):
    shared_bytes: int
    buffers: int
    tensor_maps: int
    cluster: int

    @property
    def parameter_bytes(self) -> int:
        """
        Size of the kernel's parameters in bytes: a pointer to each buffer, and the tensor maps.
        """
        return _POINTER_BYTES * self.buffers + _TENSOR_MAP_BYTES * self.tensor_maps


def _check(kernel: str, needs: _Needs, name: str) -> None:
    most = target(name).shared_per_block
    is_older = int("".join(filter(str.isdigit, name))) < _HOPPER
    message = remedy = ""
    if needs.shared_bytes > most:
        message = f"its blocks take {needs.shared_bytes} bytes of shared memory; {name} has {most}"
    elif needs.parameter_bytes > PARAMETER_BYTES:
        message = (
            f"it takes {needs.parameter_bytes} bytes of parameters, more than {PARAMETER_BYTES}"
        )
        remedy = "split it into kernels of fewer buffers"
    elif needs.tensor_maps and is_older:
        message = f"{name} has no tensor memory accelerator; sm_90a has one"
    elif needs.cluster > 1 and is_older:
        message = f"{name} has no clusters of blocks; sm_90a has them"
        remedy = "let its blocks join with join(last_block)"
    if message:
        raise UnsupportedError(message, where=f"kernel @{kernel}", remedy=remedy)

# SPDX-License-Identifier: Apache-2.0
"""Machine code and PTX of the kernels of a CUDA text, compiled in parallel."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from tilewright.codegen import nvrtc
from tilewright.codegen.kernel_texts import kernel_texts
from tilewright.codegen.launch_plan import SOURCE_NAME
from tilewright.codegen.nvrtc import Compiled, CompiledCubin

Made = TypeVar("Made")


def machine_code(source: str, kernels: Iterable[str], target: str) -> dict[str, CompiledCubin]:
    """
    Return for each kernel the cubin that contains it, by kernel name.

    Raises `CudaCompileError` and `NvrtcUnavailable`.
    """
    return _made(nvrtc.compile_cubins, source, kernels, target)


def ptx(source: str, kernels: Iterable[str], target: str) -> dict[str, Compiled]:
    """
    Return for each kernel the PTX that contains it, by kernel name.

    Raises `CudaCompileError` and `NvrtcUnavailable`.
    """
    return _made(nvrtc.compile_each, source, kernels, target)


def _made(
    compile: Callable[..., Sequence[Made]], source: str, kernels: Iterable[str], target: str
) -> dict[str, Made]:
    texts = kernel_texts(source, kernels)
    made = compile([*texts.values()], target, name=SOURCE_NAME)
    return dict(zip(texts, made, strict=True))

# SPDX-License-Identifier: Apache-2.0
"""Stage `environment`: the installed software and the GPU, a line for each."""

from collections.abc import Callable, Mapping
from typing import Any

from gpu_checks.device import Device
from gpu_checks.outcome import Outcome, missing, right, wrong
from gpu_checks.tool import last_line, output_of, version_in
from tilewright.codegen import nvrtc
from tilewright.tools.commands.doctor import PARTS, Part
from tilewright.tools.toolkit import find_tool

_NEEDED = {"tilewright", "Python", "xdsl", "numpy", "torch", "NVRTC"}
_NEEDED_ON_GPU = {"GPU"}
_TOOLS = ("nvcc", "ncu", "compute-sanitizer", "nvidia-smi")
_ASKED = (
    "name",
    "driver_version",
    "clocks.sm",
    "clocks.max.sm",
    "clocks.mem",
    "clocks.max.mem",
    "power.draw",
    "power.limit",
    "temperature.gpu",
    "ecc.mode.current",
)
_MEGABYTE = 1 << 20


def items(device: Device) -> list[str]:
    """Return the names of the checked parts."""
    return [*dict.fromkeys((*_parts(), *_TOOLS, *(_ON_GPU if device.is_gpu else ())))]


def check(device: Device, item: str) -> Outcome:
    """Return the outcome with a line about one part."""
    if item in _TOOLS:
        return _tool(item)
    if item in _ON_GPU:
        return _ON_GPU[item]()
    part = _parts()[item]
    found = part.find()
    if found is not None:
        return right(found)
    needed = _NEEDED | (_NEEDED_ON_GPU if device.is_gpu else set[str]())
    return (wrong if item in needed else missing)(f"not found: {part.remedy}".replace("\\[", "["))


def _parts() -> dict[str, Part]:
    return {part.name: part for part in PARTS}


def _tool(name: str) -> Outcome:
    path = find_tool(name)
    if path is None:
        return missing("not found")
    _, text = output_of([path, "--version"])
    return right(f"{version_in(last_line(text))}, {path}")


def _torch() -> Outcome:
    """
    Return the outcome with the versions of PyTorch and its CUDA; it is wrong if PyTorch cannot use
    the GPU.
    """
    import torch

    says = f"{torch.__version__}, made for CUDA {torch.version.cuda}"
    if not torch.cuda.is_available():
        return wrong(f"{says}; it cannot use a GPU")
    x: Any = torch.ones(1000, device="cuda")
    return right(f"{says}; counts to {int(x.sum())} on {torch.cuda.get_device_name()}")


def _driver() -> Outcome:
    """
    Return the outcome with the CUDA version of the driver. It is wrong if the major version is
    older than NVRTC's.
    """
    from tilewright.codegen.runtime.gpu_backend import best_driver
    from tilewright.codegen.runtime.libcuda import libcuda

    supports, compiled = libcuda().version(), nvrtc.version()
    says = "supports CUDA {}.{}, NVRTC is {}.{}".format(*supports, *compiled)
    says += f"; kernels are launched by {best_driver()}"
    return right(says) if supports[0] >= compiled[0] else wrong(f"{says}: update the driver")


def _memory() -> Outcome:
    """
    Return the outcome with the bandwidth of a copy in GPU memory, in bytes read plus bytes written.
    """
    import torch

    pytorch: Any = torch
    properties = pytorch.cuda.get_device_properties(0)
    bytes_ = min(1024 * _MEGABYTE, properties.total_memory // 8)
    x = torch.empty(bytes_, dtype=torch.uint8, device="cuda")
    y = torch.empty_like(x)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times: list[float] = []
    for _ in range(10):
        begin.record()
        y.copy_(x)
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    rate = 2 * bytes_ / sorted(times)[len(times) // 2] / 1e9
    says = (
        f"{properties.total_memory // _MEGABYTE} MiB, a copy moves {rate:.2f} TB/s; "
        f"{properties.multi_processor_count} SMs"
    )
    return right(says, copy_tb_per_s=rate, sms=properties.multi_processor_count)


def _clocks() -> Outcome:
    """Return the outcome with the current clocks and power of the GPU, by nvidia-smi."""
    path = find_tool("nvidia-smi")
    if path is None:
        return missing("nvidia-smi is not found")
    code, text = output_of([path, f"--query-gpu={','.join(_ASKED)}", "--format=csv,noheader"])
    if code:
        return missing(f"nvidia-smi fails: {last_line(text)}")
    values = [value.strip() for value in text.splitlines()[0].split(",")]
    found = dict(zip(_ASKED, values, strict=False))
    return right(", ".join(f"{name} {value}" for name, value in found.items()), **found)


_ON_GPU: Mapping[str, Callable[[], Outcome]] = {
    "torch.cuda": _torch,
    "driver": _driver,
    "memory": _memory,
    "clocks": _clocks,
}

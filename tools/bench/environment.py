# SPDX-License-Identifier: Apache-2.0
"""
Environment that times depend on. Times of different environments are not compared, nor kept in one
file.
"""

import platform
from collections.abc import Iterable
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tilewright
from tilewright.codegen import nvrtc
from tilewright.codegen.report.disassemble import find_nvdisasm
from tilewright.codegen.runtime.libcuda import libcuda
from tilewright.codegen.timing.device import Device
from tilewright.tools.bench.contestants import float32_settings
from tilewright.tuning.knowledge import Db, fastest_records

_PACKAGES = ("torch", "transformers", "triton", "xdsl")
_FOLDERS = ("codegen", "dialects", "frontend", "models", "passes", "tools.bench", "tuning")
"""Packages whose sources compile or measure kernels."""


def environment(device: Device, contestants: Iterable[str], db: Db) -> dict[str, Any]:
    """Return the GPU, the versions, and digests of the sources and of the schedules in `db`."""
    return {
        "gpu": device.name,
        "flops": device.peaks.flops,
        "bandwidth": device.peaks.bandwidth,
        "tensor_flops": device.peaks.tensor_flops,
        "driver": ".".join(map(str, libcuda().version())),
        "nvrtc": ".".join(map(str, nvrtc.version())),
        "python": platform.python_version(),
        **{name: version(name) for name in _PACKAGES if find_spec(name)},
        "tilewright": tilewright.__version__,
        "sources": sources(),
        "schedules": schedules(db),
        "contestants": list(contestants),
        "float32 of PyTorch": float32_settings(),
    }


def static_environment(target: str, db: Db) -> dict[str, Any]:
    """Return the versions and digests that estimates depend on. Nothing is timed for them."""
    return {
        "target": target,
        "nvrtc": ".".join(map(str, nvrtc.version())),
        "clock": find_nvdisasm() is not None,
        "python": platform.python_version(),
        **{name: version(name) for name in ("torch", "xdsl")},
        "tilewright": tilewright.__version__,
        "sources": sources(),
        "schedules": schedules(db),
    }


def sources() -> str:
    """Return a digest of all source files that kernels depend on."""
    digest = sha256()
    for package in _FOLDERS:
        folder = Path(str(import_module(f"tilewright.{package}").__file__)).parent
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".cuh", ".toml"):
                digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def schedules(db: Db) -> str:
    """Return a digest of the fastest schedules in a database; empty if there are none."""
    records = fastest_records(db, [None]).get(None, ())
    fastest = [(*r.key, r.measurement.schedule) for of_key in records for r in of_key]
    return sha256(repr(fastest).encode()).hexdigest()[:16] if fastest else ""

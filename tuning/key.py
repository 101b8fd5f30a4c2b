# SPDX-License-Identifier: Apache-2.0
"""
Keys and records of measurements. Neither this module nor the database imports xDSL: a process that
only stores measurements starts at once.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from tilewright.tuning.measurement import Measurement

SEMANTICS = 1
"""
Version of the meaning of schedules. Raise it if a pipeline string changes its meaning, so that old
times are not taken for times of the kernels that it makes now. Added or removed options do not
raise it: schedules that no longer apply are skipped.
"""

CANONICAL = "arg"
"""Prefix of canonical input names: stored schedules call them arg0, arg1, ... (`operand_names`)."""


class Key(NamedTuple):
    """Key of measurements that can be compared with each other, and with no others."""

    kernel: str
    """Digest of the kernel's Loop IR (`kernel_key.digest`)."""
    dtype: str
    """
    Types of the arguments, each once: `f16,f32`. The types are also part of the digest, where they
    cannot be read.
    """
    target: str
    """Target of the schedules: `sm_90a`."""
    device: str
    """Measured device: the name of a GPU, or the target if a model computed the time."""
    evaluator: str
    """
    Source of the times: `gpu`, `model`, `clock`, which simulates machine code, or `evidence`, which
    estimates from it where nvdisasm is missing.
    """
    semantics: int
    """`SEMANTICS` of the compiler."""
    nvrtc: str
    """Version of NVRTC, `13.0`; empty if it was not used."""

    @classmethod
    def of(
        cls,
        digest: str,
        types: Iterable[str],
        target: str,
        evaluator: str,
        gpu: str | None,
        nvrtc: str,
    ) -> Self:
        """
        Return the key of a kernel or program of these types: on that GPU, or for a model if `gpu`
        is None.
        """
        device = target if gpu is None else gpu
        dtypes = ",".join(dict.fromkeys(types))
        return cls(digest, dtypes, target, device, evaluator, SEMANTICS, nvrtc)


class KernelNote(NamedTuple):
    """Note for readers about a kernel, with all data needed to make it again."""

    kernel: str
    """Digest of the kernel."""
    name: str
    about: str
    """Signature of the kernel: `matmul(512x64xf32, 64x96xf32) -> 512x96xf32`."""
    inputs: tuple[str, ...]
    """Names of the kernel's inputs in `ir`, and in the IR of `origin`; empty for unnamed ones."""
    origin: str
    """PyTorch expression that contains the kernel, in the form that `-c` accepts, or empty."""
    ir: str
    """Text of the kernel at Loop IR."""


class Record(NamedTuple):
    """A stored measurement."""

    key: Key
    measurement: Measurement
    """Measurement whose schedule has the canonical names."""
    measured_at: str
    """Time in UTC, as ISO 8601, to the microsecond."""


def as_fast(records: Sequence[Record]) -> list[Record]:
    """Return the first record, which is the fastest, and those as fast within noise."""
    best = records[0].measurement
    return [record for record in records if record.measurement.is_as_fast_as(best)]

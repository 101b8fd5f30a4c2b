# SPDX-License-Identifier: Apache-2.0
"""
What measurements are kept by, and what is kept of them. Nothing here, nor in the database, imports
xDSL: a process that only writes down what others have measured starts at once.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from tilewright.tuning.measurement import Measurement

SEMANTICS = 1
"""
What schedules mean. To be raised when a pipeline string comes to mean something else, so that times
of old are not taken for those of the kernels that it makes now. Options that come or go raise
nothing: what does not apply any more is left out.
"""

CANONICAL = "arg"
"""Schedules are kept with the inputs of their kernel called arg0, arg1, ... (`operand_names`)."""


class Key(NamedTuple):
    """Measurements of one key can be compared with each other, and with no others."""

    kernel: str
    """The digest of its Loop IR (`kernel_key.digest`)."""
    dtype: str
    """Of its arguments, each once: `f16,f32`. The digest says it too, but not to people."""
    target: str
    """What the schedules are for: `sm_90a`."""
    device: str
    """Who was measured: the name of a GPU, or the target where a model has computed it."""
    evaluator: str
    """Who has measured: `gpu` or `model`; `evidence` is an estimate of machine code."""
    semantics: int
    """The `SEMANTICS` of the compiler."""
    nvrtc: str
    """The version of NVRTC, `13.0`; empty where none was asked."""

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
        Return the key of a kernel or program of these types: on that GPU, or by a model without
        one.
        """
        device = target if gpu is None else gpu
        dtypes = ",".join(dict.fromkeys(types))
        return cls(digest, dtypes, target, device, evaluator, SEMANTICS, nvrtc)


class KernelNote(NamedTuple):
    """What a person wants to know of a kernel, and what it takes to make it again."""

    kernel: str
    """Its digest."""
    name: str
    about: str
    """Its arguments: `matmul(512x64xf32, 64x96xf32) -> 512x96xf32`."""
    inputs: tuple[str, ...]
    """The names of its inputs, as far as they have some, in `ir` and in what comes of `origin`."""
    origin: str
    """A PyTorch expression, as `-c` takes it, that has this kernel in it; empty for others."""
    ir: str
    """Its text at Loop IR."""


class Record(NamedTuple):
    """A measurement that is kept."""

    key: Key
    measurement: Measurement
    """Its schedule has the canonical names."""
    measured_at: str
    """UTC, as ISO 8601 has it, to the microsecond."""


def as_fast(records: Sequence[Record]) -> list[Record]:
    """Return the first record, which is the fastest, and those that differ from it by noise."""
    best = records[0].measurement
    return [record for record in records if record.measurement.is_as_fast_as(best)]

# SPDX-License-Identifier: Apache-2.0
"""What a launch asks for that not every target has."""

from collections.abc import Iterable

from tilewright.codegen.launch_plan import Launch
from tilewright.dialects.target import target
from tilewright.errors import UnsupportedError

_HOPPER = 90
"""The first architecture with a tensor memory accelerator and clusters (PTX ISA, sm_90)."""


def check_launches(launches: Iterable[Launch], name: str) -> None:
    """`UnsupportedError` for the first launch that the target called `name` cannot do."""
    most = target(name).shared_per_block
    is_older = int("".join(filter(str.isdigit, name))) < _HOPPER
    for launch in launches:
        if launch.shared_bytes > most:
            raise _unsupported(
                launch,
                f"its blocks take {launch.shared_bytes} bytes of shared memory; {name} has {most}",
            )
        if launch.tensor_maps and is_older:
            raise _unsupported(launch, f"{name} has no tensor memory accelerator; sm_90a has")
        if launch.cluster > 1 and is_older:
            raise _unsupported(launch, f"{name} has no clusters of blocks; sm_90a has")


def _unsupported(launch: Launch, message: str) -> UnsupportedError:
    return UnsupportedError(message, where=f"kernel @{launch.kernel}")

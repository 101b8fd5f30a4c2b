# SPDX-License-Identifier: Apache-2.0
"""
Damage to files, repeatable by a seed: flipped bits, overwritten blocks, cut ends, changed JSON.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, cast

_BLOCKS = (1, 4, 16, 512, 4096)
"""Sizes in bytes of blocks that are overwritten at once."""

_VALUES: Sequence[Any] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400, 0.5, 1e300, float("inf")),
    *(float("nan"), "", "x", "1", "\ud800", "\0", [], [None], [[]], {}, {"x": None}, [0] * 9),
)
"""Values that replace a value in JSON."""


def _with_flipped_bits(data: bytearray, random: Random) -> None:
    for _ in range(random.choice((1, 1, 1, 2, 8))):
        bit = random.randrange(8 * len(data))
        data[bit // 8] ^= 1 << bit % 8


def _with_other_block(data: bytearray, random: Random) -> None:
    size = min(random.choice(_BLOCKS), len(data))
    at, other = (random.randrange(len(data) - size + 1) for _ in range(2))
    copied, noise = data[other : other + size], random.randbytes(size)
    data[at : at + size] = random.choice((copied, bytes(size), b"\xff" * size, noise))


def _without_end(data: bytearray, random: Random) -> None:
    del data[random.randrange(len(data)) :]


_KINDS: Sequence[Callable[[bytearray, Random], None]] = (
    *(_with_flipped_bits,) * 4,
    *(_with_other_block,) * 2,
    _without_end,
)


def damaged(data: bytes, random: Random) -> bytes:
    """Return `data`, which is not empty, with one kind of damage."""
    changed = bytearray(data)
    random.choice(_KINDS)(changed, random)
    return bytes(changed)


def retyped(text: str, random: Random) -> str:
    """Return JSON with one value replaced, removed, repeated or moved."""
    content = json.loads(text)
    places = [*_places(content)]
    holder, key = random.choice(places)
    change = random.randrange(8)
    if change == 0:
        del holder[key]
    elif change == 1:
        holder[key] = [holder[key], holder[key]]
    elif change == 2:
        other, its_key = random.choice(places)
        holder[key] = json.loads(json.dumps(other[its_key]))
    else:
        holder[key] = random.choice(_VALUES)
    return json.dumps(content)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container in a value with each of its keys or indices."""
    if isinstance(value, dict):
        keys: Sequence[Any] = [*cast(dict[Any, Any], value)]
    else:
        keys = range(len(cast(list[Any], value))) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])

# SPDX-License-Identifier: Apache-2.0
"""
Buckets: the lengths that programs are compiled for.

A program has one length. A prompt of another is filled up to the next bucket, and the cache has
room for the next bucket of all tokens; so a model needs few programs, whatever it is asked.
"""

SMALLEST = 16


def bucket(length: int, most: int) -> int:
    """
    The smallest bucket that holds `length` tokens: a power of two from 16 on, or `most`, the
    largest number of tokens that the model takes. `length` must not be more than that.
    """
    assert 0 < length <= most
    size = SMALLEST
    while size < length:
        size *= 2
    return min(size, most)

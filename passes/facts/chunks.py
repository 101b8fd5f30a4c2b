# SPDX-License-Identifier: Apache-2.0
"""
Reductions in chunks: a reduction whose step is to fold a chunk with the same monoid.

    %sum = loop.reduce %ko in 7 with add {
      %chunk = loop.reduce %ki in 5 with add { ... }
      loop.yield %chunk : f32
    }

The two need one accumulator.
"""

from tilewright.dialects import loop


def chunk_of(op: loop.ReduceOp) -> loop.ReduceOp | None:
    """The reduction that does a chunk of `op` in each step; a reduction of one step has none."""
    return None if op.has_one_step else nested_chunk(op)


def nested_chunk(op: loop.ReduceOp) -> loop.ReduceOp | None:
    """The reduction that does a chunk of `op` in each step, and be it a single one."""
    chunk = op.yield_op.values[0].owner
    if not isinstance(chunk, loop.ReduceOp) or chunk.parent is not op.body.block:
        return None
    passed_on = chunk.results == tuple(op.yield_op.values) and op.yield_op.mask is None
    is_only_use = all(result.has_one_use() for result in chunk.results)
    return chunk if passed_on and is_only_use and chunk.monoid == op.monoid else None


def whole_of(op: loop.ReduceOp) -> loop.ReduceOp | None:
    """The reduction of which `op` does a chunk in each step."""
    whole = op.parent_op()
    return whole if isinstance(whole, loop.ReduceOp) and chunk_of(whole) is op else None

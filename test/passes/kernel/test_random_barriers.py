# SPDX-License-Identifier: Apache-2.0
"""
Random kernels with barriers: the passes on barriers add no race, and change no result.

`drop-redundant-barriers` drops barriers, and `narrow-barriers` narrows them. The interpreter finds
races, including those of passes that go too far.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
import pytest
from draws import drawn
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tilewright.dialects import kernel
from tilewright.dialects.kernel.barrier import MeetingOp
from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError
from tilewright.passes.driver.lowering import context
from tilewright.passes.kernel.drop_redundant_barriers import DropRedundantBarriersPass
from tilewright.passes.kernel.narrow_barriers import NarrowBarriersPass

BARRIER = "kernel.barrier"


class Nest(NamedTuple):
    """A loop, or a branch that threads of a block take together, and its body."""

    head: str
    body: Sequence["str | Nest"]


def drop_all(module: ModuleOp) -> None:
    """Drop all barriers, more than `drop-redundant-barriers` may."""
    for op in [op for op in module.walk() if isinstance(op, MeetingOp)]:
        Rewriter.erase_op(op)


def narrow_all(module: ModuleOp) -> None:
    """Narrow all barriers, more than `narrow-barriers` may."""
    for op in [op for op in module.walk() if isinstance(op, kernel.BarrierOp)]:
        Rewriter.replace_op(op, kernel.WarpBarrierOp())


class Kind(NamedTuple):
    """Kind of random kernel: the threads of a block, its statements, and a pass to test."""

    threads: int
    statements: Sequence[str]
    rewrite: type[ModulePass]
    too_far: Callable[[ModuleOp], None]
    """The pass's rewrite, applied to every barrier."""
    needed: Sequence[str]
    """A kernel whose barriers must all remain unchanged."""


WHOLE = ["store a", "store b", "load a", "load b"]
IN_WARPS = ["store a", "store b", "in_warp a", "in_warp b", "in_warp a", "load b"]
IN_PARTS = ["store a", "store b", "in_warp a", "in_pair a", "in_pair b"]
PARTS = [
    "kernel.warp_barrier",
    "kernel.named_barrier %pair threads 64",
    "kernel.named_barrier %pair threads 64",
    "kernel.named_barrier %warp threads 32",
    "kernel.named_barrier %c2 threads 128",
]
KINDS = {
    "drop those of blocks": Kind(
        40,
        [*[BARRIER] * 5, *WHOLE],
        DropRedundantBarriersPass,
        drop_all,
        ["load a", BARRIER, "store a", BARRIER, "load a"],
    ),
    "drop those of parts of blocks": Kind(
        128,
        [*PARTS * 3, *[BARRIER] * 3, *IN_PARTS],
        DropRedundantBarriersPass,
        drop_all,
        ["in_pair a", PARTS[1], "store a", PARTS[0], "in_warp a"],
    ),
    "narrow": Kind(
        64,
        [*[BARRIER] * 5, *IN_WARPS],
        NarrowBarriersPass,
        narrow_all,
        ["load a", BARRIER, "store a", BARRIER, "load a"],
    ),
}
HEADS = st.sampled_from(
    ["scf.for %K = %c0 to %c2 step %c1", "scf.for %K = %c0 to %b step %c1", "scf.if %second"]
)
SUBSCRIPTS = {
    "load": "LAST - %t",
    "in_warp": "%t floordiv 32 * 32 + 31 - %t mod 32",
    "in_pair": "%t floordiv 64 * 64 + 63 - %t mod 64",
}


def bodies(kind: Kind) -> st.SearchStrategy[list[str | Nest]]:
    """Draw the body of a kernel."""
    statements = st.sampled_from(kind.statements)
    return st.recursive(
        st.lists(statements, min_size=1, max_size=6),
        lambda inner: st.lists(statements | st.builds(Nest, HEADS, inner), min_size=1, max_size=6),
        max_leaves=3,
    )


def lines(body: Sequence[str | Nest], numbers: Iterator[int]) -> Iterator[str]:
    """Yield the text. Each store has a value of its own, and each load a row of the output."""
    for statement in body:
        number = next(numbers)
        match statement:
            case Nest(head, inner):
                yield head.replace("%K", f"%k{number}") + " {"
                yield from lines(inner, numbers)
                yield "}"
            case "store a" | "store b":
                yield f"%v{number} = arith.constant {number}.0 : f32"
                yield f"loop.store %v{number}, %{statement[-1]}_array[%t] : ARRAY"
            case str() if (access := statement.partition(" "))[0] in SUBSCRIPTS:
                subscript = SUBSCRIPTS[access[0]]
                yield f"%v{number} = loop.load %{access[2]}_array[{subscript}] : ARRAY"
                yield f"loop.store %v{number}, %out[%b, {number}, %t] : ROWS"
            case _:
                yield statement


def kernel_text(body: Sequence[str | Nest], threads: int) -> str:
    """Return a kernel of two blocks, each with two arrays that are initialised."""
    text = "\n".join(lines(body, count()))
    kernel = f"""
      kernel.func grid 2 block {threads} @k(%x: memref<{threads}xf32>) -> (%out: ROWS) {{
        %b = kernel.block_id
        %t = kernel.thread_id
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %pair = kernel.index [%t floordiv 64 + 1]
        %warp = kernel.index [%t floordiv 32 + 1]
        %second = loop.predicate [%b - 1] : i1
        %rows = arith.constant 80 : index
        %v = loop.load %x[%t] : memref<{threads}xf32>
        scf.for %row = %c0 to %rows step %c1 {{
          loop.store %v, %out[%b, %row, %t] : ROWS
        }}
        %a_array = kernel.shared : ARRAY
        %b_array = kernel.shared : ARRAY
        loop.store %v, %a_array[%t] : ARRAY
        loop.store %v, %b_array[%t] : ARRAY
        kernel.barrier
        {text}
      }}"""
    array, rows = f"memref<{threads}xf32, 3>", f"memref<2x80x{threads}xf32>"
    return kernel.replace("ARRAY", array).replace("ROWS", rows).replace("LAST", str(threads - 1))


def parsed(body: Sequence[str | Nest], kind: Kind) -> ModuleOp:
    """Return the kernel with this body."""
    return Parser(context(), kernel_text(body, kind.threads)).parse_module()


def result_of(module: ModuleOp, kind: Kind) -> Sequence[object]:
    """Return the kernel's results; raises `InterpreterError` for a race."""
    return interpret(module, np.arange(kind.threads, dtype=np.float32), function="k")


def check_random(
    kind: Kind, rewrite: Callable[[ModuleOp], None], phases: Sequence[Phase] = tuple(Phase)
) -> list[bool]:
    """
    Return whether `rewrite` changed each race-free kernel, after checking that it adds no race.
    """
    changed = list[bool]()

    @settings(max_examples=drawn(60), deadline=None, derandomize=True, phases=phases)
    @given(bodies(kind))
    def check(body: list[str | Nest]) -> None:
        module = parsed(body, kind)
        try:
            before = result_of(module, kind)
        except InterpreterError:
            return
        after = module.clone()
        rewrite(after)
        np.testing.assert_array_equal(before, result_of(after, kind))
        changed.append(str(module) != str(after))

    check()
    return changed


EACH_KIND = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@EACH_KIND
def test_the_pass_adds_no_race(kind: Kind) -> None:
    changed = check_random(kind, lambda module: kind.rewrite().apply(context(), module))
    assert any(changed)


@EACH_KIND
def test_rewrites_that_go_too_far_are_found(kind: Kind) -> None:
    with pytest.raises(InterpreterError, match="while another thread"):
        check_random(kind, kind.too_far, phases=[Phase.generate])


@EACH_KIND
def test_needed_barriers_stay(kind: Kind) -> None:
    module = parsed(kind.needed, kind)
    before = str(module)
    result_of(module, kind)  # there is no race
    kind.rewrite().apply(context(), module)
    assert str(module) == before

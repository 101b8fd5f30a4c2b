# SPDX-License-Identifier: Apache-2.0
"""
Rings in Kernel IR: one right program for each transport, and the errors of wrong ones.

In wrong programs an op is dropped, moved or miscounted. A mistake is a list of replacements in the
text of the program.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError

Parse = Callable[[str], ModuleOp]
Rand = Callable[..., NDArray[np.float32]]
Mistake = tuple[Sequence[tuple[str, str]], str]

INDICES = """%b = kernel.block_id
  %t = kernel.thread_id
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32"""


def broken(text: str, changes: Sequence[tuple[str, str]]) -> str:
    """Return `text` with each replacement made; each must have exactly one place."""
    for old, new in changes:
        assert text.count(old) == 1, f"{text.count(old)} places for {old!r}"
        text = text.replace(old, new)
    return text


# Six chunks of 128 are added up. Other threads read a chunk than copied it, and two copies are
# pending while one chunk is read.
ASYNC = f"""
kernel.func grid 2 block 32 @k(%x: memref<2x6x128xf32> {{plan.align = 16 : i64}})
    -> (%out: memref<2x128xf32>) {{
  {INDICES}
  %s = kernel.shared : memref<3x128xf32, #tile.layout<slots>, 3>
  %ring = kernel.ring bytes 512 : !kernel.ring<3, cp_async>
  %sum = kernel.registers : memref<4xf32, 5>
  kernel.unroll %i in 4 {{
    loop.store %zero, %sum[%i] : memref<4xf32, 5>
  }}
  scf.for %p = %c0 to %c2 step %c1 {{
    kernel.copy_async %x[%b, %p, %t * 4] to %s[%p, %t * 4] width 4
      : memref<2x6x128xf32>, memref<3x128xf32, #tile.layout<slots>, 3>
    kernel.ring_commit %ring, %p : !kernel.ring<3, cp_async>
  }}
  scf.for %k = %c0 to %n step %c1 {{
    kernel.ring_wait %ring, %k pending 1 : !kernel.ring<3, cp_async>
    %next = kernel.index [%k + 2]
    kernel.ring_acquire %ring, %next : !kernel.ring<3, cp_async>
    %more = loop.predicate [5 - %next] : i1
    scf.if %more {{
      kernel.copy_async %x[%b, %next, %t * 4] to %s[%next mod 3, %t * 4] width 4
        : memref<2x6x128xf32>, memref<3x128xf32, #tile.layout<slots>, 3>
    }}
    kernel.ring_commit %ring, %next : !kernel.ring<3, cp_async>
    kernel.unroll %j in 4 {{
      %v = loop.load %s[%k mod 3, 127 - %t * 4 - %j] : memref<3x128xf32, #tile.layout<slots>, 3>
      %a = loop.load %sum[%j] : memref<4xf32, 5>
      %w = arith.addf %a, %v : f32
      loop.store %w, %sum[%j] : memref<4xf32, 5>
    }}
    kernel.ring_release %ring, %k : !kernel.ring<3, cp_async>
  }}
  kernel.unroll %l in 4 {{
    %r = loop.load %sum[%l] : memref<4xf32, 5>
    loop.store %r, %out[%b, %t * 4 + %l] : memref<2x128xf32>
  }}
}}"""

ASYNC_RING = "%ring, {} : !kernel.ring<3, cp_async>"
WAIT = "kernel.ring_wait %ring, %k pending 1 : !kernel.ring<3, cp_async>"
ACQUIRE = "kernel.ring_acquire " + ASYNC_RING.format("%next")
COMMIT = "kernel.ring_commit " + ASYNC_RING.format("%next")
RELEASE = "kernel.ring_release " + ASYNC_RING.format("%k")
READ = "127 - %t * 4 - %j"
SLAB = "memref<3x128xf32, #tile.layout<slots>, 3>"

ASYNC_MISTAKES: dict[str, Mistake] = {
    "a fill without a wait": (
        [
            ("predicate [5 - %next]", "predicate [6 - %next]"),
            (
                "to %s[%next mod 3, %t * 4] width 4",
                "to %s[%next mod 3, %t * 4] width 4 where [5 - %next]",
            ),
        ],
        r"fill 6 is still under way when the kernel ends .*wait for every fill",
    ),
    "no wait": (
        [(WAIT, "")],
        r"reads element \[0, 127\], to which a copy is under way .*ring_wait",
    ),
    "the wait after the reads": (
        [(WAIT, ""), (RELEASE, f"{WAIT}\n{RELEASE}")],
        r"reads element \[0, 127\], to which a copy is under way",
    ),
    "too many pending": (
        [("pending 1", "pending 2")],
        r"block 0 waits for all but 2 groups .* fill 0 is among them: 1 were .*lower 'pending'",
    ),
    "no commit": (
        [(COMMIT, "")],
        r"block 0 waits for all but 1 groups .* fill 1 is among them: 0 were committed after it",
    ),
    "no commit where nothing is left to copy": (
        [(COMMIT, f"scf.if %more {{ {COMMIT} }}")],
        r"fill 5 is among them: 0 were committed after it .*commit an empty fill",
    ),
    "commit before the copies": (
        [(COMMIT, ""), (ACQUIRE, f"{ACQUIRE}\n{COMMIT}")],
        r"reads element \[2, 127\], to which a copy is under way",
    ),
    "no first commits": (
        [("kernel.ring_commit " + ASYNC_RING.format("%p"), "")],
        r"block 0 waits for fill 0, but only 0 fill\(s\) are committed .*kernel.ring_commit",
    ),
    "the same fill again": (
        [(COMMIT, COMMIT.replace("%next", "%c0"))],
        r"block 0 commits fill 0, but fill 2 is next .*count all fills",
    ),
    "a fill left out": (
        [(COMMIT, COMMIT.replace("%next", "%skip")), (ACQUIRE, "%skip = kernel.index [%k + 3]")],
        r"block 0 commits fill 3, but fill 2 is next",
    ),
    "the slot that is being read": (
        [("%s[%next mod 3,", "%s[%k mod 3,")],
        r"reads element \[0, 127\], to which a copy is under way",
    ),
    "the slot that is being filled": (
        [("%s[%next mod 3,", "%s[(%k + 1) mod 3,")],
        r"copies to element \[1, 0\], to which another copy is under way .*another slot",
    ),
    "reads of the slot filled next": (
        [(f"%s[%k mod 3, {READ}]", f"%s[(%k + 1) mod 3, {READ}]")],
        r"reads element \[1, 127\], to which a copy is under way",
    ),
    "waiting for another fill": (
        [(WAIT, WAIT.replace("%k", "%c0"))],
        r"reads element \[1, 127\], to which a copy is under way",
    ),
    "waiting for a fill that is long gone": (
        [(WAIT, f"{WAIT}\n{WAIT.replace('%k', '%c0')}")],
        r"block 0 waits for fill 0, whose slot fill 3 has taken .*at most 2 ahead",
    ),
    "no release": (
        [(RELEASE, "")],
        r"block 0 waits forever for the slot of fill 3: not all threads have released fill 0",
    ),
    "released before it is read": (
        [(RELEASE, ""), (ACQUIRE, f"{RELEASE}\n{ACQUIRE}")],
        r"reads element \[0, 127\], which nothing has written",
    ),
    "released twice": (
        [(RELEASE, f"{RELEASE}\n{RELEASE}")],
        r"block 0 releases fill 0, but fill 1 is next .*release every fill once",
    ),
    "released unseen": (
        [(RELEASE, RELEASE.replace("%k", "%c3"))],
        r"block 0 releases fill 3, which it has not waited for",
    ),
    "acquired too early": (
        [(ACQUIRE, ACQUIRE.replace("%next", "%n"))],
        r"block 0 waits forever for the slot of fill 6: not all threads have released fill 3",
    ),
    "copied to a slot that others still read": (
        [
            (
                RELEASE,
                f"""kernel.copy_async %x[%b, %k, %t * 4] to %s[%k mod 3, %t * 4] width 4
              : memref<2x6x128xf32>, {SLAB}""",
            ),
            (ACQUIRE, ""),
        ],
        r"begins to overwrite element \[0, 0\] while another thread uses it .*begin after the wait",
    ),
    "stores to what is on its way": (
        [(RELEASE, f"loop.store %zero, %s[(%k + 1) mod 3, %t] : {SLAB}\n{RELEASE}")],
        r"stores to element \[1, 0\], to which a copy is under way",
    ),
    "no mask": (
        [("[5 - %next]", "[6 - %next]")],
        r"subscript 1 of %x is 6, out of bounds for an axis of size 6",
    ),
    "an address between vectors": (
        [("%s[%next mod 3, %t * 4]", "%s[%next mod 3, %t * 3]")],
        r"byte 1036 of %s is not a multiple of the 16 bytes",
    ),
    "two threads copy to one place": (
        [("%s[%next mod 3, %t * 4]", "%s[%next mod 3, %t floordiv 2 * 4]")],
        r"to element \[2, 0\] .*every thread must copy to elements of its own",
    ),
    "a wait that some threads miss": (
        [(WAIT, f"%few = loop.predicate [15 - %t] : i1\nscf.if %few {{ {WAIT} }}")],
        r"only some threads of block 0 reach this 'kernel.ring_wait'",
    ),
    "a wait for another fill in each thread": (
        [(WAIT, WAIT.replace("%k", "%t"))],
        r"the count differs between the threads of block 0",
    ),
    "a wait in a nest": (
        [(WAIT, f"kernel.unroll %u in 2 {{ {WAIT} }}")],
        r"stands in a nest whose steps have no order .*scf.for",
    ),
    "a ring made again in each step": (
        [
            (WAIT, f"%again = kernel.ring bytes 512 : !kernel.ring<3, cp_async>\n{WAIT}"),
        ],
        r"the ring is created again .*before the loop",
    ),
}

# Six chunks are stored in a ring of two padded slots, each while others read the previous one.
SYNC = f"""
kernel.func grid 2 block 32 @k(%x: memref<2x6x32xf32>) -> (%out: memref<2x32xf32>) {{
  {INDICES}
  %s = kernel.shared : memref<2x32xf32, #tile.layout<slots, pad [4]>, 3>
  %ring = kernel.ring bytes 128 : !kernel.ring<2, sync>
  %first = loop.load %x[%b, 0, %t] : memref<2x6x32xf32>
  loop.store %first, %s[0, %t] : memref<2x32xf32, #tile.layout<slots, pad [4]>, 3>
  kernel.ring_commit %ring, %c0 : !kernel.ring<2, sync>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (f32) {{
    kernel.ring_wait %ring, %k pending 0 : !kernel.ring<2, sync>
    %next = kernel.index [%k + 1]
    kernel.ring_acquire %ring, %next : !kernel.ring<2, sync>
    %more = loop.predicate [5 - %next] : i1
    scf.if %more {{
      %0 = loop.load %x[%b, %next, %t] : memref<2x6x32xf32>
      loop.store %0, %s[%next mod 2, %t] : memref<2x32xf32, #tile.layout<slots, pad [4]>, 3>
    }}
    kernel.ring_commit %ring, %next : !kernel.ring<2, sync>
    %v = loop.load %s[%k mod 2, 31 - %t] : memref<2x32xf32, #tile.layout<slots, pad [4]>, 3>
    %w = arith.addf %a, %v : f32
    kernel.ring_release %ring, %k : !kernel.ring<2, sync>
    scf.yield %w : f32
  }}
  loop.store %sum, %out[%b, %t] : memref<2x32xf32>
}}"""

SYNC_WAIT = "kernel.ring_wait %ring, %k pending 0 : !kernel.ring<2, sync>"
SYNC_COMMIT = "kernel.ring_commit %ring, %next : !kernel.ring<2, sync>"
SYNC_ACQUIRE = "kernel.ring_acquire %ring, %next : !kernel.ring<2, sync>"
SYNC_RELEASE = "kernel.ring_release %ring, %k : !kernel.ring<2, sync>"

SYNC_MISTAKES: dict[str, Mistake] = {
    "no wait": (
        [(SYNC_WAIT, ""), (SYNC_RELEASE, ""), (SYNC_ACQUIRE, "")],
        r"reads element \[0, 31\] while another thread writes it .*kernel.barrier",
    ),
    "the slot that is being read": (
        [("%s[%next mod 2,", "%s[%k mod 2,")],
        r"reads element \[0, 31\] while another thread writes it",
    ),
    "reads of the slot filled next": (
        [("%s[%k mod 2,", "%s[%next mod 2,")],
        r"reads element \[1, 31\] while another thread writes it",
    ),
    "no commit": ([(SYNC_COMMIT, "")], r"waits for fill 1, but only 1 fill\(s\) are committed"),
    "no release": ([(SYNC_RELEASE, "")], r"not all threads have released fill 0"),
    "fills counted from 0 again": (
        [(SYNC_COMMIT, SYNC_COMMIT.replace("%next", "%c0"))],
        r"block 0 commits fill 0, but fill 1 is next",
    ),
}

# Two rounds of six boxes use four slots, with three boxes pending: the fills of the second round
# continue the count. The last rows and columns of the boxes are outside of the tensor.
TMA = f"""
kernel.func grid 2 block 32 @k(%x: memref<2x2x45x28xf32> {{plan.align = 16 : i64}})
    -> (%out: memref<2x2x8x32xf32>) {{
  {INDICES}
  %s = kernel.shared : memref<4x8x32xf32, #tile.layout<slots, swizzle 128>, 3>
  %ring = kernel.ring bytes 1024 : !kernel.ring<4, tma>
  %sum = kernel.registers : memref<8xf32, 5>
  scf.for %o = %c0 to %c2 step %c1 {{
    kernel.unroll %i in 8 {{
      loop.store %zero, %sum[%i] : memref<8xf32, 5>
    }}
    scf.for %p = %c0 to %c3 step %c1 {{
      %early = kernel.index [%o * 6 + %p]
      %in = kernel.index [%early mod 4]
      kernel.ring_acquire %ring, %early : !kernel.ring<4, tma>
      kernel.tma_copy %x[%b, %o, %p * 8, 0] box [1, 1, 8, 32] to %s[%in] on %ring, %early
        : memref<2x2x45x28xf32>, memref<4x8x32xf32, #tile.layout<slots, swizzle 128>, 3>,
          !kernel.ring<4, tma>
      kernel.ring_commit %ring, %early : !kernel.ring<4, tma>
    }}
    scf.for %k = %c0 to %n step %c1 {{
      %count = kernel.index [%o * 6 + %k]
      %next = kernel.index [%o * 6 + %k + 3]
      %slot = kernel.index [%next mod 4]
      kernel.ring_wait %ring, %count pending 2 : !kernel.ring<4, tma>
      %more = loop.predicate [2 - %k] : i1
      scf.if %more {{
        kernel.ring_acquire %ring, %next : !kernel.ring<4, tma>
        kernel.tma_copy %x[%b, %o, %k * 8 + 24, 0] box [1, 1, 8, 32] to %s[%slot] on %ring, %next
          : memref<2x2x45x28xf32>, memref<4x8x32xf32, #tile.layout<slots, swizzle 128>, 3>,
            !kernel.ring<4, tma>
      }}
      kernel.ring_commit %ring, %next : !kernel.ring<4, tma>
      kernel.unroll %j in 8 {{
        %v = loop.load %s[%count mod 4, %j, 31 - %t]
          : memref<4x8x32xf32, #tile.layout<slots, swizzle 128>, 3>
        %a = loop.load %sum[%j] : memref<8xf32, 5>
        %w = arith.addf %a, %v : f32
        loop.store %w, %sum[%j] : memref<8xf32, 5>
      }}
      kernel.ring_release %ring, %count : !kernel.ring<4, tma>
    }}
    kernel.unroll %l in 8 {{
      %r = loop.load %sum[%l] : memref<8xf32, 5>
      loop.store %r, %out[%b, %o, %l, %t] : memref<2x2x8x32xf32>
    }}
  }}
}}"""

BOX_SLAB = "memref<4x8x32xf32, #tile.layout<slots, swizzle 128>, 3>"
BOX_WAIT = "kernel.ring_wait %ring, %count pending 2 : !kernel.ring<4, tma>"
BOX_ACQUIRE = "kernel.ring_acquire %ring, %next : !kernel.ring<4, tma>"
BOX_COMMIT = "kernel.ring_commit %ring, %next : !kernel.ring<4, tma>"
BOX_RELEASE = "kernel.ring_release %ring, %count : !kernel.ring<4, tma>"

TMA_MISTAKES: dict[str, Mistake] = {
    "no wait": ([(BOX_WAIT, "")], r"reads element \[0, 0, 31\], to which a copy is under way"),
    "waiting for another fill": (
        [
            (BOX_WAIT, BOX_WAIT.replace("%count", "%early2")),
            ("%slot = ", "%early2 = kernel.index [%o * 6]\n%slot = "),
        ],
        r"reads element \[1, 0, 31\], to which a copy is under way",
    ),
    "no acquire": (
        [(BOX_ACQUIRE, "")],
        r"block 0 copies fill 3, whose slot is not acquired .*put kernel.ring_acquire",
    ),
    "no release": (
        [(BOX_RELEASE, "")],
        r"block 0 waits forever for the slot of fill 4: not all threads have released fill 0",
    ),
    "released before it is read": (
        [(BOX_RELEASE, ""), (BOX_WAIT, f"{BOX_WAIT}\n{BOX_RELEASE}")],
        r"reads element \[0, 0, 31\], which nothing has written",
    ),
    "no commit": (
        [(BOX_COMMIT, "")],
        r"block 0 waits for fill 3, but only 3 fill\(s\) are committed",
    ),
    "committed before the copies": (
        [(BOX_COMMIT, ""), (BOX_WAIT, f"{BOX_WAIT}\n{BOX_COMMIT}")],
        r"block 0 waits for fill 3, which was committed before its boxes were copied",
    ),
    "acquired only once": (
        [(BOX_ACQUIRE, f"{BOX_ACQUIRE}\n{BOX_ACQUIRE}")],
        r"block 0 acquires a slot for fill 3, but fill 4 is next",
    ),
    "the second round counts from 0": (
        [("%early = kernel.index [%o * 6 + %p]", "%early = kernel.index [%p]")],
        r"block 0 acquires a slot for fill 0, but fill 6 is next .*count all fills",
    ),
    "filled too far ahead": (
        [("%next = kernel.index [%o * 6 + %k + 3]", "%next = kernel.index [%o * 6 + %k + 4]")],
        r"block 0 waits forever for the slot of fill 4: not all threads have released fill 0",
    ),
    "too few bytes expected": (
        [("kernel.ring bytes 1024", "kernel.ring bytes 512")],
        r"block 0 waits for 512 bytes of fill 0, but 1024 were copied .*bytes are those of all",
    ),
    "a box too few": (
        [("kernel.ring bytes 1024", "kernel.ring bytes 2048")],
        r"block 0 waits for 2048 bytes of fill 0, but 1024 were copied",
    ),
    "another slot than the count says": (
        [("[%next mod 4]", "[(%next + 1) mod 4]")],
        r"block 0 copies fill 3 to slot 0, but its slot is 3 .*count mod 4",
    ),
    "reads of another slot": (
        [("%s[%count mod 4,", "%s[(%count + 1) mod 4,")],
        r"reads element \[1, 0, 31\], to which a copy is under way",
    ),
    "reads of a slot that is free": (
        [
            ("%s[%count mod 4,", "%s[%before mod 4,"),
            ("%n step", "%c2 step"),
            ("[2 - %k]", "[0 - 1]"),
            ("%slot = ", "%before = kernel.index [%o * 6]\n%slot = "),
        ],
        r"reads element \[0, 0, 31\], which nothing has written",
    ),
    "a box more than is used": (
        [("[2 - %k]", "[3 - %k]"), ("%c2 step", "%c1 step")],
        r"fill 6 is still under way when the kernel ends",
    ),
    "committed fills that nothing brought": (
        [("[2 - %k]", "[1 - %k]")],
        r"block 0 waits forever for fill 5: nothing was copied",
    ),
    "a box for each thread": (
        [("%k * 8 + 24, 0]", "%k * 8 + 24, %t]")],
        r"subscript 3 differs between the threads of block 0",
    ),
    "a copy that some threads miss": (
        [("[2 - %k]", "[2 - %k, 15 - %t]")],
        r"only some threads of block 0 reach this 'kernel.ring_acquire'",
    ),
    "a slot that a thread has just stored to": (
        [("scf.for %p = %c0", f"loop.store %zero, %s[2, 3, %t] : {BOX_SLAB}\nscf.for %p = %c0")],
        r"begins to overwrite element \[2, 3, 0\] while another thread uses it",
    ),
    "a tensor of which nothing is known": (
        [("{plan.align = 16 : i64}", "")],
        r"%x is aligned to 4 bytes, but a tensor map needs 16 .*plan.align = 16",
    ),
}

EVERY: list[tuple[str, str, Mistake]] = [
    (name, text, mistake)
    for text, mistakes in ((ASYNC, ASYNC_MISTAKES), (SYNC, SYNC_MISTAKES), (TMA, TMA_MISTAKES))
    for name, mistake in mistakes.items()
]


def async_case(rand: Rand) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    x = rand(2, 6, 128)
    return x, x.astype(np.float64).sum(1)[:, ::-1]


def sync_case(rand: Rand) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    x = rand(2, 6, 32)
    return x, x.astype(np.float64).sum(1)[:, ::-1]


def tma_case(rand: Rand) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    x = rand(2, 2, 45, 28)
    whole = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (0, 3), (0, 4)))
    return x, whole.reshape(2, 2, 6, 8, 32).sum(2)[..., ::-1]


CASES = [(ASYNC, async_case), (SYNC, sync_case), (TMA, tma_case)]


@pytest.mark.parametrize(("text", "case"), CASES, ids=["cp_async", "sync", "tma"])
def test_right(
    parse: Parse,
    rand: Rand,
    text: str,
    case: Callable[[Rand], tuple[NDArray[np.float32], NDArray[np.float64]]],
) -> None:
    x, expected = case(rand)
    (result,) = interpret(parse(text), x, function="k", dtype=np.float64)
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("text", "mistake"),
    [(text, mistake) for _, text, mistake in EVERY],
    ids=[name for name, _, _ in EVERY],
)
def test_mistake(parse: Parse, text: str, mistake: Mistake) -> None:
    changes, message = mistake
    shape = {ASYNC: (2, 6, 128), SYNC: (2, 6, 32), TMA: (2, 2, 45, 28)}[text]
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    with pytest.raises(InterpreterError, match=message):
        interpret(parse(broken(text, changes)), x, function="k")


# One row of one box, of a tensor or to a slab that TMA cannot copy.
BOX = """
kernel.func grid 1 block 32 @k(%x: memref<4x{row}xf32> {{plan.align = 16 : i64}})
    -> (%out: memref<32xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %s = kernel.shared : memref<2x20xf32, {layout}3>
  %ring = kernel.ring bytes 80 : !kernel.ring<3, tma>
  scf.for %k = %c0 to %{fills} step %c1 {{
    kernel.ring_acquire %ring, %k : !kernel.ring<3, tma>
    kernel.tma_copy %x[%k, 0] box [1, 20] to %s[%k] on %ring, %k
      : memref<4x{row}xf32>, memref<2x20xf32, {layout}3>, !kernel.ring<3, tma>
    kernel.ring_commit %ring, %k : !kernel.ring<3, tma>
  }}
}}"""
SLOTS = "#tile.layout<slots>, "
BOXES = [
    (21, SLOTS, "c1", r"rows of %x are 84 bytes apart, not a multiple of 16 .*cp.async"),
    (20, "", "c1", r"slots are 80 bytes apart, not a multiple of 128 .*#tile.layout<slots>"),
    (20, SLOTS, "c1", r"fill 0 is still under way when the kernel ends .*wait for every fill"),
    (20, SLOTS, "n", r"block 0 copies fill 2 to slot 2, but there are 2 .*all of its slots"),
]


@pytest.mark.parametrize(("row", "layout", "fills", "message"), BOXES)
def test_boxes_that_cannot_be_copied(
    parse: Parse, rand: Rand, row: int, layout: str, fills: str, message: str
) -> None:
    text = BOX.format(row=row, layout=layout, fills=fills)
    with pytest.raises(InterpreterError, match=message):
        interpret(parse(text), rand(4, row), function="k")


def test_blocks_that_take_different_numbers_of_steps(parse: Parse, rand: Rand) -> None:
    """Block 0 leaves the loop after three of the six chunks, with all of its own fills."""
    trips = "%steps = kernel.index [%b * 3 + 3]\n scf.for %k = %c0 to %steps"
    last = "[%b * 3 + 2 - %next]"
    changes = [("scf.for %k = %c0 to %n", trips), ("[5 - %next]", last)]
    x = rand(2, 6, 128)
    module = parse(broken(ASYNC, changes))
    (result,) = interpret(module, x, function="k", dtype=np.float64)
    wide = x.astype(np.float64)
    expected = np.stack([wide[0, :3].sum(0), wide[1].sum(0)])[:, ::-1]
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)


def test_a_mistake_that_only_one_block_makes(parse: Parse, rand: Rand) -> None:
    """Only block 1 omits the wait."""
    changes = [(WAIT, f"%q = loop.predicate [0 - %b] : i1\nscf.if %q {{ {WAIT} }}")]
    with pytest.raises(InterpreterError, match=r"reads element \[0, 127\], to which a copy is"):
        interpret(parse(broken(ASYNC, changes)), rand(2, 6, 128), function="k")


TWO = """
kernel.func grid 1 block 32 @k(%x: memref<64xf32>) -> (%out: memref<32xf32>) {
  %t = kernel.thread_id
  %c0 = arith.constant 0 : index
  %s = kernel.shared : memref<1x32xf32, #tile.layout<slots>, 3>
  %u = kernel.shared : memref<1x32xf32, #tile.layout<slots>, 3>
  %a = kernel.ring bytes 128 : !kernel.ring<1, cp_async>
  %b = kernel.ring bytes 128 : !kernel.ring<1, cp_async>
  kernel.copy_async %x[%t] to %s[0, %t] width 1
    : memref<64xf32>, memref<1x32xf32, #tile.layout<slots>, 3>
  kernel.ring_commit %a, %c0 : !kernel.ring<1, cp_async>
  kernel.copy_async %x[%t + 32] to %u[0, %t] width 1
    : memref<64xf32>, memref<1x32xf32, #tile.layout<slots>, 3>
  kernel.ring_commit %b, %c0 : !kernel.ring<1, cp_async>
  kernel.ring_wait %a, %c0 pending 0 : !kernel.ring<1, cp_async>
  kernel.ring_wait %b, %c0 pending 0 : !kernel.ring<1, cp_async>
  %0 = loop.load %s[0, 31 - %t] : memref<1x32xf32, #tile.layout<slots>, 3>
  %1 = loop.load %u[0, 31 - %t] : memref<1x32xf32, #tile.layout<slots>, 3>
  %r = arith.addf %0, %1 : f32
  loop.store %r, %out[%t] : memref<32xf32>
}"""

SECOND_WAIT = "kernel.ring_wait %b, %c0 pending 0 : !kernel.ring<1, cp_async>"


def test_two_rings(parse: Parse, rand: Rand) -> None:
    x = rand(64)
    (result,) = interpret(parse(TWO), x, function="k")
    np.testing.assert_array_equal(result, (x[:32] + x[32:])[::-1])


def test_each_ring_has_waits_of_its_own(parse: Parse, rand: Rand) -> None:
    module = parse(broken(TWO, [(SECOND_WAIT, "")]))
    with pytest.raises(InterpreterError, match=r"%u.* reads element \[0, 31\], to which a copy is"):
        interpret(module, rand(64), function="k")


def test_a_source_that_changes_while_it_is_copied(parse: Parse, rand: Rand) -> None:
    """The copied values are undefined: the copy may read before or after the store."""
    slab = "memref<1x32xf32, #tile.layout<slots>, 3>"
    store = "loop.store %zero, %out[%t] : memref<32xf32>"
    wait = "kernel.ring_wait %ring, %c0 pending 0 : !kernel.ring<1, cp_async>"
    text = f"""
    kernel.func grid 1 block 32 @k(%x: memref<32xf32>) -> (%out: memref<32xf32>) {{
      {INDICES}
      %s = kernel.shared : {slab}
      %ring = kernel.ring bytes 128 : !kernel.ring<1, cp_async>
      %v = loop.load %x[%t] : memref<32xf32>
      loop.store %v, %out[%t] : memref<32xf32>
      kernel.copy_async %out[%t] to %s[0, %t] width 1 : memref<32xf32>, {slab}
      kernel.ring_commit %ring, %c0 : !kernel.ring<1, cp_async>
      {wait}
      {store}
    }}"""
    (result,) = interpret(parse(text), rand(32), function="k")
    assert not result.any()
    early = broken(text, [(store, ""), (wait, f"{store}\n{wait}")])
    message = r"element \[0\] of the source changed while it was copied .*wait for the copy before"
    with pytest.raises(InterpreterError, match=message):
        interpret(parse(early), rand(32), function="k")

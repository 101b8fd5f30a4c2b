# SPDX-License-Identifier: Apache-2.0
"""Digests of kernels: equal for equal computations, in all processes, and different otherwise."""

import os
import re
import subprocess
import sys
from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.tuning.kernel_key import digest, key_of, note_of
from tilewright.tuning.key import SEMANTICS, Key

Parse = Callable[[str], ModuleOp]

KERNEL = """\
loop.kernel @mm(%x: memref<70x64xf32>, %w: memref<64x48xf32>) -> (%out: memref<70x48xf32>) {
  loop.for %i in 70, %j in 48 {
    %sum = loop.reduce %k in 64 with add {
      %0 = loop.load %x[%i, %k] : memref<70x64xf32>
      %1 = loop.load %w[%k, %j] : memref<64x48xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %3 = arith.constant 1.500000e+00 : f32
    %4 = arith.addf %sum, %3 : f32
    loop.store %4, %out[%i, %j] : memref<70x48xf32>
  }
}
"""

DIGEST = "8bbb6c79200d86e1bcd8cee51fd34dd2"
"""Recorded digest of the kernel: another value would make all earlier measurements useless."""


def kernel_of(text: str, parse: Parse) -> loop.KernelOp:
    """Return the only kernel of a text."""
    (kernel,) = (op for op in parse(text).ops if isinstance(op, loop.KernelOp))
    return kernel


def replaced(*pairs: tuple[str, str]) -> str:
    """Return the kernel's text with replacements, each of which must apply."""
    text = KERNEL
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def test_the_digest_is_stable(parse: Parse) -> None:
    assert digest(kernel_of(KERNEL, parse)) == DIGEST


SAME = {
    "names of values": [("%x", "%a"), ("%w", "%b"), ("%sum", "%s"), ("%i", "%row")],
    "name of the kernel": [("@mm", "@product")],
    "a plan": [("  }\n}\n", '  }\n} planned "tileify"\n')],
    "locations": [("memref<70x48xf32>\n  }", 'memref<70x48xf32> loc("model.py":7:0)\n  }')],
}


@pytest.mark.parametrize("changes", SAME.values(), ids=SAME)
def test_names_plans_and_places_do_not_matter(changes: list[tuple[str, str]], parse: Parse) -> None:
    assert digest(kernel_of(replaced(*changes), parse)) == DIGEST


OTHER = {
    "shape": [("70", "71")],
    "dtype": [("f32", "f64")],
    "op": [("arith.mulf", "arith.divf")],
    "operands": [("mulf %0, %1", "mulf %1, %0")],
    "constant": [("1.500000e+00", "1.50000012")],
    "index map": [("%x[%i, %k]", "%x[69 - %i, %k]")],
    "mask": [("%x[%i, %k]", "%x[%i, %k] where [%i - %k]")],
    "monoid": [("with add", "with max")],
    "role": [("%i in 70", "%i in 70 m")],
    "order of arguments": [
        (
            "%x: memref<70x64xf32>, %w: memref<64x48xf32>",
            "%w: memref<64x48xf32>, %x: memref<70x64xf32>",
        )
    ],
    "alignment": [("%x: memref<70x64xf32>,", "%x: memref<70x64xf32> {plan.align = 16 : i64},")],
    "a schedule": [("  }\n}\n", '  }\n} schedule "tileify"\n')],
    "an input without a name": [("%x", "%7")],
    "fast math": [("arith.mulf %0, %1", "arith.mulf %0, %1 fastmath<contract>")],
}


@pytest.mark.parametrize("changes", OTHER.values(), ids=OTHER)
def test_everything_else_matters(changes: list[tuple[str, str]], parse: Parse) -> None:
    assert digest(kernel_of(replaced(*changes), parse)) != DIGEST


def test_inputs_of_the_same_name_change_the_digest(parse: Parse) -> None:
    kernel = kernel_of(KERNEL, parse)
    for value in kernel.inputs:
        value.name_hint = "matmul"
    assert digest(kernel) != DIGEST


def test_facts_are_the_same_in_any_order(parse: Parse) -> None:
    def with_facts(facts: str) -> str:
        text = KERNEL.replace("%out: memref<70x48xf32>)", f"%out: memref<70x48xf32> {{{facts}}})")
        return digest(kernel_of(text, parse))

    align, initial = "plan.align = 16 : i64", "plan.initial = 0.0 : f32"
    assert with_facts(f"{align}, {initial}") == with_facts(f"{initial}, {align}")
    assert len({DIGEST, *map(with_facts, (align, initial, f"{align}, {initial}"))}) == 4


def test_swapped_inputs_change_the_digest(parse: Parse) -> None:
    square = KERNEL.replace("70", "64").replace("48", "64")
    turned = square.replace("%x[%i, %k]", "%w[%i, %k]").replace("%w[%k, %j]", "%x[%k, %j]")
    assert digest(kernel_of(square, parse)) != digest(kernel_of(turned, parse))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", ["0", "1"])
def test_every_process_finds_the_same(seed: str) -> None:
    code = (
        "import sys; from xdsl.parser import Parser;"
        "from tilewright.passes.driver.lowering import context;"
        "from tilewright.tuning.kernel_key import digest;"
        "print(digest(Parser(context(), sys.stdin.read()).parse_module().body.block.first_op))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    command = [sys.executable, "-c", code]
    found = subprocess.run(
        command, input=KERNEL, env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == DIGEST


def test_the_parts_of_a_key(parse: Parse) -> None:
    kernel = kernel_of(KERNEL, parse)
    model = key_of(kernel, "sm_90a", "model")
    assert model == Key(DIGEST, "f32", "sm_90a", "sm_90a", "model", SEMANTICS, "")
    measured = key_of(kernel, "sm_90a", "gpu", "NVIDIA H100 80GB HBM3", "13.0")
    assert (measured.device, measured.nvrtc) == ("NVIDIA H100 80GB HBM3", "13.0")


def test_the_note_of_a_kernel(parse: Parse) -> None:
    note = note_of(
        kernel_of(KERNEL.replace("  }\n}\n", '  }\n} planned "tileify"\n'), parse), "x @ w"
    )
    assert note.about == "mm(70x64xf32, 64x48xf32) -> 70x48xf32"
    assert (note.kernel, note.name, note.inputs, note.origin) == (DIGEST, "mm", ("x", "w"), "x @ w")
    assert not re.search("planned", note.ir)
    assert digest(kernel_of(note.ir, parse)) == DIGEST

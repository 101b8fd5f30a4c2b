# SPDX-License-Identifier: Apache-2.0
"""The prover agrees with an enumeration of all steps: of right kernels, and of damaged ones."""

import re
from collections.abc import Callable

from draws import drawn
from enumerated_steps import all_elements, is_within, stored
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.parser import Parser

from tilewright.dialects.loop import KernelOp, LoadOp, StoreOp
from tilewright.passes.driver.lowering import context
from tilewright.proof.answer import Outcome
from tilewright.proof.kernels import prove_kernel

_FLAT = """\
loop.kernel @flat(%x: memref<{n}x{m}xf32>) -> (%out: memref<{n}x{m}xf32>) {{
  tile.launch (%b = block {blocks}, %t = thread {t}, %v = register {v}) {{
    %0 = loop.load %x[{row}, {column}] where [{last} - {at}] : memref<{n}x{m}xf32>
    loop.store %0, %out[{row}, {column}] where [{last} - {at}] : memref<{n}x{m}xf32>
  }}
}}
"""

_TILED = """\
loop.kernel @tiled(%x: memref<{m}x{n}xf32>) -> (%out: memref<{n}x{m}xf32>) {{
  tile.launch (%i = block {rows}, %j = block {columns}, %t = thread {t}, %v = register {v}) {{
    %0 = loop.load %x[{m1} - %j * {v} - %v, %i * {t} + %t] where [{mask}] : memref<{m}x{n}xf32>
    loop.store %0, %out[%i * {t} + %t, %j * {v} + %v] where [{mask}] : memref<{n}x{m}xf32>
  }}
}}
"""


def flat(n: int, m: int, t: int, v: int) -> str:
    """Return a copy of an array whose elements are numbered."""
    at, last = f"%b * {t * v} - %t * {v} - %v", n * m - 1
    number = at.replace("-", "+")
    row, column = f"({number}) floordiv {m}", f"({number}) mod {m}"
    blocks = -(-n * m // (t * v))
    return _FLAT.format(n=n, m=m, t=t, v=v, blocks=blocks, row=row, column=column, last=last, at=at)


def tiled(n: int, m: int, t: int, v: int) -> str:
    """Return a transposition by tiles, with the columns in descending order."""
    mask = f"{n - 1} - %i * {t} - %t, {m - 1} - %j * {v} - %v"
    rows, columns = -(-n // t), -(-m // v)
    return _TILED.format(n=n, m=m, m1=m - 1, t=t, v=v, mask=mask, rows=rows, columns=columns)


def damaged(text: str, at: int, by: int) -> str:
    """Change the number at position `at` among those of accesses, masks and the launch."""
    numbers = [*re.finditer(r"(?<=[ \[])\d+(?=[ ,)\]])", text)]
    found = numbers[at % len(numbers)]
    changed = max(int(found[0]) + by, 1)
    return f"{text[: found.start()]}{changed}{text[found.end() :]}"


SMALL = st.integers(1, 4)


@settings(max_examples=drawn(100))
@given(
    *(st.sampled_from([flat, tiled]), st.integers(1, 7), st.integers(1, 7), SMALL, SMALL),
    st.lists(st.tuples(st.integers(0, 99), st.sampled_from([-1, 1, 2])), max_size=2),
)
def test_answers_are_those_of_all_steps(
    make: Callable[..., str], n: int, m: int, t: int, v: int, damages: list[tuple[int, int]]
):
    text = make(n, m, t, v)
    for at, by in damages:
        text = damaged(text, at, by)
    kernel = Parser(context(), text).parse_module().body.block.first_op
    assert isinstance(kernel, KernelOp)
    values = stored(kernel)
    certificate = prove_kernel(kernel)
    assert not certificate.not_covered
    for obligation, answer in certificate.answers:
        op = obligation.op
        match obligation.kind:
            case "bounds":
                assert isinstance(op, LoadOp | StoreOp)
                expected = is_within(op)
            case "injective":
                expected = all(len(found) == 1 for found in values.values())
            case "complete":
                expected = values.keys() >= {*all_elements(kernel)}
            case _:
                continue
        if not values and obligation.kind != "complete":
            assert answer.evidence == "no step reaches it"
            continue
        assert answer.outcome is (Outcome.PROVED if expected else Outcome.REFUTED), text
    assert certificate.is_proved or damages

# SPDX-License-Identifier: Apache-2.0
"""SASS as nvdisasm prints it: categories, widths, jumps, lines and stall counts."""

import pytest
from machine_code import GENERATIONS, KERNELS, sass_of

from tilewright.codegen.report.instruction import Category, Instruction
from tilewright.codegen.report.loops import reachable
from tilewright.codegen.report.sass import category_of, parse_sass

_TEXT = """\
k:
.text.k:
\t//## File "k.cu", line 4
        /*0000*/                   S2R R0, SR_TID.X ;     /* 0x0000000000007919 */
                                                          /* 0x000e2e0000002100 */
.L_x_0:
\t//## File "k.cu", line 2 inlined at "k.cu", line 7
\t//## File "k.cu", line 7
        /*0010*/              @!P1 LDG.E.LTC128B.64 R2, desc[UR4][R2.64+0x10] ;  /* 0x0 */
        /*0020*/                   BRA.DIV UR4, `(.L_x_2) ;
        /*0030*/               @P0 BRA `(.L_x_0) ;
        /*0040*/                   BRA.U UP0, `(.L_x_0) ;
        /*0050*/                   BRA `(.L_x_0) ;
        /*0060*/               @P0 EXIT ;
        /*0070*/                   CALL.REL.NOINC `($k$f) ;
        /*0080*/                   EXIT ;
.L_x_2:
        /*0090*/                   NOP;
        /*00a0*/              @!PT LDS RZ, [RZ] ;
"""


def _instructions() -> tuple[Instruction, ...]:
    return parse_sass(_TEXT)["k"].instructions


def test_opcodes_without_predicates_and_encoding():
    assert [i.opcode for i in _instructions()][:3] == ["S2R", "LDG.E.LTC128B.64", "BRA.DIV"]
    assert _instructions()[1].operands == "R2, desc[UR4][R2.64+0x10]"


def test_a_cache_hint_is_no_width():
    assert _instructions()[1].bits == 64


def test_inlined_code_counts_for_the_line_of_the_kernel():
    assert [i.line for i in _instructions()][:2] == [4, 7]


def test_the_stall_count_is_read_from_the_encoding():
    assert [i.clocks for i in _instructions()][:2] == [7, 1]


def test_jumps():
    ways = [(i.target, i.falls_through) for i in _instructions()]
    divergent, conditional, uniform, always = ways[2:6]
    assert divergent == (None, True)  # a divergent branch leads to rare code
    assert conditional == uniform == (1, True)
    assert always == (1, False)


def test_ends():
    maybe, call, always = (i.falls_through for i in _instructions()[6:9])
    assert (maybe, call, always) == (True, True, False)


def test_instructions_that_never_act_are_no_accesses():
    assert (_instructions()[-1].category, _instructions()[-1].bits) == (Category.CONTROL, 0)


@pytest.mark.parametrize(
    ("instruction", "category"),
    [
        ("HFMA2.MMA R4, -RZ, RZ, 0, 512", Category.INTEGER),
        ("HFMA2.MMA R0, -RZ, RZ, 0.96630859375, -0.0022525787353515625", Category.INTEGER),
        ("HFMA2.MMA R4, R5, R6, R7", Category.HALF),
        ("HFMA2 R4, R5, 0.5, 0.5, R7", Category.HALF),
    ],
)
def test_constants_that_the_unit_of_half_precision_moves(instruction: str, category: Category):
    line = f"        /*0000*/                   {instruction} ;"
    (code,) = parse_sass(f".text.k:\n{line}\n").values()
    assert [found.category for found in code.instructions] == [category]


@pytest.mark.parametrize(
    ("root", "category"),
    [
        ("FFMA", Category.FFMA),
        ("FADD", Category.FLOAT),
        ("HFMA2", Category.HALF),
        ("DFMA", Category.DOUBLE),
        ("HMMA", Category.HMMA),
        ("HGMMA", Category.MATRIX),
        ("MUFU", Category.SPECIAL),
        ("I2FP", Category.CONVERT),
        ("LDSM", Category.LDSM),
        ("LDGSTS", Category.LDGSTS),
        ("LDGDEPBAR", Category.BARRIER),
        ("UTMALDG", Category.TMA),
        ("REDG", Category.ATOMIC),
        ("RED", Category.ATOMIC),
        ("REDUX", Category.SHUFFLE),
        ("UIADD3", Category.INTEGER),
        ("ULDC", Category.CONSTANT),
        ("LDCU", Category.CONSTANT),
        ("BRA", Category.CONTROL),
        ("FROBNICATE", Category.OTHER),
    ],
)
def test_categories(root: str, category: Category):
    assert category_of(root) is category


@pytest.mark.one_in(2)
@pytest.mark.parametrize("target", GENERATIONS)
@pytest.mark.parametrize("file", sorted(path.name for path in KERNELS.glob("*.cu")))
def test_every_instruction_of_our_kernels_is_known(file: str, target: str):
    for code in sass_of(file, target).values():
        opcodes = {code.instructions[place].opcode for place in reachable(code)}
        assert {o for o in opcodes if category_of(o.partition(".")[0]) is Category.OTHER} == set()


def test_all_kernels_of_a_module_are_found():
    assert set(sass_of("copies.cu")) == {"scalar_copy", "vector_copy", "async_copy"}

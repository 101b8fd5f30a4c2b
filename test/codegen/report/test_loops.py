# SPDX-License-Identifier: Apache-2.0
"""Loops of machine code: natural loops, nested loops and the main loop."""

from machine_code import sass_of

from tilewright.codegen.report.instruction import Category, Code, Instruction
from tilewright.codegen.report.loops import loops, main_loop, reachable
from tilewright.codegen.report.matrix_shape import MatrixShape
from tilewright.codegen.report.work import source_line


def _code(*instructions: tuple[Category, int | None, bool]) -> Code:
    return Code("SASS", tuple(Instruction("X", "", c, 0, 0, t, f) for c, t, f in instructions))


WORK = (Category.FFMA, None, True)
WAIT = (Category.BARRIER, None, True)
END = (Category.CONTROL, None, False)


def jump(target: int, *, always: bool = False) -> tuple[Category, int | None, bool]:
    """Return a jump to `target`, conditional unless `always`."""
    return (Category.CONTROL, target, not always)


def test_code_without_jumps_back_has_no_loops():
    code = _code(WORK, jump(3), WORK, END)
    assert loops(code) == ()
    assert main_loop(code) is None


def test_a_loop_lies_between_a_jump_back_and_its_target():
    (loop,) = loops(_code(WORK, WORK, WORK, jump(1), END))
    assert (loop.start, sorted(loop.body), loop.depth) == (1, [1, 2, 3], 0)


def test_rare_code_after_the_kernel_jumps_back_and_makes_no_loop():
    assert loops(_code(WORK, jump(4), WORK, END, WORK, jump(2, always=True))) == ()


def test_a_loop_may_lie_before_the_code_that_leads_to_it():
    (loop,) = loops(_code(jump(4, always=True), WORK, jump(1), END, WORK, jump(1, always=True)))
    assert sorted(loop.body) == [1, 2]


def test_two_jumps_to_one_place_are_one_loop():
    (loop,) = loops(_code(WORK, jump(0), WORK, jump(0), END))
    assert sorted(loop.body) == [0, 1, 2, 3]


def test_an_inner_loop_is_no_part_of_the_body_of_the_outer():
    outer, inner = loops(_code(WORK, WORK, jump(1), WORK, jump(0), END))
    assert (sorted(outer.body), outer.depth) == ([0, 3, 4], 0)
    assert (sorted(inner.body), inner.depth) == ([1, 2], 1)
    assert sorted(outer.whole) == [0, 1, 2, 3, 4]


def test_a_loop_that_only_waits_belongs_to_the_loop_around():
    (loop,) = loops(_code(WORK, WAIT, jump(1), WORK, jump(0), END))
    assert sorted(loop.body) == [0, 1, 2, 3, 4]


def test_padding_and_functions_after_the_kernel_are_not_reached():
    code = _code(WORK, END, WORK, jump(2, always=True))
    assert sorted(reachable(code)) == [0, 1]


def test_the_main_loop_is_the_inner_one_that_works():
    code = sass_of("odd.cu")["nested"]
    outer, inner = loops(code)
    assert main_loop(code) == inner
    assert inner.whole < outer.whole
    assert source_line(code, inner) in (9, 10)


def test_a_loop_that_copies_for_each_step_of_the_one_that_computes_is_not_the_main_one():
    copies = (Category.STS, None, True)
    outer, inner = loops(code := _code(WORK, *[copies] * 6, jump(1), *[WORK] * 20, jump(0), END))
    assert (main_loop(code), inner.depth) == (outer, 1)


def test_where_nothing_is_computed_the_main_loop_is_the_inner_one():
    copies = (Category.STG, None, True)
    _, inner = loops(code := _code(copies, copies, jump(1), copies, jump(0), END))
    assert main_loop(code) == inner


def test_a_wait_in_the_main_loop_is_part_of_it():
    code = sass_of("odd.cu")["waiting"]
    (loop,) = loops(code)
    assert any(code.instructions[place].category is Category.FFMA for place in loop.body)


def test_a_division_has_no_loop_and_its_slow_path_is_not_counted():
    code = sass_of("odd.cu")["division"]
    assert loops(code) == ()
    assert len(reachable(code)) < 40 < len(code.instructions)


def test_matrix_instructions_count_as_their_multiply_adds():
    """A loop of one `mma.sync`, 64 multiply-adds a thread, computes more than one of 20."""
    matrix = Instruction("X", "", Category.HMMA, matrix=MatrixShape(16, 8, 16, 16))
    code = _code(WORK, jump(0), *[WORK] * 20, jump(2), END)
    found = main_loop(Code("SASS", (matrix, *code.instructions[1:])))
    assert found is not None
    assert found.start == 0

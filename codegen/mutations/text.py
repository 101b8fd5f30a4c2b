# SPDX-License-Identifier: Apache-2.0
"""
Bugs planted in CUDA text, by rule.

They concern what Kernel IR leaves to the lowering: mbarriers, their parity and their bytes,
swizzles, and barriers of a warp.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple


class Planted(NamedTuple):
    """CUDA text with one bug; `bug` describes it, and `line` is the line it is in."""

    bug: str
    line: str
    text: str
    is_of_values: bool
    """True if it changes what is computed or accessed, and not what orders threads and copies."""


class _Rule(NamedTuple):
    """
    Rule for a kind of bug: replaces one match of the pattern `old` by `new`; each match gives
    another bug.
    """

    what: str
    old: str
    new: str
    is_of_values: bool = False


def _swapped(one: str, two: str) -> tuple[str, str]:
    """Return a pattern of two adjacent list items, and the replacement that swaps them."""
    return re.escape(f"{one}, {two}"), f"{two}, {one}"


_RULES = (
    _Rule("no barrier of the block", r"__syncthreads\(\);", ""),
    _Rule("no barrier of the warp", r"__syncwarp\(\);", ""),
    _Rule("a group of copies is not closed", r"copy_async_commit\(\);", ""),
    _Rule("copies are not waited for", r"copy_async_wait<\d+>\(\);", ""),
    _Rule("one more group may be pending", r"copy_async_wait<(\d+)>", r"copy_async_wait<\1 + 1>"),
    _Rule("a copy of fewer bytes", r"(copy_async\w*)<(8|16)>", r"\1<\2 / 2>"),
    _Rule("zeros are not filled in", r"(copy_async_or_zero<.*), [^,;]*\);", r"\1, true);", True),
    _Rule("the other parity", r"mbarrier_wait\((.*), (.*)\);", r"mbarrier_wait(\1, (\2) ^ 1);"),
    _Rule("a phase is not waited for", r"mbarrier_wait\(.*, [^\d].*\);", ""),
    _Rule("a phase is kept", r"(phase\d*) = slot\d* == \d+ \? \1 \^ 1 : \1;", ""),
    _Rule("a slot too many", r"(slot\d*) == (\d+) \? 0 :", r"\1 == \2 + 1 ? 0 :"),
    _Rule("more bytes", r"mbarrier_expect\((.*), (\d+)\);", r"mbarrier_expect(\1, \2 + 16);"),
    _Rule("fewer bytes", r"mbarrier_expect\((.*), (\d+)\);", r"mbarrier_expect(\1, \2 - 16);"),
    _Rule("an arrival more", r"mbarrier_init\((.*), (\d+)\);", r"mbarrier_init(\1, \2 + 1);"),
    _Rule("an arrival less", r"mbarrier_init\((.*), (\d+)\);", r"mbarrier_init(\1, \2 - 1);"),
    _Rule("a barrier is not made", r"mbarrier_init\(.*\);", ""),
    _Rule("no fence after making barriers", r"mbarrier_init_fence\(\);", ""),
    _Rule("nobody arrives", r"mbarrier_arrive\(.*\);", ""),
    _Rule("all do what one thread should", r"if \((thread|t)( % 32)? == 0\)", "if (true)"),
    _Rule("the wrong barrier", r"(?<!init\()&(full|empty)\[(\w+)\](?!, 1\))", r"&\1[(\2) ^ 1]"),
    _Rule("no swizzle", r"\^ \((swizzle\d*) \* (\d+)\)", r"^ (0 * \1)"),
    _Rule("the wrong swizzle", r"(const int swizzle\d* = )(.*);", r"\1(\2) ^ 1;"),
    _Rule("the swizzle of another row", r"\^ \((swizzle\d*) \*", r"^ ((\1 ^ 1) *", True),
    _Rule("arrays overlap", r"\(pool \+ (\d+)\)", r"(pool + \1 - 128)"),
    _Rule("half of the warp is named", r"0xffffffff", "0x0000ffff"),
    _Rule("rows 16 bytes aside", r"(load_matrix_x\w+\(.*), (.*)\);", r"\1, (\2) ^ 16);", True),
    _Rule("half a step of k", r"(load_matrix_x.*\bki\d* \* \d+)", r"\1 / 2", True),
    _Rule("one more product may be pending", r"group_wait<(\d+)>", r"group_wait<\1 + 1>"),
    _Rule("no fence for tensor cores", r"proxy_fence\(\);", ""),
    _Rule("A transposed or not", r"(group_multiply_\w+)<(\d),", r"\1<1 - \2,", True),
    _Rule("B transposed or not", r"(group_multiply_\w+<\d, )(\d)>", r"\g<1>1 - \2>", True),
    _Rule("distances swapped", r"(matrix_desc.*), (\d+), (\d+), (\d+\))", r"\1, \3, \2, \4", True),
    _Rule("groups of rows aside", r"(matrix_desc.*), (\d+), (\d+\))", r"\1, \2 + 16, \3", True),
    _Rule("a narrower swizzle", r"(matrix_desc.*), (\d+)\)", r"\1, \2 / 2)", True),
    _Rule("a chunk aside", r"(matrix_descriptor\([^,]*),", r"\1 + 16,", True),
    _Rule("half a step of k", r"(matrix_descriptor.*\bki\d* \* \d+)", r"\1 / 2", True),
    _Rule("a fill too many", r"if \(next < (\d+)\)", r"if (next <= \1)"),
    _Rule("a fill too few", r"if \(next < (\d+)\)", r"if (next < \1 - 1)"),
)
"""Rules for kernels. Patterns may run through a whole line, as no line has two bugs of one kind."""

_PRELUDE_RULES = (
    _Rule("no fence", r"__threadfence\(\);", ""),
    _Rule("arrives without a release", r"(barrier\.cluster\.arrive)\.release", r"\1.relaxed"),
    _Rule("the cluster is not waited for", r"asm volatile\(\"barrier\.cluster\.wait.*\);", ""),
    _Rule("counts without end", r"atomicInc\((.*), last\)", r"atomicAdd(\1, 1u)"),
    _Rule(
        "counts in two steps",
        r"= atomicInc\(\((.*)\)arrived, last\)",
        r"= *arrived; *arrived = before == last ? 0 : before + 1",
    ),
    _Rule("registers 0 and 1 of A swapped", *_swapped(r'"r"(x[0])', r'"r"(x[1])'), True),
    _Rule("registers 1 and 2 of A swapped", *_swapped(r'"r"(x[1])', r'"r"(x[2])'), True),
    _Rule("registers of B swapped", *_swapped(r'"r"(y[0])', r'"r"(y[1])'), True),
    _Rule("registers 1 and 2 of D swapped", *_swapped(r'"+f"(d[1])', r'"+f"(d[2])'), True),
    _Rule("loaded registers swapped", *_swapped(r'"=r"(word[0])', r'"=r"(word[1])'), True),
    _Rule("matrices not transposed", r"\.trans(?=\.shared)", "", True),
    _Rule("matrices transposed", r"(m8n8\.x\d)(?=\.shared)", r"\1.trans", True),
    _Rule("the other half type", r"f32\.bf16\.bf16", "f32.f16.f16", True),
    _Rule("the other half type", r"f32\.f16\.f16", "f32.bf16.bf16", True),
)
"""Rules for the functions that kernels call."""


def planted_texts(source: str) -> Iterator[Planted]:
    """
    Yield the text with each bug planted in `source`.

    The first `__launch_bounds__` in it marks where the functions end and the kernels begin.
    """
    start = source.index("__launch_bounds__")
    for rules, first, end in ((_RULES, start, len(source)), (_PRELUDE_RULES, 0, start)):
        for rule in rules:
            for match in re.compile(rule.old).finditer(source, first, end):
                yield _planted(rule, match, source)


def _planted(rule: _Rule, match: re.Match[str], source: str) -> Planted:
    first = source.rfind("\n", 0, match.start()) + 1
    line = source[first:].partition("\n")[0].strip()
    text = source[: match.start()] + match.expand(rule.new) + source[match.end() :]
    return Planted(rule.what, line, text, rule.is_of_values)

# SPDX-License-Identifier: Apache-2.0
"""Text of an answer about a rule: the verdict, the counterexample, and the proposed condition."""

from collections.abc import Iterator, Sequence
from textwrap import indent

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms.dead_code_elimination import dce

from tilewright.errors import counted, shortened
from tilewright.interpreters.types import Array
from tilewright.tools.output.minimal_diff import minimal_diff
from tilewright.tools.rules.answer import Match, Proof
from tilewright.tools.rules.applied import applications
from tilewright.tools.rules.judge import Finding, Kind
from tilewright.tools.rules.rule import Rule, reason_not_valid
from tilewright.tools.rules.shrink import can_shrink

_MOST_LINES = 40
_MOST_CHARACTERS = 200


def text_of(proof: Proof) -> str:
    """Return the answer about a rule, in lines; the first begins with its verdict."""
    return "\n".join(_lines(proof))


def _lines(proof: Proof) -> Iterator[str]:
    if not proof.matches:
        yield _never_matched(proof)
        return
    count = len(proof.matches)
    programs = len({id(match.program) for match in proof.matches})
    if not proof.wrong:
        where = f"{_matches(count)} in {counted(programs, 'program')}"
        yield f"{proof.rule.name}: not refuted: {where}, {_kinds(proof)}{_not_run(proof)}"
        return
    yield f"{proof.rule.name}: wrong: {len(proof.wrong)} of {_matches(count)}{_not_run(proof)}"
    if proof.smallest is not None:
        yield from _counterexample(proof.rule, proof.smallest)
    if proof.is_special:
        yield "  It is not refuted as a rule of real numbers: --real compares only those."
    if (found := proof.condition) is not None:
        yield f"  It holds for {_matches(found.kept)}, and no wrong one, with: {found}"


def _matches(count: int) -> str:
    return counted(count, "match")


def _kinds(proof: Proof) -> str:
    return ", ".join(f"{kind} ({proof.kinds[kind]})" for kind in Kind if proof.kinds[kind])


def _not_run(proof: Proof) -> str:
    return f"; {_matches(proof.unknown)} cannot run" if proof.unknown else ""


def _never_matched(proof: Proof) -> str:
    roots = " or ".join(op.name for op in proof.rule.roots) or "any op"
    tried = f"{counted(proof.texts, 'program')} of the tests"
    tried += f" and {counted(proof.programs, 'random program')} with {roots}"
    if proof.unknown:
        reason = f"the interpreters can run none of {_matches(proof.unknown)}"
        return f"{proof.rule.name}: not compared: {reason}, in {tried}"
    return f"{proof.rule.name}: never matched: it fits none of {tried}"


def _counterexample(rule: Rule, match: Match) -> Iterator[str]:
    finding = match.judgement.finding
    assert finding is not None
    yield f"  In {match.origin}, {finding.message}"
    applied = applications(rule, match.program.clone)
    after = next(each.after for each in applied if each.site == match.site)
    is_whole = reason_not_valid(after) is None  # else its text may fail, too
    if is_whole:
        dce(after)
    if can_shrink(match.program):
        yield indent(f"before:\n{_body(match.program)}", "  ")
        if is_whole:
            yield indent(f"after:\n{_body(after)}", "  ")
    elif is_whole:
        lines = minimal_diff(str(match.program), str(after))[:_MOST_LINES]
        yield indent("\n".join(lines), "    ")
    yield from _inputs(finding)


def _body(module: ModuleOp) -> str:
    """Return the text of a module's functions."""
    return indent("\n".join(map(str, module.ops)), "  ")


def _inputs(finding: Finding) -> Iterator[str]:
    for number, array in enumerate(finding.inputs):
        yield f"  %{number} = {_values(array)}"


def _values(array: Array) -> str:
    text = " ".join(np.array2string(array, separator=", ", threshold=20).split())
    return shortened(text, _MOST_CHARACTERS)


def verdicts(proofs: Sequence[Proof]) -> int:
    """Return the exit code: 1 if a rule is wrong, 2 if one was never compared, else 0."""
    if any(proof.wrong for proof in proofs):
        return 1
    return 0 if all(proof.matches for proof in proofs) else 2

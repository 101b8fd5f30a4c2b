# SPDX-License-Identifier: Apache-2.0
"""Command `opt-tool lint-rules [FILE.py ...]`: print findings about rules that apply together."""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from textwrap import indent

from tilewright.errors import counted
from tilewright.tools.options.lint_rules import LIMITS, parser
from tilewright.tools.output.progress import progress
from tilewright.tools.rules.groups import Group, own_groups
from tilewright.tools.rules.lint import Lint, lint_of
from tilewright.tools.rules.named import rules_named
from tilewright.tools.rules.pdl_rules import pdl_rules


def main(argv: Sequence[str]) -> int:
    """Check the rules of the files, or of Tilewright; return 1 if there are findings, else 0."""
    args = parser().parse_args(argv)
    limits = LIMITS._replace(programs=args.programs, texts=args.texts)
    code = 0
    for group in _groups(args):
        with progress() as report_stage:
            lint = lint_of(group, limits, report_stage)
        print("\n".join(_lines(lint)))
        code = 1 if lint.findings else code
    return code


def _groups(args: argparse.Namespace) -> Iterable[Group]:
    named = [Group(text, rules_named(text)) for text in args.files]
    named += [Group(path, pdl_rules(path)) for path in args.pdl]
    return named or own_groups()


def _lines(lint: Lint) -> Iterator[str]:
    rules = counted(len(lint.group.rules), "rule")
    found = counted(len(lint.findings), "finding")
    yield f"{lint.group.name}: {rules} in {counted(lint.programs, 'program')}: {found}"
    for rule in lint.group.rules:
        if count := lint.sites[rule.name]:
            yield f"  {rule.name}: {counted(count, 'site')}"
    for finding in lint.findings:
        yield f"  {finding.message}"
        if finding.program is not None:
            yield indent("\n".join(map(str, finding.program.ops)), "    ")
        if finding.difference:
            yield indent("\n".join(["final programs:", *finding.difference]), "    ")
